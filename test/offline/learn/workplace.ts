import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { HERMES } from "../../support/cli.js";

export interface Outcome {
  readonly status: number | null;
  readonly output: string;
  /** The run's summary, when there is one. */
  readonly denied: number;
  readonly decisions: readonly { readonly call: string; readonly rule?: string; readonly action: string }[];
}

/** A home with secrets, two folders to work in, and two servers: one that programs may reach, and one that they may not. */
export class Workplace {
  readonly folder = mkdtempSync(join(tmpdir(), "hermes-learn-test-"));
  readonly first = join(this.folder, "first");
  readonly second = join(this.folder, "second");
  readonly secret = join(this.folder, "home/.ssh/id_ed25519");
  /** A secret that nothing but its place gives away. */
  readonly plain = join(this.folder, "private/notes.txt");
  readonly #servers: Server[] = [];
  readonly visits = { known: 0, elsewhere: 0 };
  known = 0;
  elsewhere = 0;
  /** A port that no socket is bound to. */
  free = 0;

  constructor() {
    for (const name of ["first", "second", "home/.ssh", "private"])
      mkdirSync(join(this.folder, name), { recursive: true });
    writeFileSync(this.secret, "TOP-SECRET\n");
    writeFileSync(this.plain, "TOP-SECRET\n");
  }

  async open(): Promise<void> {
    this.known = await this.#serve(() => this.visits.known++);
    this.elsewhere = await this.#serve(() => this.visits.elsewhere++);
    const last = createServer();
    this.free = await listen(last);
    await new Promise((resolve) => last.close(resolve));
  }

  async #serve(visited: () => void): Promise<number> {
    const server = createServer((_, response) => response.end("hello\n")).on("connection", visited);
    this.#servers.push(server);
    return listen(server);
  }

  close(): void {
    for (const server of this.#servers) server.close().closeAllConnections();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** The same file in both folders to work in, filled. */
  file(name: string, text: string, mode = 0o644): void {
    for (const folder of [this.first, this.second]) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), this.fill(text));
      chmodSync(join(folder, name), mode);
    }
  }

  /** Text with the places and ports of this workplace. */
  fill(text: string): string {
    return text
      .replaceAll("KNOWN", `127.0.0.1:${this.known}`)
      .replaceAll("OTHER_PORT", String(this.elsewhere))
      .replaceAll("ELSEWHERE", `127.0.0.1:${this.elsewhere}`)
      .replaceAll("PORT", String(this.free))
      .replaceAll("SECRET", this.secret)
      .replaceAll("PLAIN", this.plain)
      .replaceAll("NODE", process.execPath);
  }

  hermes(args: readonly string[], cwd: string): Promise<Outcome> {
    const path = [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(":");
    const env = {
      PATH: path,
      HOME: join(this.folder, "home"),
      LANG: "C.UTF-8",
      npm_config_update_notifier: "false",
      npm_config_dangerously_allow_all_scripts: "true", // newer ones run no install scripts else
    };
    return new Promise((resolve, reject) => {
      const child = spawn(HERMES, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
      let output = "";
      let errors = "";
      child.stdout.on("data", (data) => {
        output += data;
      });
      child.stderr.on("data", (data) => {
        errors += data;
      });
      child.on("error", reject);
      child.on("close", (status) => {
        const line = errors.split("\n").findLast((text) => text.startsWith('{"exitCode"'));
        const { summary } = line === undefined ? { summary: undefined } : JSON.parse(line);
        resolve({
          status,
          output: output + errors.replace(line ?? "", ""),
          denied: summary === undefined ? -1 : (summary.byAction.deny ?? 0) + (summary.byAction.kill ?? 0),
          decisions: summary?.decisions ?? [],
        });
      });
    });
  }

  learn(policy: string, command: string, cwd = this.first): Promise<Outcome> {
    return this.hermes(["learn", "-q", "-o", policy, "--", "bash", "-c", this.fill(command)], cwd);
  }
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port));
  });
}
