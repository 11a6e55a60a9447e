import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { HermesError } from "../../errors.js";
import { switchedOff, withHooks, withoutHooks } from "./edit.js";
import { type AgentSettings, type Places, type Scope, SETTINGS } from "./settings.js";

export interface InstallOrder {
  readonly agent: string;
  readonly scope: Scope;
  readonly undo: boolean;
  /** Say what would be done, and do nothing. */
  readonly dryRun: boolean;
}

export interface Installed {
  readonly file: string;
  readonly changed: boolean;
  readonly before: string;
  /** Undefined: there is no such file any more. */
  readonly after: string | undefined;
  readonly backup?: string;
  readonly notes: readonly string[];
}

/** Tells an agent of its hook, or takes that back. The file is written as a whole or not at all, and kept beside. */
export function install({ agent, scope, undo, dryRun }: InstallOrder, places: Places): Installed {
  const settings = SETTINGS[agent]!;
  const file = real(settings.file(scope, places));
  const backup = `${file}.before-hermes`;
  const known = existsSync(file);
  const before = known ? textOf(file) : "";
  const after = undo ? withoutHooks(before, file, agent, settings) : withHooks(before, file, agent, settings);
  const off = undo ? undefined : (switchedOff(after, file, settings) ?? switchedOffBeside(file, settings));
  const notes = [
    ...(off === undefined
      ? []
      : [`${off} switches hooks off there: nothing is judged until you change that`]),
    ...(undo || settings.next === undefined ? [] : [settings.next]),
  ];
  if (after === before) return { file, changed: false, before, after: known ? before : undefined, notes };
  // Nothing was there before us, or somebody else's words only: those come back letter by letter.
  const left = !undo
    ? after
    : (kept(backup, after) ?? (after.replace(/\s/g, "") === "{}" ? undefined : after));
  if (!dryRun) {
    if (!undo && known && !existsSync(backup)) copyFileSync(file, backup);
    if (left === undefined) remove(file);
    else write(file, left);
    if (undo) rmSync(backup, { force: true });
  }
  return { file, changed: true, before, after: left, notes, ...(!undo && known && { backup }) };
}

/** Codex has its switches in another file than its hooks. */
function switchedOffBeside(file: string, { switches }: AgentSettings): string | undefined {
  const beside = switches && join(dirname(file), switches.file);
  return beside && existsSync(beside) ? switches.off.exec(textOf(beside))?.[0] : undefined;
}

/** The backup, when it says the same as what is left. */
function kept(backup: string, after: string): string | undefined {
  if (!existsSync(backup)) return undefined;
  const text = textOf(backup);
  return text.replace(/\s/g, "") === after.replace(/\s/g, "") ? text : undefined;
}

/** Settings are often links to where a person keeps theirs. */
function real(file: string): string {
  try {
    return realpathSync.native(file);
  } catch {
    return file;
  }
}

function textOf(file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(file));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const message = cause instanceof TypeError ? "it is not UTF-8" : `cannot read it: ${code}`;
    throw new HermesError("SETTINGS", { file, message }, { cause });
  }
}

function write(file: string, text: string): void {
  const draft = `${file}.${process.pid}.tmp`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(draft, text, { mode: 0o600, flag: "wx" });
    if (existsSync(file)) chmodSync(draft, statSync(file).mode & 0o777);
    renameSync(draft, file);
  } catch (cause) {
    rmSync(draft, { force: true });
    throw new HermesError(
      "SETTINGS",
      { file, message: `cannot write it: ${(cause as Error).message}` },
      { cause },
    );
  }
}

/** With the folder, when it was alone in there. */
function remove(file: string): void {
  rmSync(file);
  try {
    rmdirSync(dirname(file));
  } catch {
    // Something else lies there.
  }
}
