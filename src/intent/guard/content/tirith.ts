import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  accessSync,
  constants,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { type Finding, findings } from "../finding.js";
import type { Context } from "../layer.js";
import type { Subject } from "../subject.js";
import { type SecuritySection, securitySection } from "./section.js";

const layer = findings("content");

/** How long the guard does not ask a scanner that failed. */
const REMEMBERED = 24 * 60 * 60 * 1000;
const OUTPUT = 1 << 20;

/**
 * Asks an installed `tirith` for a second opinion: `tirith check` for commands, `tirith paste` for other text. The
 * scanner answers by exit status (0 clean, 1 block, 2 warn) and lists its findings as JSON.
 */
export async function consultTirith(subject: Subject, context: Context): Promise<readonly Finding[]> {
  const section = (context.config.security as SecuritySection | undefined) ?? securitySection.parse({});
  if (!section.tirith_enabled) return [];
  const file = binaryFor(context.config, section.tirith_path);
  if (file === undefined) return unavailable(section, `${section.tirith_path} is not installed`);
  const marker = join(context.home, ".local/state/hermes/tirith-failed.json");
  const failure = rememberedFailure(marker, file);
  if (failure !== undefined) return unavailable(section, `it failed less than a day ago: ${failure}`);
  try {
    verifyChecksum(file, section.tirith_sha256);
    return read(await run(file, subject, section.tirith_timeout));
  } catch (error) {
    const reason = (error as Error).message;
    rememberFailure(marker, file, reason);
    return unavailable(section, reason);
  }
}

function unavailable(section: SecuritySection, why: string): Finding[] {
  // Silent when the scanner is neither installed nor required.
  if (section.tirith_fail_open) return [];
  return [
    layer.deny(
      "tirith-unavailable",
      `The scanner tirith gave no result (${why}), and tirith_fail_open is false.`,
    ),
  ];
}

/** Searches PATH once per guard: most hosts have no scanner, and a guard judges thousands of subjects. */
const searched = new WeakMap<object, string | undefined>();

function binaryFor(guard: object, path: string): string | undefined {
  if (!searched.has(guard)) searched.set(guard, findBinary(path));
  return searched.get(guard);
}

function findBinary(path: string): string | undefined {
  const candidates = isAbsolute(path)
    ? [path]
    : (process.env.PATH ?? "")
        .split(delimiter)
        .filter(isAbsolute)
        .map((folder) => join(folder, path));
  return candidates.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return statSync(file).isFile();
    } catch {
      return false;
    }
  });
}

function verifyChecksum(file: string, expected: string | undefined): void {
  if (expected === undefined) return;
  const actual = createHash("sha256").update(readFileSync(file)).digest("hex");
  if (actual !== expected.toLowerCase())
    throw new Error(`${file} has the checksum ${actual}, not the pinned one`);
}

/** A failure is remembered for this very binary: a new binary gets a new chance. */
function identity(file: string): string {
  const { ino, size, mtimeMs } = statSync(file);
  return `${file}:${ino}:${size}:${mtimeMs}`;
}

function rememberedFailure(marker: string, file: string): string | undefined {
  try {
    const { at, binary, reason } = JSON.parse(readFileSync(marker, "utf8")) as Record<string, unknown>;
    const fresh = typeof at === "number" && Date.now() - at < REMEMBERED && Date.now() >= at;
    return fresh && binary === identity(file) ? String(reason) : undefined;
  } catch {
    return undefined;
  }
}

function rememberFailure(marker: string, file: string, reason: string): void {
  try {
    mkdirSync(dirname(marker), { recursive: true, mode: 0o700 });
    const draft = `${marker}.${process.pid}`;
    writeFileSync(draft, JSON.stringify({ at: Date.now(), binary: identity(file), reason }), { mode: 0o600 });
    renameSync(draft, marker);
  } catch {
    // Where the cache cannot be written, the guard asks the scanner again next time.
    rmSync(`${marker}.${process.pid}`, { force: true });
  }
}

interface Answer {
  readonly status: number;
  readonly output: string;
}

function run(file: string, { kind, input }: Subject, timeout: number): Promise<Answer> {
  const isCommand = kind === "command" && input.length < 100_000 && !input.includes("\0");
  const args = isCommand
    ? ["check", "--json", "--non-interactive", "--shell", "posix", "--", input]
    : ["paste", "--json", "--non-interactive"];
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      stdio: ["pipe", "pipe", "ignore"],
      env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "" },
    });
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error(`no answer within ${timeout} s`));
    }, timeout * 1000);
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => {
      if (output.length < OUTPUT) output += chunk.toString();
    });
    // A scanner may answer before it has read all of its input.
    child.stdin.on("error", () => {});
    child.on("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.on("close", (status, signal) => {
      clearTimeout(timer);
      if (status === null) reject(new Error(`it was killed by ${signal}`));
      else resolve({ status, output });
    });
    child.stdin.end(isCommand ? "" : input);
  });
}

function read({ status, output }: Answer): Finding[] {
  if (status === 0) return [];
  if (status !== 1 && status !== 2) throw new Error(`it exited with status ${status}`);
  const action = status === 1 ? layer.deny : layer.ask;
  const named = namedFindings(output);
  return named.length > 0
    ? named.map(({ rule, reason }) => action(rule, reason))
    : [action("tirith", "The scanner tirith objects without a reason.")];
}

function namedFindings(output: string): { rule: string; reason: string }[] {
  try {
    const { findings: all } = JSON.parse(output) as {
      findings?: { rule_id?: string; title?: string; description?: string }[];
    };
    return (all ?? []).slice(0, 50).map(({ rule_id, title, description }) => ({
      rule: `tirith-${String(rule_id ?? "finding").replace(/_/g, "-")}`,
      reason: String(title ?? description ?? rule_id ?? "The scanner gives no reason."),
    }));
  } catch {
    return [];
  }
}
