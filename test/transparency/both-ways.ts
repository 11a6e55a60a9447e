import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
} from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";

/** Runs a program bare and through every door, and compares all that can be seen of it from outside. */

export const HERMES = fileURLToPath(new URL("../../hermes", import.meta.url));
const policy = (name: string, language = "ts") =>
  fileURLToPath(new URL(`./policies/${name}.${language}`, import.meta.url));

const scratch = mkdtempSync(join(tmpdir(), "transparency-"));

/** Every call is subscribed and allowed, whichever way it comes. Policies that are data decide on the main thread. */
export const WAYS = {
  "the notify door": ["-p", policy("every-call", "yaml"), "--door", "notify"],
  "the trace door": ["-p", policy("every-call"), "--door", "trace"],
  "both doors": ["-p", policy("every-call"), "-p", policy("files-by-trace")],
  "the trace door with returns recorded": ["--trace", "/dev/null"],
  "acts at the notify door": ["-p", policy("every-path"), "--door", "notify"],
  "acts at the trace door": ["-p", policy("every-path"), "--door", "trace"],
  "a strict fence": [
    ...["-p", policy("every-call"), "--door", "notify"],
    ...["--fence", "strict", "--keep-env", "*", "--writable", scratch],
  ],
} as const;
export type Way = keyof typeof WAYS;
/** Behind it a program sees other privileges and namespaces, and otherwise the same. */
export const FENCED: Way = "a strict fence";
export const ALL_WAYS = (Object.keys(WAYS) as Way[]).filter((way) => way !== FENCED);
export const TRACE_WAYS = ALL_WAYS.filter((way) => way.startsWith("the trace door"));

export interface Program {
  readonly command: readonly string[];
  readonly input?: Buffer | string;
  /** A command that becomes its arguments in the end: the state that the program, or HERMES, is started in. */
  readonly under?: readonly string[];
  /** A file that the program writes: compared as text, for a readable difference. */
  readonly reads?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Further options of `hermes run`. */
  readonly options?: readonly string[];
  /** Only these ways; all but the fence by default. */
  readonly ways?: readonly Way[];
}

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** What the program left in its working directory: kind, mode and content of each file. */
  readonly files: Readonly<Record<string, string | readonly string[]>>;
}

const PATIENCE_MS = 110_000;
/** The same for each run, so that a path in some output is no difference. */
const workplace = join(scratch, "work");
export const built = join(scratch, "built");
mkdirSync(built);
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** The command that runs `command` under HERMES. */
export function hermes(way: Way, command: readonly string[], options: readonly string[] = []): string[] {
  return [HERMES, "run", "--quiet", ...WAYS[way], ...options, "--", ...command];
}

export function shell(script: string, more: Omit<Program, "command"> = {}): Program {
  return { command: ["/bin/bash", "--norc", "-c", script], ...more };
}

/** One test per way: the program cannot be told from a bare run of it. */
export function same(claim: string, program: Program): void {
  let bare: Promise<Outcome> | undefined;
  test.each(program.ways ?? ALL_WAYS)(`${claim}: %s`, async (way) => {
    const under = program.under ?? [];
    bare ??= outcome([...under, ...program.command], program);
    const expected = await bare;
    const mediated = await outcome([...under, ...hermes(way, program.command, program.options)], program);
    expect(mediated).toEqual(expected);
  });
}

export async function outcome(command: readonly string[], program: Partial<Program> = {}): Promise<Outcome> {
  rmSync(workplace, { recursive: true, force: true });
  mkdirSync(workplace);
  const ended = await finish(command, program);
  const text = program.reads === undefined ? {} : { [program.reads]: lines(join(workplace, program.reads)) };
  return { ...ended, files: { ...listing(workplace), ...text } };
}

function finish(
  [file, ...args]: readonly string[],
  program: Partial<Program>,
): Promise<Omit<Outcome, "files">> {
  // HERMES's own records lie elsewhere: the workplace shows what the program did.
  const HERMES_HOME = join(built, "hermes");
  const env = {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: workplace,
    LC_ALL: "C.UTF-8",
    BUILT: built,
    HERMES_HOME,
  };
  const child = spawn(file!, args, { cwd: workplace, env: { ...env, ...program.env }, detached: true });
  const output = [child.stdout, child.stderr].map((stream) => {
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    return chunks;
  });
  child.stdin.on("error", () => {}); // it may end without having read all
  child.stdin.end(program.input ?? "");
  return new Promise((resolve, reject) => {
    const overdue = setTimeout(() => {
      process.kill(-child.pid!, "SIGKILL");
      reject(new Error(`${args.join(" ")} did not end`));
    }, PATIENCE_MS);
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearTimeout(overdue);
      const [stdout, stderr] = output.map((chunks) => Buffer.concat(chunks).toString("latin1"));
      resolve({ code: code ?? 128 + constants.signals[signal!], stdout: stdout!, stderr: stderr! });
    });
  });
}

function lines(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "latin1").split("\n") : [];
}

function listing(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }).sort()) {
    const file = join(folder, name);
    const info = lstatSync(file);
    const content = info.isSymbolicLink()
      ? readlinkSync(file)
      : info.isFile()
        ? createHash("sha256").update(readFileSync(file)).digest("hex")
        : "";
    found[name] = `${info.mode.toString(8)} ${content}`;
  }
  return found;
}

/** Compiles a C program of test/transparency/programs; returns its path, $BUILT/name for the programs. */
export function compile(name: string, ...flags: string[]): string {
  const source = fileURLToPath(new URL(`./programs/${name}.c`, import.meta.url));
  return build(name, "gcc", ["-O1", "-Wall", "-Wextra", "-pthread", source, ...flags]);
}

export function build(
  name: string,
  compiler: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): string {
  const into = join(built, name);
  const { status, stderr, error } = spawnSync(compiler, [...args, "-o", into], {
    encoding: "utf8",
    env: { ...process.env, ...env },
  });
  if (status !== 0) throw new Error(`${compiler} could not build ${name}: ${error?.message ?? stderr}`);
  return into;
}

/** The programs that a test file runs; scripts/test-packages.txt names the packages that have them. */
export function needs(...programs: string[]): void {
  const missing = programs.filter((program) => !existsSync(`/usr/bin/${program}`));
  if (missing.length > 0)
    throw new Error(
      `not installed in /usr/bin: ${missing.join(", ")}. Install the packages of scripts/test-packages.txt.`,
    );
}
