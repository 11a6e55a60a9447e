import { spawn } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HERMES } from "../../support/cli.js";

export const PYTHON = "/usr/bin/python3";

/** A folder with secrets and programs in it, and a server that counts what it is told. */
export class Scene {
  readonly folder = mkdtempSync(join(tmpdir(), "hermes-scene-"));
  readonly trace = join(this.folder, "t.jsonl");
  readonly #server: Server;
  port = 0;

  private constructor() {
    this.#server = createServer((socket) => {
      socket.on("error", () => {});
      socket.on("data", () => socket.end("thanks"));
    });
    mkdirSync(join(this.folder, ".ssh"));
    writeFileSync(join(this.folder, ".ssh/id_rsa"), "PRIVATE KEY\n");
    copyFileSync("/bin/true", join(this.folder, "tool"));
    chmodSync(join(this.folder, "tool"), 0o755);
  }

  static async make(): Promise<Scene> {
    const scene = new Scene();
    await new Promise<void>((resolve) => scene.#server.listen(0, "127.0.0.1", resolve));
    scene.port = (scene.#server.address() as { port: number }).port;
    return scene;
  }

  file(name: string, text: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, text);
    return path;
  }

  /** Runs hermes without blocking this thread, which serves the network. */
  hermes(args: readonly string[]): Promise<{ status: number | null; stdout: string; stderr: string }> {
    return new Promise((resolve, reject) => {
      const child = spawn(HERMES, args, { cwd: this.folder, stdio: ["ignore", "pipe", "pipe"] });
      let stdout = "";
      let stderr = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        stdout += text;
      });
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        stderr += text;
      });
      child.on("error", reject);
      child.on("close", (status) => resolve({ status, stdout, stderr }));
    });
  }

  /** Records a Python script and returns its trace's report. */
  // biome-ignore lint/suspicious/noExplicitAny: the report as its readers see it
  async report(script: string, options: readonly string[] = []): Promise<any> {
    const file = this.file(
      "script.py",
      script.replaceAll("PORT", String(this.port)).replaceAll("FOLDER", this.folder),
    );
    const run = await this.hermes(["run", "--quiet", ...options, "--trace", this.trace, "--", PYTHON, file]);
    const analysis = await this.hermes(["analyze", "--json", this.trace]);
    if (analysis.status !== 0) throw new Error(`${run.stderr}\n${analysis.stderr}`);
    return JSON.parse(analysis.stdout);
  }

  close(): void {
    this.#server.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
