import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Fighter } from "./arena.js";
import { type Need, ofArena } from "./attacks.js";

const isRoot = process.getuid?.() === 0;

/** A process outside of the session that runs as the same user (outsider.c), and its tmux. */
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
    const first = await firstLine(child, "the outsider", (line) => outsider.#lines.push(line));
    for (const word of first.split(" "))
      env[word.slice(0, word.indexOf("="))] = word.slice(word.indexOf("=") + 1);
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

/** What a process says when it is ready; `more` gets its later lines. Rejects when it ends before. */
export function firstLine(
  child: ChildProcess,
  name: string,
  more: (line: string) => void = () => {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    let take = (line: string) => {
      take = more;
      resolve(line);
    };
    createInterface({ input: child.stdout! }).on("line", (line) => take(line));
    child.once("error", reject);
    child.once("exit", (status, signal) => reject(new Error(`${name} ended with ${signal ?? status}`)));
  });
}

function stateOf(pid: number): "running" | "stopped" {
  return /\) [Tt] /.test(readFileSync(`/proc/${pid}/stat`, "latin1")) ? "stopped" : "running";
}
