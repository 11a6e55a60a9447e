import type { StackEnd } from "../../nouns/inside.js";
import { type StackMemory, Unreadable } from "./stack-memory.js";
import { evaluate } from "./unwind-expression.js";
import { DWARF_REGISTERS, RBP, RETURN_ADDRESS, RSP, type UnwindRow } from "./unwind-row.js";

/** How a frame was found. */
const FOUND = { registers: 0, tables: 1, framePointer: 2, signal: 3 } as const;

/** The unwinder's questions about code. */
export interface CodeMap {
  /** The row for unwinding from there; undefined without a table entry. */
  row(address: number): UnwindRow | undefined;
  /** True when the address is executable. */
  isCode(address: number): boolean;
  /** True for the vDSO. Where session/instrument/vdso.ts has overwritten its code, its tables are wrong. */
  isVdso(address: number): boolean;
}

/** The result of a walk, in arrays that the next walk reuses. */
export interface Walk {
  readonly addresses: Float64Array;
  /** For each frame: FOUND. */
  readonly found: Uint8Array;
  /** 1: the frame is at its address, not after a call. */
  readonly exact: Uint8Array;
  count: number;
  end: StackEnd;
}

export function newWalk(limit: number): Walk {
  return {
    addresses: new Float64Array(limit),
    found: new Uint8Array(limit),
    exact: new Uint8Array(limit),
    count: 0,
    end: "start",
  };
}

/** mov $15, %rax; syscall (rt_sigreturn): a signal handler returns to it, where no table says so. */
const SIGRETURN = [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05];
/** A struct ucontext's registers, by their DWARF numbers. */
const CONTEXT = [144, 136, 152, 128, 112, 104, 120, 160, 40, 48, 56, 64, 72, 80, 88, 96, 168];
const RET = 0xc3;
/** The row for unwinding from a `ret`. */
const AT_RETURN: UnwindRow = {
  cfaRegister: RSP,
  cfaOffset: 8,
  cfaExpression: undefined,
  saved: Int32Array.of(RETURN_ADDRESS, -8),
  others: [],
  isSignal: false,
  isOutermost: false,
};
/** A larger frame is invalid. */
const LARGEST_FRAME = 64 * 1024 * 1024;

/** Unwinds a stack, frame by frame. */
export class Unwinder {
  readonly #memory: StackMemory;
  readonly #code: CodeMap;
  readonly #registers = new Float64Array(DWARF_REGISTERS);
  readonly #next = new Float64Array(DWARF_REGISTERS);
  readonly #machine: { readonly registers: Float64Array; word(address: number): number };
  /** Set by the last step: how the new frame was found, and how to read its address. */
  #found: number = FOUND.registers;
  #exact = true;
  #row: UnwindRow | undefined;

  constructor(memory: StackMemory, code: CodeMap) {
    this.#memory = memory;
    this.#code = code;
    this.#machine = { registers: this.#registers, word: (address) => memory.word(address) };
  }

  /**
   * `registers` are the thread's, by DWARF number. `exact`: the next instruction is the one at rip. Otherwise
   * the thread is still inside the one before it, a system call.
   */
  walk(registers: Float64Array, exact: boolean, into: Walk, limit: number = into.addresses.length): Walk {
    const own = this.#registers;
    own.set(registers);
    this.#found = FOUND.registers;
    this.#exact = exact;
    this.#row = this.#atReturn(exact) ? AT_RETURN : this.#code.row(own[RETURN_ADDRESS]! - (exact ? 0 : 1));
    this.#memory.begin(own[RSP]!);
    into.count = 0;
    try {
      for (;;) {
        const i = into.count;
        if (i >= limit) {
          into.end = "limit";
          return into;
        }
        into.addresses[i] = own[RETURN_ADDRESS]!;
        into.found[i] = this.#found;
        into.exact[i] = this.#exact ? 1 : 0;
        into.count = i + 1;
        const end = this.#step(i === 0);
        if (end !== undefined) {
          into.end = end;
          return into;
        }
      }
    } catch (error) {
      into.end = endOf(error);
      return into;
    }
  }

  /** A call in the vDSO followed by `ret`: the caller is certain, regardless of the tables. */
  #atReturn(exact: boolean): boolean {
    const address = this.#registers[RETURN_ADDRESS]!;
    return !exact && this.#code.isVdso(address) && this.#memory.peek(address, 1)?.[0] === RET;
  }

  /** Steps from a frame to its caller. Returns the reason when there is none. */
  #step(isFirst: boolean): StackEnd | undefined {
    const own = this.#registers;
    const sp = own[RSP]!;
    const row = this.#row;
    if (!row) return this.#withoutTables(isFirst);
    if (row.isOutermost) return "start";
    const cfa = row.cfaExpression
      ? evaluate(row.cfaExpression, this.#machine)
      : own[row.cfaRegister]! + row.cfaOffset;
    // A stack grows downwards, so callers lie higher, except those that a signal interrupted on another
    // stack.
    if (!row.isSignal && !(cfa > sp && cfa - sp < LARGEST_FRAME)) return "corrupt stack";
    this.#apply(row, cfa);
    this.#found = row.isSignal ? FOUND.signal : FOUND.tables;
    this.#exact = row.isSignal;
    return this.#arrived();
  }

  #apply(row: UnwindRow, cfa: number): void {
    const own = this.#registers;
    const { saved, others } = row;
    if (others.length === 0) {
      // Rules depend only on the CFA and memory, so the registers can be changed in place.
      const memory = this.#memory;
      own[RSP] = cfa;
      for (let k = 0; k < saved.length; k += 2) own[saved[k]!] = memory.word(cfa + saved[k + 1]!);
      return;
    }
    const next = this.#next;
    next.set(own);
    next[RSP] = cfa;
    for (let k = 0; k < saved.length; k += 2) next[saved[k]!] = this.#memory.word(cfa + saved[k + 1]!);
    for (const { register, rule } of others) {
      switch (rule.kind) {
        case "register":
          next[register] = own[rule.register]!;
          break;
        case "offset":
          next[register] = this.#memory.word(cfa + rule.offset);
          break;
        case "value-offset":
          next[register] = cfa + rule.offset;
          break;
        case "expression":
          next[register] = this.#memory.word(evaluate(rule.expression, this.#machine, cfa));
          break;
        case "value-expression":
          next[register] = evaluate(rule.expression, this.#machine, cfa);
          break;
        default: // undefined: the old value is as good as any
      }
    }
    own.set(next);
  }

  /** Code without a table entry: a signal trampoline, or code with frame pointers. */
  #withoutTables(isFirst: boolean): StackEnd | undefined {
    const own = this.#registers;
    if (this.#isSigreturn(own[RETURN_ADDRESS]!)) {
      const context = own[RSP]!;
      for (let r = 0; r < DWARF_REGISTERS; r++) this.#next[r] = this.#memory.word(context + CONTEXT[r]!);
      own.set(this.#next);
      this.#found = FOUND.signal;
      this.#exact = true;
      return this.#arrived();
    }
    const fp = own[RBP]!;
    const sp = own[RSP]!;
    if (!(fp >= sp && fp - sp < LARGEST_FRAME && fp % 8 === 0)) return "no unwind tables";
    const caller = this.#memory.word(fp + 8);
    if (!this.#code.isCode(caller)) return caller === 0 && !isFirst ? "start" : "no unwind tables";
    own[RBP] = this.#memory.word(fp);
    own[RETURN_ADDRESS] = caller;
    own[RSP] = fp + 16;
    this.#found = FOUND.framePointer;
    this.#exact = false;
    return this.#arrived();
  }

  #isSigreturn(address: number): boolean {
    if (!this.#code.isCode(address)) return false;
    const code = this.#memory.peek(address, SIGRETURN.length);
    return code !== undefined && SIGRETURN.every((byte, i) => byte === code[i]);
  }

  /** A caller must lie in executable memory; address 0 marks the stack's start. */
  #arrived(): StackEnd | undefined {
    const address = this.#registers[RETURN_ADDRESS]!;
    if (address === 0) return "start";
    this.#row = this.#code.row(address - (this.#exact ? 0 : 1));
    if (this.#row || this.#found === FOUND.signal || this.#code.isCode(address)) return undefined;
    return "corrupt stack";
  }
}

function endOf(error: unknown): StackEnd {
  if (error instanceof Unreadable) return "unreadable stack";
  if (error instanceof RangeError) return "broken unwind tables";
  throw error;
}
