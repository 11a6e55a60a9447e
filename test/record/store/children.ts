import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";
import { root } from "../../support/root.js";

/** child.ts as something that Node runs. */
export async function bundleChild(): Promise<string> {
  const file = join(root, `build/store-child-${process.pid}.mjs`);
  await build({
    entryPoints: [join(root, "test/record/store/child.ts")],
    outfile: file,
    bundle: true,
    platform: "node",
    format: "esm",
    external: ["libsql", "pg", "re2js"],
    logLevel: "error",
  });
  return file;
}

export class Child {
  readonly process: ChildProcess;
  /** Every whole line that it has written. */
  readonly said: unknown[] = [];
  readonly #waiting: ((line: unknown) => void)[] = [];
  readonly ended: Promise<void>;

  constructor(script: string, url: string) {
    this.process = spawn(process.execPath, [script, url], { stdio: ["pipe", "pipe", "inherit"] });
    const lines = createInterface({ input: this.process.stdout! });
    lines.on("line", (line) => {
      const said = JSON.parse(line);
      this.said.push(said);
      this.#waiting.shift()?.(said);
    });
    this.process.stdin!.on("error", () => {});
    this.ended = new Promise((resolve) => lines.on("close", resolve));
  }

  /** The next line that it writes. */
  next(): Promise<unknown> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  order(line: string): void {
    this.process.stdin!.write(`${line}\n`);
  }

  ask(line: string): Promise<unknown> {
    const answer = this.next();
    this.order(line);
    return answer;
  }

  async kill(): Promise<void> {
    this.process.kill("SIGKILL");
    await this.ended;
  }
}
