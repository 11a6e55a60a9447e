import { type CallStack, callStack, type Frame } from "../inside.js";
import { Code } from "./code.js";
import { parseMaps } from "./maps.js";
import { ModuleFiles } from "./module-files.js";
import { modulesOf } from "./modules.js";
import { readText } from "./proc.js";
import { type Fetch, StackMemory } from "./stack-memory.js";
import { newWalk, Unwinder, type Walk } from "./unwind.js";
import { REGISTERS } from "./unwind-row.js";
import { UnwindTables } from "./unwind-tables.js";

/** Frames of a stack, when nobody says how many; and the most that can be asked for. */
export const DEFAULT_FRAMES = 64;
export const MOST_FRAMES = 1024;
/** Processes whose maps are remembered. */
const MOST_PROCESSES = 256;

/** DWARF's numbers of registers, as places in struct user_regs_struct. */
const IN_USER_REGS = [10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16];
const WORD = 2 ** 32;

/**
 * The stacks of a session's tracees. What was read of files and maps is kept: a stack that was seen before costs one
 * fetch of memory and some sums.
 */
export class Stacks {
  readonly #files = new ModuleFiles();
  readonly #tables = new UnwindTables();
  readonly #processes = new Map<number, OneProcess>();
  readonly #walk = newWalk(MOST_FRAMES);
  readonly #registers = new Float64Array(REGISTERS);
  /** Whether codeChanged() is called whenever code is mapped. Else maps are read for every stack. */
  isWatched = false;
  readonly #fetch: (tid: number, address: bigint, into: Uint8Array) => number;

  constructor(fetch: (tid: number, address: bigint, into: Uint8Array) => number) {
    this.#fetch = fetch;
  }

  /**
   * The stack of a thread that is stopped. `words` is its struct user_regs_struct as 32-bit halves; `exact` is false while
   * it is inside the instruction before rip, which a system call is.
   */
  of(tid: number, pid: number, words: Uint32Array, exact: boolean, limit = DEFAULT_FRAMES): CallStack {
    for (let r = 0; r < REGISTERS; r++) {
      const at = IN_USER_REGS[r]! * 2;
      this.#registers[r] = words[at]! + words[at + 1]! * WORD;
    }
    const process = this.#process(pid);
    process.tid = tid;
    if (!this.isWatched) process.code.changed();
    return process.stack(this.#registers, exact, this.#walk, Math.max(1, Math.min(limit, MOST_FRAMES)));
  }

  #process(pid: number): OneProcess {
    let known = this.#processes.get(pid);
    if (!known) {
      if (this.#processes.size >= MOST_PROCESSES) this.#processes.clear();
      const code = new Code(
        pid,
        () => readText(`/proc/${pid}/maps`),
        (text) => modulesOf(pid, this.#files, parseMaps(text)),
        this.#tables,
      );
      const made: OneProcess = new OneProcess(code, (address, into) => this.#fetch(made.tid, address, into));
      known = made;
      this.#processes.set(pid, made);
    }
    return known;
  }

  /** Somebody has mapped code, or another program runs: what is known of maps is old. */
  codeChanged(): void {
    for (const { code } of this.#processes.values()) code.changed();
  }

  /** The process is no more, or is another program now. */
  forget(pid: number): void {
    this.#processes.delete(pid);
  }

  close(): void {
    this.#processes.clear();
    this.#files.close();
  }
}

class OneProcess {
  /** Whom to ask for memory. */
  tid = 0;
  readonly code: Code;
  readonly #unwinder: Unwinder;

  constructor(code: Code, fetch: Fetch) {
    this.code = code;
    this.#unwinder = new Unwinder(new StackMemory(fetch), code);
  }

  stack(registers: Float64Array, exact: boolean, walk: Walk, limit: number): CallStack {
    this.code.beginWalk();
    this.#unwinder.walk(registers, exact, walk, limit);
    const frames: Frame[] = new Array(walk.count);
    for (let i = 0; i < walk.count; i++)
      frames[i] = this.code.frame(walk.addresses[i]!, walk.exact[i] === 1, walk.found[i]!);
    return callStack(frames, walk.end);
  }
}
