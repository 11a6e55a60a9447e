import { createHash, type Hash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { resolvePath } from "../../intent/guard/command/path-places.js";
import { Reader } from "../../intent/guard/command/reader.js";
import { type CommandReading, TooComplex } from "../../intent/guard/command/reading.js";
import { ShellScope } from "../../intent/guard/command/scope.js";
import { HOLE } from "../../intent/guard/command/script.js";
import { decodeText, encodeText } from "../../nouns/text.js";
import { scriptFiles } from "./scripts.js";

/** What a command is made of: a text for a shell, or words. */
type CommandToRun = (
  | { readonly command: string; readonly argv?: undefined }
  | { readonly argv: readonly string[]; readonly command?: undefined }
) & {
  readonly cwd: string;
  /** Names of the environment's variables, or the environment; its values do not count. */
  readonly env: readonly string[] | Readonly<Record<string, string | undefined>>;
  readonly home?: string;
  /** What it reads on stdin, when that is given: to a shell it is a script. */
  readonly stdin?: string;
  /** Further files whose contents count. */
  readonly files?: readonly string[];
};

export interface CommandDigest {
  /** Equal digests: the same words, in the same folder, with the same variables, running the same scripts. */
  readonly digest: string;
  /** Scripts that it names, and what these name in turn, in the order in which they were met. */
  readonly files: readonly NamedFile[];
  /** Every program that it would run, with its words. */
  readonly programs: readonly (readonly string[])[];
}

interface NamedFile {
  /** Absolute, as it was named: a link counts with what it leads to. */
  readonly path: string;
  /** SHA-256 of its contents; null when there is no such file. */
  readonly hash: string | null;
}

/** Larger files are programs: they count by size, time of change and place instead. */
const HASHED_AT_MOST = 16 << 20;
/** Larger files are not read as scripts. */
const READ_AT_MOST = 1 << 20;

/** What exactly an answer holds for. */
export function commandDigest(command: CommandToRun): CommandDigest {
  const cwd = real(command.cwd);
  const seen = new SeenFiles();
  const reading = read(command.command ?? command.argv.map(quoted).join(" "), cwd, command.home, seen);
  for (const invocation of reading?.invocations ?? [])
    for (const path of scriptFiles(invocation)) seen.look(resolvePath(path, invocation.cwd));
  for (const path of command.files ?? []) seen.look(resolvePath(path, cwd));
  const files = seen.all();
  const hash = createHash("sha256");
  const add = (value: unknown) => update(hash, value);
  add(["hermes command", 1]);
  add(command.argv ?? command.command);
  add([cwd, names(command.env), command.stdin ?? null]);
  add(files.map(({ path, hash: content }) => [path, content]));
  return { digest: hash.digest("hex"), files, programs: programsOf(reading) };
}

/** What a file holds now; null when it is not there. */
export function hashFile(path: string): string | null {
  return new SeenFiles().look(path).hash;
}

/** Files, each looked at once, so that all see the same contents. */
class SeenFiles {
  readonly #files = new Map<string, { readonly hash: string | null; readonly text?: string }>();

  look(path: string): { readonly hash: string | null; readonly text?: string } {
    if (path.includes(HOLE)) return { hash: null };
    const known = this.#files.get(path) ?? contents(path);
    this.#files.set(path, known);
    return known;
  }

  all(): NamedFile[] {
    return [...this.#files].map(([path, { hash }]) => ({ path, hash }));
  }
}

function contents(path: string): { hash: string | null; text?: string } {
  let fd: number;
  try {
    fd = openSync(encodeText(path) as Buffer, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { hash: code === "ENOENT" || code === "ENOTDIR" ? null : `unreadable:${code}` };
  }
  try {
    const info = fstatSync(fd, { bigint: true });
    if (!info.isFile()) return { hash: "not-a-file" };
    if (info.size > HASHED_AT_MOST)
      return { hash: `large:${info.dev}:${info.ino}:${info.size}:${info.mtimeNs}:${info.ctimeNs}` };
    const bytes = readFileSync(fd);
    const hash = createHash("sha256").update(bytes).digest("hex");
    return bytes.length > READ_AT_MOST ? { hash } : { hash, text: bytes.toString("utf8") };
  } finally {
    closeSync(fd);
  }
}

/** As the guard reads it. What is too much to be read is denied there; here it names no files. */
function read(text: string, cwd: string, home = homedir(), seen: SeenFiles): CommandReading | undefined {
  try {
    return new Reader(text, new ShellScope(cwd, home), (path) => seen.look(path).text).readAll();
  } catch (error) {
    if (error instanceof TooComplex || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** As they are typed, not those inside scripts: what is in these counts by itself. Unread, it may run anything. */
function programsOf(reading: CommandReading | undefined): readonly (readonly string[])[] {
  if (!reading) return [["eval"]];
  return reading.invocations
    .filter(({ argv, filed }) => argv.length > 0 && !filed)
    .map(({ argv }) =>
      argv[0]!.text.includes(HOLE) ? ["eval"] : argv.map(({ text }) => text.replaceAll(HOLE, "…")),
    );
}

function names(env: CommandToRun["env"]): readonly string[] {
  const all = Array.isArray(env)
    ? env
    : Object.entries(env)
        .filter(([, value]) => value !== undefined)
        .map(([name]) => name);
  return [...new Set(all)].sort();
}

function real(path: string): string {
  try {
    return decodeText(realpathSync.native(path, { encoding: "buffer" }));
  } catch {
    return path;
  }
}

/** Every part with its length, so that no two different commands are one text. */
function update(hash: Hash, value: unknown): void {
  const text = Buffer.from(JSON.stringify(value));
  hash.update(`${text.length}:`).update(text);
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
