import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import type { Descriptor, MemoryMap, ProcessInfo } from "../../nouns/event.js";
import { decodeText } from "../../nouns/text.js";
import { describeDescriptor } from "./descriptor.js";
import { memoryMaps } from "./maps.js";
import { childrenOf, readBytes, readLink, readStat, readText, type Stat } from "./proc.js";
import type { RunProgram } from "./run-program.js";

/**
 * A process as the kernel describes it. Constant facts are read once, others on each use. An open file in
 * /proc identifies the process: it stays invalid when the pid is reused.
 */
export class Process implements ProcessInfo {
  readonly tid: number;
  readonly #lookUp: (pid: number) => ProcessInfo | undefined;
  readonly #root: () => RunProgram | undefined;
  readonly #pin: number | undefined;
  #pid: number | undefined;
  #stat: Stat | undefined;
  #exe: string | undefined;
  #argv: readonly string[] | undefined;

  constructor(
    tid: number,
    pinned: boolean,
    lookUp: (pid: number) => ProcessInfo | undefined,
    root: () => RunProgram | undefined,
  ) {
    this.tid = tid;
    this.#lookUp = lookUp;
    this.#root = root;
    this.#pin = pinned ? pin(tid) : undefined;
  }

  get pid(): number {
    this.#pid ??= readTgid(this.tid);
    return this.#pid;
  }

  get parentPid(): number {
    this.#stat ??= readStat(this.tid);
    return this.#stat?.parent ?? 0;
  }

  get startTime(): number {
    this.#stat ??= readStat(this.tid);
    return this.#stat?.start ?? 0;
  }

  get parent(): ProcessInfo | undefined {
    return this.#lookUp(this.parentPid);
  }

  /** Not pinned: they are valid while the event is decided. */
  get children(): readonly ProcessInfo[] {
    return this.threads
      .flatMap((tid) => childrenOf(this.pid, tid))
      .map((pid) => new Process(pid, false, this.#lookUp, this.#root));
  }

  get depth(): number | undefined {
    return this.#root()?.depthOf(this.pid);
  }

  get program(): string {
    return this.#root()?.exe ?? "";
  }

  /** Without exec events (pinned), the process may run another program at any time. */
  get exe(): string {
    if (this.#pin !== undefined || this.#exe === undefined) this.#exe = readLink(`/proc/${this.tid}/exe`);
    return this.#exe;
  }

  get argv(): readonly string[] {
    if (this.#pin !== undefined || this.#argv === undefined)
      this.#argv = readNulSeparated(`/proc/${this.tid}/cmdline`);
    return this.#argv;
  }

  get cwd(): string {
    return readLink(`/proc/${this.tid}/cwd`);
  }

  get uid(): number {
    return Number(this.#statusLine("Uid")?.split("\t")[2]);
  }

  get gid(): number {
    return Number(this.#statusLine("Gid")?.split("\t")[2]);
  }

  get threads(): readonly number[] {
    return listNumbers(`/proc/${this.pid}/task`);
  }

  get innerPid(): number {
    return innerNumber(this.pid);
  }

  get innerThreads(): readonly number[] {
    return this.threads.map(innerNumber);
  }

  get fds(): readonly Descriptor[] {
    return listNumbers(`/proc/${this.tid}/fd`).map((fd) => describeDescriptor(this.tid, fd));
  }

  get maps(): readonly MemoryMap[] {
    return memoryMaps(this.tid);
  }

  #statusLine(name: string): string | undefined {
    return new RegExp(`^${name}:.*$`, "m").exec(readText(`/proc/${this.tid}/status`))?.[0];
  }

  /** The process now runs another program. */
  execed(): void {
    this.#exe = undefined;
    this.#argv = undefined;
  }

  /** False once the pid is unused or belongs to another process. */
  get alive(): boolean {
    if (this.#pin === undefined) return true;
    try {
      return readSync(this.#pin, scratch, 0, 1, 0) > 0;
    } catch {
      return false;
    }
  }

  close(): void {
    if (this.#pin !== undefined) closeSync(this.#pin);
  }
}

const scratch = Buffer.alloc(1);

function pin(tid: number): number | undefined {
  try {
    return openSync(`/proc/${tid}/comm`, "r");
  } catch {
    return undefined;
  }
}

/** The environment at the program's start. */
export function readEnv(tid: number): string[] {
  return readNulSeparated(`/proc/${tid}/environ`);
}

function readNulSeparated(file: string): string[] {
  const bytes = readBytes(file);
  if (!bytes || bytes.length === 0) return [];
  return decodeText(bytes.at(-1) === 0 ? bytes.subarray(0, -1) : bytes).split("\0");
}

function listNumbers(folder: string): number[] {
  try {
    return readdirSync(folder).map(Number);
  } catch {
    return [];
  }
}

function readTgid(tid: number): number {
  const tgid = /^Tgid:\t(\d+)$/m.exec(readText(`/proc/${tid}/status`))?.[1];
  return tgid === undefined ? tid : Number(tgid);
}

/** proc(5): the pid in each pid namespace, the innermost last. */
function innerNumber(tid: number): number {
  const numbers = /^NSpid:\t(.*)$/m.exec(readText(`/proc/${tid}/status`))?.[1]?.split("\t");
  return Number(numbers?.at(-1) ?? tid);
}
