import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { BPF_OP, encodeFilter, type Instruction, RET } from "../../../src/kernel/filter/index.js";

export const hasThisKernel = process.platform === "linux" && process.arch === "x64";

export interface IssuedCall {
  abi: "native" | "int80";
  nr: number;
  args: readonly bigint[];
}

/** A filter and the calls to issue under it. */
export interface Case {
  program: readonly Instruction[];
  calls: readonly IssuedCall[];
}

export interface Report {
  end: "finished" | "killed" | "refused" | `status ${number}`;
  /** What each call returned; undefined from the one on that the process did not survive. */
  results: (number | undefined)[];
}

const ENDS = new Map<number, Report["end"]>([
  [4, "finished"], // SIGILL
  [31, "killed"], // SIGSYS
  [1 << 8, "refused"], // exit status 1
]);
const NOT_ISSUED = -(1n << 63n);
const CALL_SIZE = 56;

/** The real kernel, by way of the C programs in this folder. */
export class Kernel {
  readonly #folder = mkdtempSync(join(tmpdir(), "filter-"));
  readonly #issue = this.#build("issue.c");
  readonly #skip = this.#build("skip.c");

  run(cases: readonly Case[]): Report[] {
    const input = Buffer.concat(cases.flatMap(({ program, calls }) => encodeCase(program, calls)));
    const output = execFileSync(this.#issue, { input, maxBuffer: 1 << 30 });
    let at = 0;
    const next = (): bigint => output.readBigInt64LE(8 * at++);
    return cases.map(({ calls }) => {
      const status = Number(next());
      const results = calls.map(() => next()).map((it) => (it === NOT_ISSUED ? undefined : Number(it)));
      return { end: ENDS.get(status) ?? `status ${status}`, results };
    });
  }

  /** Kernels without ia32 emulation answer int 0x80 with SIGSEGV, before any filter. */
  takesInt80(): boolean {
    const refuse: Instruction = { code: BPF_OP.RETURN, jt: 0, jf: 0, k: RET.ERRNO + 1 };
    const int80: IssuedCall = { abi: "int80", nr: 20, args: [0n, 0n, 0n, 0n, 0n, 0n] };
    return this.run([{ program: [refuse], calls: [int80] }])[0]!.end === "finished";
  }

  /** What becomes of a getppid() that a tracer skips with the result 77. */
  skipGetppid(program: readonly Instruction[]): string {
    const file = join(this.#folder, "filter.bin");
    writeFileSync(file, encodeFilter(program));
    return execFileSync(this.#skip, [file], { encoding: "utf8" }).trim();
  }

  close(): void {
    rmSync(this.#folder, { recursive: true });
  }

  #build(source: string): string {
    const binary = join(this.#folder, source.replace(/\.c$/, ""));
    const flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-o", binary];
    execFileSync("gcc", [...flags, fileURLToPath(new URL(source, import.meta.url))], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    return binary;
  }
}

function encodeCase(program: readonly Instruction[], calls: readonly IssuedCall[]): Uint8Array[] {
  const counts = Buffer.alloc(8);
  counts.writeUInt32LE(program.length, 0);
  counts.writeUInt32LE(calls.length, 4);
  const body = Buffer.alloc(calls.length * CALL_SIZE);
  calls.forEach(({ abi, nr, args }, index) => {
    const at = index * CALL_SIZE;
    body.writeUInt32LE(abi === "int80" ? 1 : 0, at);
    body.writeUInt32LE(nr >>> 0, at + 4);
    args.forEach((arg, i) => {
      body.writeBigUInt64LE(arg, at + 8 + 8 * i);
    });
  });
  return [counts, encodeFilter(program), body];
}
