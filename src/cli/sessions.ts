import { closeSync, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { processes, readStat, readText } from "../process/proc.js";
import { type Answer, LOOK_SIGNAL } from "./look.js";

/** How long a session may take to answer: it may be busy, or the machine may be. */
const PATIENCE_MS = 5000;
const STEP_MS = 10;

/** Asks the sessions that run on this machine how they are doing. */
export class Sessions {
  readonly #fd: number;
  #read = 0;
  #rest = "";

  constructor() {
    const folder = mkdtempSync(join(tmpdir(), "hermes-top-"));
    this.#fd = openSync(join(folder, "answers"), "wx+", 0o600);
    rmSync(folder, { recursive: true });
  }

  /** All of them, or the one whose supervisor or program this is. Those that do not answer in time are left out. */
  async ask(pid?: number): Promise<Answer[]> {
    const asked = new Set(supervisors().filter(signalled));
    const answers = new Map<number, Answer>();
    const missing = () => [...asked].some((one) => !answers.has(one) && isAlive(one));
    for (const end = Date.now() + PATIENCE_MS; missing() && Date.now() < end; await sleep(STEP_MS))
      for (const answer of this.#answers())
        if (asked.has(answer.supervisor)) answers.set(answer.supervisor, answer);
    const all = [...answers.values()].sort((a, b) => a.started - b.started);
    return all.filter((answer) => pid === undefined || [answer.supervisor, answer.pid].includes(pid));
  }

  #answers(): Answer[] {
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

function parse(line: string): Answer[] {
  try {
    const answer = JSON.parse(line) as Answer;
    return answer.hermes === "status" && answer.version === 1 ? [answer] : [];
  } catch {
    return [];
  }
}

function signalled(pid: number): boolean {
  try {
    return process.kill(pid, LOOK_SIGNAL);
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

/** Processes that were started as `hermes run`, `hermes trace` or `hermes attach`. */
function supervisors(): number[] {
  return processes().filter((pid) => {
    const [, file = "", command = ""] = words(pid);
    const isOne = /\/dist\/cli\/main\.cjs$/.test(file) && ["run", "trace", "attach"].includes(command);
    // One that is stopped cannot answer.
    return isOne && pid !== process.pid && readStat(pid)?.state !== "T";
  });
}

export function words(pid: number): string[] {
  return readText(`/proc/${pid}/cmdline`).split("\0").slice(0, -1);
}
