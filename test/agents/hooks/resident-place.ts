import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { HERMES } from "../../support/cli.js";
import { until } from "../../support/until.js";
import { Place } from "./place.js";

export interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Call {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly words?: readonly string[];
  readonly hermes?: string;
}

/** Without Node in its PATH a call has an answer only from a resident process. */
export const WARM_ONLY = { PATH: "/nowhere" };

/** A user who may have a resident process. `end` leaves none. */
export class ResidentPlace extends Place {
  constructor() {
    super();
    delete this.env.HERMES_NO_RESIDENT;
  }

  /** `hermes hook claude-code`, as many as wanted at once. */
  call(
    input: string,
    { env = {}, cwd = this.project, words = [], hermes = HERMES }: Call = {},
  ): Promise<Outcome> {
    const child = spawn(hermes, ["hook", "claude-code", ...words], { cwd, env: { ...this.env, ...env } });
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    return outcomeOf(child);
  }

  bash(command: string, call: Call = {}): Promise<Outcome> {
    return this.call(this.input("claude-code", "Bash", { command }), call);
  }

  /** `hermes resident …` */
  resident(words: readonly string[], hermes = HERMES): Outcome {
    return this.run(hermes, ["resident", ...words], { env: { ...this.env } });
  }

  start(): void {
    const { status, stderr } = this.resident(["start"]);
    if (status !== 0) throw new Error(`no resident process: ${stderr}`);
  }

  /** The resident process and its stand-ins; undefined when there is none. */
  processes(): { pid: number; standIns: number[] } | undefined {
    const [pid] = this.#listeners();
    return pid === undefined ? undefined : { pid, standIns: pids().filter((one) => parentOf(one) === pid) };
  }

  async end(): Promise<void> {
    const all = this.#listeners();
    this.remove(); // without its folder it ends by itself; that of another build too
    for (const pid of all) await until(() => !isAlive(pid), `the end of the resident process ${pid}`);
  }

  #listeners(): number[] {
    return pids().filter(
      (pid) =>
        read(`/proc/${pid}/cmdline`).includes("hermes-resident\0serve") &&
        read(`/proc/${pid}/environ`).split("\0").includes(`HERMES_HOME=${this.state}`),
    );
  }

  get socketFolder(): string {
    return join(this.state, "resident");
  }
}

export function decisionOf({ stdout }: Outcome): string {
  return stdout === "" ? "none" : (JSON.parse(stdout).hookSpecificOutput.permissionDecision ?? "allow");
}

export function isAlive(pid: number): boolean {
  const stat = read(`/proc/${pid}/stat`);
  return stat !== "" && !/\) Z /.test(stat);
}

const pids = () =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

function parentOf(pid: number): number {
  return Number(/\) \S (\d+)/.exec(read(`/proc/${pid}/stat`))?.[1] ?? 0);
}

function outcomeOf(child: ChildProcess): Promise<Outcome> {
  let stdout = "";
  let stderr = "";
  child.stdout!.on("data", (part) => {
    stdout += part;
  });
  child.stderr!.on("data", (part) => {
    stderr += part;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (status) => resolve({ status, stdout, stderr }));
  });
}

function read(file: string): string {
  try {
    return existsSync(file) ? readFileSync(file, "latin1") : "";
  } catch {
    return "";
  }
}
