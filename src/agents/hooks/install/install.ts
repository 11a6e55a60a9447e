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
import { HermesError } from "../../../nouns/errors.js";
import { switchedOff, withHooks, withoutHooks } from "./edit.js";
import { type AgentSettings, SETTINGS, type SettingsFolders, type SettingsScope } from "./settings.js";

interface InstallOrder {
  readonly agent: string;
  readonly scope: SettingsScope;
  readonly undo: boolean;
  /** Report what would change, and change nothing. */
  readonly dryRun: boolean;
}

interface Installed {
  readonly file: string;
  readonly changed: boolean;
  readonly before: string;
  /** Undefined: the file was removed. */
  readonly after: string | undefined;
  readonly backup?: string;
  readonly notes: readonly string[];
}

/** Adds an agent's hook to its settings, or removes it. The file is written atomically, with a backup beside it. */
export function install({ agent, scope, undo, dryRun }: InstallOrder, places: SettingsFolders): Installed {
  const settings = SETTINGS[agent]!;
  const file = real(settings.file(scope, places));
  const backup = `${file}.before-hermes`;
  const known = existsSync(file);
  const before = known ? readSettings(file) : "";
  const after = undo ? withoutHooks(before, file, agent, settings) : withHooks(before, file, agent, settings);
  const off = undo ? undefined : (switchedOff(after, file, settings) ?? switchedOffBeside(file, settings));
  const notes = [
    ...(off === undefined
      ? []
      : [`${off} turns hooks off there: HERMES judges nothing until you change that setting`]),
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

/** Codex has this setting in another file than its hooks. */
export function switchedOffBeside(file: string, { switches }: AgentSettings): string | undefined {
  const beside = switches && join(dirname(file), switches.file);
  return beside && existsSync(beside) ? switches.off.exec(readSettings(beside))?.[0] : undefined;
}

interface Kept {
  readonly file: string;
  readonly backup: string;
  readonly agent: string;
  readonly settings: AgentSettings;
}

/**
 * The settings before installation. With a backup: the backup, byte for byte, unless the owner has edited the file since;
 * then the file without our hooks. Without a backup there was no file: an empty one is ours and is removed.
 */
function restored(after: string, { file, backup, agent, settings }: Kept): string | undefined {
  if (!existsSync(backup)) return squeezed(after) === "{}" ? undefined : after;
  const original = readSettings(backup);
  const again = withoutHooks(withHooks(original, file, agent, settings), file, agent, settings);
  return squeezed(again) === squeezed(after) ? original : after;
}

const squeezed = (text: string) => text.replace(/\s/g, "");

/** Settings files are often links to a dotfiles folder. */
function real(file: string): string {
  try {
    return realpathSync.native(file);
  } catch {
    return file;
  }
}

export function readSettings(file: string): string {
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

/** Removes the file, and its folder if that is empty then. */
function remove(file: string): void {
  rmSync(file);
  try {
    rmdirSync(dirname(file));
  } catch {
    // The folder is not empty.
  }
}
