/** What a policy can see of the stopped thread and of its memory. */
export interface Inside {
  /** The thread's memory: read, write, scan. */
  readonly memory: ProgramMemory;
  /**
   * The call stack, innermost frame first, unwound on demand. At most 64 frames unless `limit` says
   * otherwise.
   */
  stack(limit?: number): CallStack;
  /** The thread's registers as it stopped. */
  registers(): Registers;
  /** What is mapped into the process now. */
  maps(): readonly MemoryMap[];
  /** Seconds since the call began: 0 before it has happened. */
  readonly elapsed: number;
}

export interface MemoryMap {
  readonly from: bigint;
  readonly to: bigint;
  readonly permissions: string;
  readonly offset: bigint;
  readonly path: string;
}

/** The memory of a program. The program wrote its content: treat it as untrusted input. */
export interface ProgramMemory {
  /** As read(). */
  (address: bigint, length: number): Buffer | undefined;
  /** As many bytes as can be read, at most 64 KiB; undefined when the first byte cannot be read. */
  read(address: bigint, length: number): Buffer | undefined;
  /** Text up to a zero byte, at most 4 KiB; undefined when it cannot be read. */
  text(address: bigint): string | undefined;
  /**
   * Writes at most 64 KiB, also to memory that is read-only for the program. Throws when it could not write
   * all bytes.
   */
  write(address: bigint, bytes: Uint8Array | string): void;
  /** The addresses at which these bytes or this text occur. */
  scan(pattern: Uint8Array | string, options?: ScanOptions): bigint[];
}

export interface ScanOptions {
  /**
   * Search only mappings whose path (`[heap]`, `[stack]`, a file name) matches this glob. Default: all
   * mappings that the program may write.
   */
  readonly region?: string;
  readonly from?: bigint;
  readonly to?: bigint;
  /** Stop after this many matches: 100 by default, at most 10,000. */
  readonly limit?: number;
}

/** One function on a stack. */
export interface Frame {
  /** The return address: the instruction after the call. */
  readonly address: bigint;
  /**
   * The file that holds the code, without folder and version: `libc`, `python3.11`, `[vdso]`. Undefined for
   * JIT code.
   */
  readonly module: string | undefined;
  readonly path: string | undefined;
  /** True for the program's own executable, false for a library. */
  readonly isMain: boolean;
  /** The address as the ELF file numbers it. */
  readonly offset: number | undefined;
  /** The function's name, where a symbol covers the address; never a guess. */
  readonly symbol: string | undefined;
  readonly symbolOffset: number | undefined;
  /**
   * How the unwinder found the frame: from the thread's registers, unwind tables, a frame pointer, or the
   * context that a signal saved.
   */
  readonly found: "registers" | "tables" | "frame-pointer" | "signal";
  /** `libc!read+0x10`, `libfoo+0x1234`, `0x7f0012345678`. */
  toString(): string;
}

/** The frames, and the reason why the unwinder stopped. */
export interface CallStack extends ReadonlyArray<Frame> {
  /** "start": unwound to the thread's first frame. */
  readonly end: StackEnd;
}

export type StackEnd =
  | "start"
  | "limit"
  | "no unwind tables"
  | "unreadable stack"
  | "broken unwind tables"
  | "corrupt stack";

/**
 * A stack as traces store it: each frame's text, and why the unwinder stopped unless it reached the thread's
 * start.
 */
export interface RecordedStack {
  readonly frames: readonly string[];
  readonly end?: StackEnd;
  /** The name of the program's own module, when it is on the stack. */
  readonly main?: string;
}

export type RegisterName = (typeof REGISTER_NAMES)[number];
export type Registers = Readonly<Record<RegisterName, bigint>>;

/** In the order of struct user_regs_struct. */
export const REGISTER_NAMES = [
  "r15",
  "r14",
  "r13",
  "r12",
  "rbp",
  "rbx",
  "r11",
  "r10",
  "r9",
  "r8",
  "rax",
  "rcx",
  "rdx",
  "rsi",
  "rdi",
  "orig_rax",
  "rip",
  "cs",
  "eflags",
  "rsp",
  "ss",
  "fs_base",
  "gs_base",
  "ds",
  "es",
  "fs",
  "gs",
] as const;

/** `libc!read+0x10`; without a symbol `libc+0x1234`; without a file the address. */
export function frameText(
  frame: Pick<Frame, "address" | "module" | "offset" | "symbol" | "symbolOffset">,
): string {
  const { module, offset, symbol, symbolOffset } = frame;
  const hex = (value: number | bigint) => `0x${value.toString(16)}`;
  if (symbol !== undefined) {
    const place = symbolOffset ? `${symbol}+${hex(symbolOffset)}` : symbol;
    return module === undefined ? place : `${module}!${place}`;
  }
  if (module !== undefined && offset !== undefined) return `${module}+${hex(offset)}`;
  return module === undefined ? hex(frame.address) : `${module}!${hex(frame.address)}`;
}

const TEXT = /^(?:(.*?)!)?(.*?)(?:\+0x([0-9a-f]+))?$/s;

/** Parses a frame's text, as far as the text goes. `main` is the name of the program's own module. */
export function frameOf(text: string, main?: string): Frame {
  const [, before, name = "", plus] = TEXT.exec(text)!;
  const isAddress = /^0x[0-9a-f]+$/.test(name);
  const module = before ?? (plus !== undefined && !isAddress ? name : undefined);
  const symbol = before === undefined ? (module === undefined && !isAddress ? name : undefined) : name;
  const number = plus === undefined ? undefined : Number.parseInt(plus, 16);
  return {
    address: isAddress ? BigInt(name) : 0n,
    module,
    path: undefined,
    isMain: module !== undefined && module === main,
    offset: symbol === undefined ? number : undefined,
    symbol: isAddress ? undefined : symbol,
    symbolOffset: symbol === undefined || isAddress ? undefined : (number ?? 0),
    found: "tables",
    toString: () => text,
  };
}

export function callStack(frames: Frame[], end: StackEnd): CallStack {
  return Object.assign(frames, { end });
}

/** The memory of an event that has no program. */
export const NO_MEMORY: ProgramMemory = Object.assign(() => undefined, {
  read: () => undefined,
  text: () => undefined,
  write: () => {
    throw new Error("this event has no program whose memory could be written");
  },
  scan: () => [],
});
