import { type CallStack, callStack, type Frame } from "../../nouns/inside.js";
import { parseMaps } from "./maps.js";
import { ModuleFiles } from "./module-files.js";
import { modulesOf } from "./modules.js";
import { readText } from "./proc.js";
import { ProcessCode } from "./process-code.js";
import { type Fetch, StackMemory } from "./stack-memory.js";
import { newWalk, Unwinder, type Walk } from "./unwind.js";
import { DWARF_REGISTERS } from "./unwind-row.js";
import { UnwindTables } from "./unwind-tables.js";

/** The default number of frames, and the most that a caller may ask for. */
const DEFAULT_FRAMES = 64;
const MOST_FRAMES = 1024;
/** How many processes' maps are cached. */
const MOST_PROCESSES = 256;

/** DWARF register numbers, as indexes into struct user_regs_struct. */
const IN_USER_REGS = [10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16];
const WORD = 2 ** 32;

/**
 * The stacks of a session's tracees. Facts from files and maps are cached: a stack seen before costs one
 * memory fetch and some arithmetic.
 */
export class Stacks {
  readonly #files = new ModuleFiles();
  readonly #tables = new UnwindTables();
  readonly #processes = new Map<number, OneProcess>();
  readonly #walk = newWalk(MOST_FRAMES);
  readonly #registers = new Float64Array(DWARF_REGISTERS);
  /**
   * True when codeChanged() is called for every new code mapping. Otherwise the maps are read for every
   * stack.
   */
  isWatched = false;
  readonly #fetch: (tid: number, address: bigint, into: Uint8Array) => number;

  constructor(fetch: (tid: number, address: bigint, into: Uint8Array) => number) {
    this.#fetch = fetch;
  }

  /**
   * The stack of a stopped thread. `words` is its struct user_regs_struct as 32-bit halves. `exact` is false
   * while the thread is inside the instruction before rip, such as a system call.
   */
  of(tid: number, pid: number, words: Uint32Array, exact: boolean, limit = DEFAULT_FRAMES): CallStack {
    for (let r = 0; r < DWARF_REGISTERS; r++) {
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
      const code = new ProcessCode(
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

  /** A tracee mapped code or executed another program: the cached maps are stale. */
  codeChanged(): void {
    for (const { code } of this.#processes.values()) code.changed();
  }

  /** The process has ended, or runs another program now. */
  forget(pid: number): void {
    this.#processes.delete(pid);
  }

  close(): void {
    this.#processes.clear();
    this.#files.close();
  }
}

class OneProcess {
  /** The thread whose memory is read. */
  tid = 0;
  readonly code: ProcessCode;
  readonly #unwinder: Unwinder;

  constructor(code: ProcessCode, fetch: Fetch) {
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
