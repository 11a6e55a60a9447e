import { closeSync, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { processes, readStat, readText } from "../../kernel/process/proc.js";
import { STATUS_SIGNAL, type StatusReply } from "./status-signal.js";

/** How long a session may take to answer: it or the machine may be busy. */
const PATIENCE_MS = 5000;
const STEP_MS = 10;

/** Asks the running sessions of this machine for their status. */
export class SessionStatusReader {
  readonly #fd: number;
  #read = 0;
  #rest = "";

  constructor() {
    const folder = mkdtempSync(join(tmpdir(), "hermes-top-"));
    this.#fd = openSync(join(folder, "answers"), "wx+", 0o600);
    rmSync(folder, { recursive: true });
  }

  /**
   * All of them, or the one with this supervisor or program. Sessions that do not answer in time are left out and become
   * `silent`: the next time they are asked as well, but not waited for.
   */
  async ask(pid?: number, silent = new Set<number>()): Promise<StatusReply[]> {
    const asked = new Set(supervisors().filter(signalled));
    const answers = new Map<number, StatusReply>();
    const missing = () => [...asked].some((one) => !answers.has(one) && !silent.has(one) && isAlive(one));
    for (const end = Date.now() + PATIENCE_MS; missing() && Date.now() < end; await sleep(STEP_MS))
      for (const answer of this.#answers())
        if (asked.has(answer.supervisor)) answers.set(answer.supervisor, answer);
    for (const one of asked)
      if (answers.has(one)) silent.delete(one);
      else silent.add(one);
    const all = [...answers.values()].sort((a, b) => a.started - b.started);
    return all.filter((answer) => pid === undefined || [answer.supervisor, answer.pid].includes(pid));
  }

  #answers(): StatusReply[] {
    const bytes = Buffer.alloc(1 << 20);
    const pieces = [this.#rest];
    for (let got = readSync(this.#fd, bytes, 0, bytes.length, this.#read); got > 0; ) {
      pieces.push(bytes.toString("utf8", 0, got));
      this.#read += got;
      got = readSync(this.#fd, bytes, 0, bytes.length, this.#read);
    }
    const lines = pieces.join("").split("\n");
    this.#rest = lines.pop()!;
    return lines.flatMap(parse);
  }

  close(): void {
    closeSync(this.#fd);
  }
}

function parse(line: string): StatusReply[] {
  try {
    const answer = JSON.parse(line) as StatusReply;
    return answer.hermes === "status" && answer.version === 1 ? [answer] : [];
  } catch {
    return [];
  }
}

function signalled(pid: number): boolean {
  try {
    return process.kill(pid, STATUS_SIGNAL);
  } catch {
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Processes started as `hermes run`, `hermes trace` or `hermes attach`. */
function supervisors(): number[] {
  return processes().filter((pid) => {
    const [, file = "", command = ""] = commandLineOf(pid);
    const isOne = /\/dist\/cli\/main\.cjs$/.test(file) && ["run", "trace", "attach"].includes(command);
    // A stopped process cannot answer.
    return isOne && pid !== process.pid && readStat(pid)?.state !== "T";
  });
}

export function commandLineOf(pid: number): string[] {
  return readText(`/proc/${pid}/cmdline`).split("\0").slice(0, -1);
}
