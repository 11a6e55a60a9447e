import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Policy, type RunOptions, run, type SessionResult } from "hermes-runtime";
import { errnoName, syscallByName } from "../../src/abi/index.js";
import { program } from "./programs.js";

/** One raw system call, arguments as test/programs/call.c reads them. */
export type Call = readonly [name: string, ...args: (string | number)[]];

export interface Outcome {
  readonly result: number;
  /** Name of the error, or undefined. */
  readonly errno: string | undefined;
  /** Bytes of the out buffers, in order. */
  readonly outs: readonly Buffer[];
}

export function commandOf(calls: readonly Call[]): string[] {
  const words = calls.flatMap(([name, ...args], i) => [
    ...(i > 0 ? ["--"] : []),
    String(syscallByName(name)!.nr),
    ...args.map(String),
  ]);
  return [program("call"), ...words];
}

function parse(output: string): Outcome[] {
  return output
    .split("\n")
    .filter(Boolean)
    .map((line) => {
      const [result, errno, ...outs] = line.split(" ");
      return {
        result: Number(result),
        errno: Number(errno) === 0 ? undefined : errnoName(Number(errno)),
        outs: outs.map((hex) => Buffer.from(hex === "-" ? "" : hex, "hex")),
      };
    });
}

/** The calls without HERMES. */
export function makeBare(calls: readonly Call[], cwd?: string): Outcome[] {
  const [file, ...args] = commandOf(calls);
  return parse(spawnSync(file!, args, { encoding: "latin1", ...(cwd !== undefined && { cwd }) }).stdout);
}

/** The calls under policies that live in this thread, so that a test sees every event. */
export async function makeCalls(
  calls: readonly Call[],
  policy: Policy | Policy[],
  options: Partial<RunOptions> = {},
): Promise<{ outcomes: Outcome[]; session: SessionResult }> {
  const { output, session } = await capture(commandOf(calls), { policy, ...options });
  return { outcomes: parse(output), session };
}

/** Runs a command in a session and gives back what it wrote to stdout. */
export async function capture(
  command: readonly string[],
  options: Partial<RunOptions> = {},
): Promise<{ output: string; session: SessionResult }> {
  const folder = mkdtempSync(join(tmpdir(), "hermes-test-"));
  const file = join(folder, "out");
  const out = openSync(file, "w");
  const nothing = openSync("/dev/null", "r");
  try {
    const session = await run({ command, stdio: [nothing, out, 2], ...options });
    return { output: readFileSync(file, "latin1"), session };
  } finally {
    closeSync(out);
    closeSync(nothing);
    rmSync(folder, { recursive: true, force: true });
  }
}

export const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
