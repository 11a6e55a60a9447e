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
  const left = undo ? restored(after, { file, backup, agent, settings }) : after;
  if (!dryRun) {
    if (!undo && known && !existsSync(backup)) copyFileSync(file, backup);
    if (left === undefined) remove(file);
    else write(file, left);
    if (undo) rmSync(backup, { force: true });
  }
  return { file, changed: true, before, after: left, notes, ...(!undo && known && { backup }) };
}

/** Codex has its switches in another file than its hooks. */
export function switchedOffBeside(file: string, { switches }: AgentSettings): string | undefined {
  const beside = switches && join(dirname(file), switches.file);
  return beside && existsSync(beside) ? switches.off.exec(textOf(beside))?.[0] : undefined;
}

interface Kept {
  readonly file: string;
  readonly backup: string;
  readonly agent: string;
  readonly settings: AgentSettings;
}

/**
 * What there was before us. With a backup: that, letter by letter, unless its owner has changed something since; then what
 * is left without us. Without one there was no file: an empty one is ours, and goes.
 */
function restored(after: string, { file, backup, agent, settings }: Kept): string | undefined {
  if (!existsSync(backup)) return squeezed(after) === "{}" ? undefined : after;
  const original = textOf(backup);
  const again = withoutHooks(withHooks(original, file, agent, settings), file, agent, settings);
  return squeezed(again) === squeezed(after) ? original : after;
}

const squeezed = (text: string) => text.replace(/\s/g, "");

/** Settings are often links to where a person keeps theirs. */
function real(file: string): string {
  try {
    return realpathSync.native(file);
  } catch {
    return file;
  }
}

export function textOf(file: string): string {
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
