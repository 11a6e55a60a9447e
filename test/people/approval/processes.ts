import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";
import { root } from "../../support/root.js";

/** Compiles a program beside the tests, so that it can run as a process of its own. */
export async function compiled(source: string): Promise<{ file: string; remove(): void }> {
  mkdirSync(join(root, "build"), { recursive: true });
  const file = join(root, "build", `test-${process.pid}-${source.replace(/\W/g, "-")}.mjs`);
  await build({
    entryPoints: [join(root, source)],
    outfile: file,
    bundle: true,
    format: "esm",
    platform: "node",
    packages: "external",
    logLevel: "warning",
  });
  return { file, remove: () => rmSync(file, { force: true }) };
}

/** A process that speaks in lines of JSON. */
export class Talker {
  readonly process: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(file: string, ...words: string[]) {
    this.process = spawn(process.execPath, [file, ...words], { stdio: ["pipe", "pipe", "inherit"] });
    this.#lines = createInterface({ input: this.process.stdout! })[Symbol.asyncIterator]();
  }

  async hear<T>(): Promise<T> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error("it has ended without a word");
    return JSON.parse(value) as T;
  }

  say(): void {
    this.process.stdin!.write("\n");
  }

  async kill(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    this.process.kill("SIGKILL");
    await once(this.process, "exit");
  }

  async end(): Promise<number | null> {
    if (this.process.exitCode === null && this.process.signalCode === null) await once(this.process, "exit");
    return this.process.exitCode;
  }
}
