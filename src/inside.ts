/** What an event lets a policy see of the thread that it stopped, and of the memory around it. */
export interface Inside {
  /** The thread's memory: read, write, scan. */
  readonly memory: ProgramMemory;
  /** Who called whom, the innermost first, followed when it is asked for: 64 frames when nobody says how many. */
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

/** The memory of a program. Whatever lies there was written by it: judge it so. */
export interface ProgramMemory {
  /** As read(). */
  (address: bigint, length: number): Buffer | undefined;
  /** As much as can be read, at most 64 KiB; undefined when nothing can. */
  read(address: bigint, length: number): Buffer | undefined;
  /** Text up to a zero byte, at most 4 KiB; undefined when it cannot be read. */
  text(address: bigint): string | undefined;
  /** At most 64 KiB, also where the program itself may not write. Throws when not all of it could be written. */
  write(address: bigint, bytes: Uint8Array | string): void;
  /** Where bytes or a text occur. */
  scan(pattern: Uint8Array | string, options?: ScanOptions): bigint[];
}

export interface ScanOptions {
  /** Only in mappings whose path (`[heap]`, `[stack]`, a file's) matches this glob; in all that the program may write when absent. */
  readonly region?: string;
  readonly from?: bigint;
  readonly to?: bigint;
  /** At most so many finds: 100 when absent, never more than 10,000. */
  readonly limit?: number;
}

/** One function on a stack. */
export interface Frame {
  /** Where it goes on: behind the call that it made. */
  readonly address: bigint;
  /** The file that the code is of, without folder and version: `libc`, `python3.11`, `[vdso]`. Undefined for a JIT's code. */
  readonly module: string | undefined;
  readonly path: string | undefined;
  /** It is the program itself, not something that it loaded. */
  readonly isMain: boolean;
  /** The address as the file numbers it. */
  readonly offset: number | undefined;
  /** The function's name, where a table of symbols covers the address; never a guess. */
  readonly symbol: string | undefined;
  readonly symbolOffset: number | undefined;
  /** By what: the thread's registers, unwind tables, a frame pointer, or the context that a signal saved. */
  readonly found: "registers" | "tables" | "frame-pointer" | "signal";
  /** `libc!read+0x10`, `libfoo+0x1234`, `0x7f0012345678`. */
  toString(): string;
}

/** The frames, and why there are no more of them. */
export interface CallStack extends ReadonlyArray<Frame> {
  /** "start": followed to where the thread began. */
  readonly end: StackEnd;
}

export type StackEnd =
  | "start"
  | "limit"
  | "no unwind tables"
  | "unreadable stack"
  | "broken unwind tables"
  | "corrupt stack";

/** As traces keep it: the frames' texts, and why there are no more, unless the thread began there. */
export interface RecordedStack {
  readonly frames: readonly string[];
  readonly end?: StackEnd;
  /** Which module is the program itself, where it is on the stack. */
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

/** A frame from its text, as far as that goes. `main` is the name of the program's own module. */
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

/** Of an event without a program. */
export const NO_MEMORY: ProgramMemory = Object.assign(() => undefined, {
  read: () => undefined,
  text: () => undefined,
  write: () => {
    throw new Error("there is no program whose memory could be written");
  },
  scan: () => [],
});
