import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import type { Fighter } from "./arena.js";
import { type Need, ofArena } from "./attacks.js";

const isRoot = process.getuid?.() === 0;

/** Somebody outside of the session who runs as the same user (outsider.c), and a tmux of theirs. */
export class Outsider {
  readonly #process: ChildProcess;
  readonly #lines: string[] = [];
  #tmux: string | undefined;

  private constructor(process: ChildProcess) {
    this.#process = process;
  }

  /** Tells where everything is by adding to `env`. */
  static async start(
    folder: string,
    env: Record<string, string>,
    { uid, gid }: Fighter,
    token: string,
    needs: readonly Need[],
  ): Promise<Outsider> {
    const who = isRoot ? { uid, gid } : {};
    Object.assign(env, { A_DAEMON: join(folder, "server/daemon"), A_HERMITAGE: join(folder, "hermitage") });
    const child = spawn(ofArena("outsider"), [], {
      env: { ...env, PATH: process.env.PATH, HIDDEN: token },
      stdio: ["pipe", "pipe", "inherit"],
      ...who,
    });
    const outsider = new Outsider(child);
    const lines: Interface = createInterface({ input: child.stdout! });
    const [first] = (await Promise.race([
      once(lines, "line"),
      once(child, "exit").then(([status]) => {
        throw new Error(`the outsider ended with ${status}`);
      }),
    ])) as [string];
    for (const word of first.split(" "))
      env[word.slice(0, word.indexOf("="))] = word.slice(word.indexOf("=") + 1);
    lines.on("line", (line) => outsider.#lines.push(line));
    if (needs.includes("tmux")) {
      outsider.#tmux = env.A_TMUX = join(folder, "server/tmux");
      const started = ["-S", outsider.#tmux, "-f", "/dev/null", "new-session", "-d", "sleep 600"];
      spawnSync("tmux", started, {
        env: { PATH: process.env.PATH, HOME: folder, LANG: "C.UTF-8", SHELL: "/bin/sh" },
        ...who,
      });
      chownSync(folder, uid, gid);
    }
    return outsider;
  }

  /** What they noticed, or undefined. They have ended then. */
  async happened(): Promise<string | undefined> {
    const { exitCode, signalCode, pid } = this.#process;
    if (exitCode !== null || signalCode !== null)
      return `the outsider was ended by ${signalCode ?? exitCode}`;
    const isStopped = stateOf(pid!) !== "running";
    await this.end();
    return isStopped ? "the outsider was stopped" : this.#lines[0];
  }

  async end(): Promise<void> {
    if (this.#tmux) spawnSync("tmux", ["-S", this.#tmux, "kill-server"]);
    this.#tmux = undefined;
    const child = this.#process;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, "close");
    if (stateOf(child.pid!) === "stopped") child.kill("SIGKILL");
    child.stdin!.end();
    await closed;
  }
}

function stateOf(pid: number): "running" | "stopped" {
  return /\) [Tt] /.test(readFileSync(`/proc/${pid}/stat`, "latin1")) ? "stopped" : "running";
}
