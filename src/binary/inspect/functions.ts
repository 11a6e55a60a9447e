import { DT, type Elf, mapped } from "../elf/index.js";
import { Flow, type MachineCode } from "./code.js";
import { goFunctions } from "./go.js";
import { type UnwindRange, unwindRanges } from "./unwind-ranges.js";

/** How it is known that a function begins here. */
const FUNCTION_SOURCES = [
  "entry",
  "symbol",
  "unwind",
  "plt",
  "array",
  "go",
  "call",
  "jump",
  "pointer",
  "prologue",
] as const;
type FunctionSource = (typeof FUNCTION_SOURCES)[number];

export interface CodeFunction {
  readonly address: number;
  readonly size: number;
  readonly name?: string;
  readonly from: readonly FunctionSource[];
}

/** Direct calls and jumps between functions, in the order of their addresses. */
interface Reference {
  readonly from: number;
  readonly to: number;
}

export interface RecoveredFunctions {
  readonly list: readonly CodeFunction[];
  readonly calls: readonly Reference[];
  /** Jumps out of a function. */
  readonly jumps: readonly Reference[];
  /** Calls and jumps through a place in memory that the instruction names. */
  readonly slotCalls: readonly { readonly from: number; readonly slot: number }[];
  /** Places within functions that other functions jump to or call. */
  entrancesWithin(from: number, to: number): number[];
  /** What .eh_frame says of the function that begins at an address. */
  readonly unwind: ReadonlyMap<number, UnwindRange>;
  at(address: number): CodeFunction | undefined;
}

interface Found {
  size: number;
  name?: string;
  readonly from: Set<FunctionSource>;
  swept: boolean;
}

const MOST_FUNCTIONS = 2_000_000;

/** Finds the functions of a program: what tables say of them first, then what the code itself calls, then its shape. */
export function recoverFunctions(
  elf: Elf,
  code: MachineCode,
  progress: (share: number) => void = () => {},
): RecoveredFunctions {
  return new Recovery(elf, code, progress).run();
}

class Recovery {
  readonly #elf: Elf;
  readonly #code: MachineCode;
  readonly #progress: (share: number) => void;
  readonly #found = new Map<number, Found>();
  readonly #calls: Reference[] = [];
  readonly #jumps: Reference[] = [];
  readonly #slotCalls: { from: number; slot: number }[] = [];
  readonly #unwind = new Map<number, UnwindRange>();
  #starts = new Float64Array();

  constructor(elf: Elf, code: MachineCode, progress: (share: number) => void) {
    this.#elf = elf;
    this.#code = code;
    this.#progress = progress;
  }

  run(): RecoveredFunctions {
    this.#fromTables();
    this.#sweepAll();
    this.#fromPointers();
    this.#sweepAll();
    if (this.#fromShape()) this.#sweepAll();
    return this.#result();
  }

  #add(address: number, from: FunctionSource, size = 0, name?: string): void {
    const known = this.#found.get(address);
    if (known !== undefined) {
      known.from.add(from);
      if (from === "unwind" || known.size === 0) known.size = size || known.size;
      if (name !== undefined) known.name ??= name;
    } else if (this.#found.size < MOST_FUNCTIONS && this.#code.regionAt(address) !== undefined)
      this.#found.set(address, {
        size,
        from: new Set([from]),
        swept: false,
        ...(name !== undefined && { name }),
      });
  }

  #fromTables(): void {
    const elf = this.#elf;
    for (const { address, size, symbol } of elf.plt)
      this.#add(address, "plt", size, symbol === undefined ? undefined : `${symbol}@plt`);
    for (const { address, size } of elf.symbols.functions()) this.#add(address, "symbol", size);
    for (const range of unwindRanges(elf)) {
      if (/^\.i?plt/.test(this.#code.regionAt(range.start)?.name ?? "")) continue; // one range for all stubs
      this.#unwind.set(range.start, range);
      this.#add(range.start, "unwind", range.size);
    }
    for (const { address, size, name } of goFunctions(elf)) this.#add(address, "go", size, name);
    this.#add(elf.entry, "entry");
    for (const address of initialisers(elf)) this.#add(address, "array");
  }

  /** Goes through all code that is known to be some function's, until no new function turns up. */
  #sweepAll(): void {
    for (let round = 0; round < 32; round++) {
      this.#order();
      const open = [...this.#starts].filter((start) => !this.#found.get(start)!.swept);
      if (open.length === 0) return;
      const [calls, jumps] = [this.#calls.length, this.#jumps.length];
      open.forEach((start, i) => {
        if (i % 4096 === 0) this.#progress(i / open.length);
        this.#sweep(start);
      });
      this.#order();
      for (const { to } of this.#calls.slice(calls)) if (this.#owner(to) === undefined) this.#add(to, "call");
      for (const { to } of this.#jumps.slice(jumps)) if (this.#owner(to) === undefined) this.#add(to, "jump");
    }
  }

  #sweep(start: number): void {
    const found = this.#found.get(start)!;
    found.swept = true;
    const code = this.#code;
    const region = code.regionAt(start)!;
    const limit = Math.min(this.#next(start), region.address + region.size);
    if (found.size === 0) found.size = this.#extent(start, limit);
    const end = Math.min(start + found.size, limit);
    code.seek(start);
    while (code.next() && code.address < end) {
      if (code.flow === Flow.NEXT) continue;
      if (code.flow === Flow.CALL) this.#calls.push({ from: code.address, to: code.target });
      else if (
        (code.flow === Flow.JUMP || code.flow === Flow.BRANCH) &&
        (code.target < start || code.target >= end)
      )
        this.#jumps.push({ from: code.address, to: code.target });
      else if (code.slot !== 0 && (code.flow === Flow.CALL_INDIRECT || code.flow === Flow.INDIRECT))
        this.#slotCalls.push({ from: code.address, slot: code.slot });
    }
  }

  /** Without a size: up to an end that no branch of the function itself leads over. */
  #extent(start: number, limit: number): number {
    const code = this.#code;
    let reach = start;
    code.seek(start);
    while (code.next() && code.address < limit) {
      const after = code.address + code.length;
      if (code.flow === Flow.BRANCH && code.target < limit) reach = Math.max(reach, code.target);
      const ends =
        code.flow === Flow.RETURN ||
        code.flow === Flow.STOP ||
        code.flow === Flow.INDIRECT ||
        code.flow === Flow.JUMP;
      if (
        code.flow === Flow.JUMP &&
        code.target > code.address &&
        code.target < after + 0x100 &&
        code.target < limit
      )
        reach = Math.max(reach, code.target);
      if (ends && reach < after) return Math.min(after, limit) - start;
    }
    return limit - start;
  }

  /** Addresses kept in data: functions that are only ever called through a pointer. */
  #fromPointers(): void {
    this.#order();
    for (const { kind, addend } of this.#elf.relocations)
      if ((kind === "relative" || kind === "ifunc") && this.#owner(addend) === undefined)
        this.#add(addend, "pointer");
  }

  /** What no table and no call knows: code after the end of another function that begins as functions do. */
  #fromShape(): boolean {
    this.#order();
    const before = this.#found.size;
    const gaps: [number, number][] = [];
    for (const region of this.#code.regions) {
      if (/^\.i?plt/.test(region.name)) continue;
      let at = region.address;
      for (const start of this.#starts) {
        if (start < at) {
          at = Math.max(at, start + this.#found.get(start)!.size);
          continue;
        }
        if (start >= region.address + region.size) break;
        if (start > at) gaps.push([at, start]);
        at = start + this.#found.get(start)!.size;
      }
      if (at < region.address + region.size) gaps.push([at, region.address + region.size]);
    }
    for (const [from, to] of gaps) this.#fromGap(from, to);
    return this.#found.size > before;
  }

  #fromGap(from: number, to: number): void {
    for (let at = from; at < to; ) {
      const region = this.#code.regionAt(at)!;
      const offset = at - region.address;
      if (isPrologue(region.bytes, offset)) {
        const size = this.#extent(at, to);
        this.#add(at, "prologue", size);
        at += Math.max(1, size);
      } else at += at % 16 === 0 || at === from ? Math.max(1, 16 - (at % 16)) : 1;
    }
  }

  #order(): void {
    if (this.#starts.length !== this.#found.size) this.#starts = Float64Array.from(this.#found.keys()).sort();
  }

  #next(start: number): number {
    return this.#starts[this.#index(start) + 1] ?? Infinity;
  }

  /** The last start at or before an address. */
  #index(address: number): number {
    const index = before(this.#starts, address);
    return this.#starts[index] === address ? index : index - 1;
  }

  #owner(address: number): number | undefined {
    const start = this.#starts[this.#index(address)];
    return start !== undefined && address < start + Math.max(1, this.#found.get(start)!.size)
      ? start
      : undefined;
  }

  #result(): RecoveredFunctions {
    this.#order();
    const { symbols } = this.#elf;
    const list = Array.from(this.#starts, (address): CodeFunction => {
      const found = this.#found.get(address)!;
      const symbol = found.from.has("symbol") ? symbols.at(address) : undefined;
      const name = symbol?.address === address ? symbol.name : found.name;
      return {
        address,
        size: found.size,
        ...(name !== undefined && { name }),
        from: FUNCTION_SOURCES.filter((source) => found.from.has(source)),
      };
    });
    const within = new Set<number>();
    for (const { to } of this.#calls) if (!this.#found.has(to)) within.add(to);
    for (const { to } of this.#jumps) if (!this.#found.has(to)) within.add(to);
    const entrances = Float64Array.from(within).sort();
    return {
      list,
      calls: this.#calls.sort((a, b) => a.from - b.from),
      jumps: this.#jumps.sort((a, b) => a.from - b.from),
      slotCalls: this.#slotCalls,
      entrancesWithin: (from, to) => [...entrances.subarray(before(entrances, from), before(entrances, to))],
      unwind: this.#unwind,
      at: (address) => {
        const start = this.#owner(address);
        return start === undefined ? undefined : list[this.#index(start)];
      },
    };
  }
}

/** How many of sorted numbers are smaller. */
function before(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Functions that run before and after main. */
function initialisers(elf: Elf): number[] {
  const { values } = elf.dynamic;
  const single = [values.get(DT.INIT), values.get(DT.FINI)].filter((address) => address !== undefined);
  const arrays = [
    mapped(elf, values.get(DT.INIT_ARRAY), values.get(DT.INIT_ARRAYSZ)),
    mapped(elf, values.get(DT.FINI_ARRAY), values.get(DT.FINI_ARRAYSZ)),
  ].flatMap((bytes) => {
    const fields = elf.fields(bytes);
    return Array.from({ length: Math.floor(bytes.length / 8) }, (_, i) => fields.u64(i * 8));
  });
  return [...single, ...arrays];
}

/** endbr64; push %rbp, mov %rsp,%rbp; pushes of saved registers; sub $n,%rsp. */
function isPrologue(bytes: Uint8Array, at: number): boolean {
  const [a, b, c, d] = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
  if (a === 0xf3 && b === 0x0f && c === 0x1e && d === 0xfa) return true;
  if (a === 0x55 && b === 0x48 && c === 0x89 && d === 0xe5) return true;
  if (
    a === 0x41 &&
    (b === 0x54 || b === 0x55 || b === 0x56 || b === 0x57) &&
    (c === 0x41 || c === 0x55 || c === 0x53)
  )
    return true;
  return a === 0x48 && b === 0x83 && c === 0xec && d !== undefined && d % 8 === 0;
}
