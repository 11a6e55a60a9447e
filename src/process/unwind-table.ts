import type { Elf } from "../elf/elf.js";
import { BadTable, Bytes, Cursor, OMITTED } from "./unwind-reader.js";
import { type CommonPart, type FunctionPart, type Row, rowAt } from "./unwind-row.js";

/** A table with more functions than this is a lie. */
const MOST_FUNCTIONS = 4_000_000;
const MOST_BYTES = 512 * 1024 * 1024;
const SORTED_TABLE = 0x3b; // counted from the header, four bytes with a sign
const WIDE = 0xffff_ffff;

/** What a module's .eh_frame or .debug_frame says of its code. Addresses are those of the file. */
export class UnwindTable {
  readonly #parts: readonly FrameSection[];
  readonly #rows = new Map<number, Row | null>();

  private constructor(parts: readonly FrameSection[]) {
    this.#parts = parts;
  }

  /** What is broken, or not there, is done without. */
  static of(elf: Elf): UnwindTable {
    const parts: FrameSection[] = [];
    for (const open of [runtimeSection, (file: Elf) => debugSection(file, file), separateSection]) {
      const part = attempt(() => open(elf));
      if (part) parts.push(part);
    }
    return new UnwindTable(parts);
  }

  /** How to unwind from an address; undefined when the tables do not say. */
  row(address: number): Row | undefined {
    let row = this.#rows.get(address);
    if (row === undefined) {
      row = this.#find(address);
      if (this.#rows.size >= MOST_ROWS) this.#rows.clear();
      this.#rows.set(address, row);
    }
    return row ?? undefined;
  }

  #find(address: number): Row | null {
    for (const part of this.#parts) {
      const row = attempt(() => part.row(address));
      if (row) return row;
    }
    return null;
  }

  /** The function that the tables say an address lies in, named or not. */
  functionAt(address: number): { from: number; to: number } | undefined {
    for (const part of this.#parts) {
      const found = attempt(() => part.find(address));
      if (found) return { from: found.from, to: found.to };
    }
    return undefined;
  }
}

const MOST_ROWS = 50_000;

function attempt<T>(read: () => T | undefined): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof BadTable || error instanceof RangeError || isOurs(error)) return undefined;
    throw error;
  }
}

const isOurs = (error: unknown) => error instanceof Error && error.name === "HermesError";

// ---------------------------------------------------------------- where the tables are

function runtimeSection(elf: Elf): FrameSection | undefined {
  const header = elf.segments.find(({ type }) => type === "eh-frame");
  const section = elf.section(".eh_frame");
  const bytes = header && elf.bytesAt(header.address, header.memorySize);
  if (header && bytes) {
    const table = new Bytes(bytes, header.address);
    const cursor = new Cursor(table, 0);
    const [version, frames, counted, encoding] = [cursor.u8(), cursor.u8(), cursor.u8(), cursor.u8()];
    const bases = { data: header.address, function: 0 };
    if (version === 1 && frames !== OMITTED) {
      const at = cursor.pointer(frames, bases);
      const entries = frameBytes(elf, at, section?.address === at ? section.size : undefined);
      if (entries && encoding === SORTED_TABLE && counted !== OMITTED) {
        const count = cursor.pointer(counted, bases);
        if (count * 8 > table.length - cursor.at) throw new BadTable("a table that ends too soon");
        return new FrameSection(entries, "runtime", header.address, new SortedTable(table, cursor.at, count));
      }
      if (entries) return new FrameSection(entries, "runtime", header.address);
    }
  }
  if (!section) return undefined;
  return new FrameSection(new Bytes(elf.bytes(section), section.address), "runtime", header?.address ?? 0);
}

/** Without section headers nobody says how long it is: then up to the end of what is mapped with it. */
function frameBytes(elf: Elf, address: number, size: number | undefined): Bytes | undefined {
  const segment = elf.segmentAt(address);
  if (!segment) return undefined;
  const room = segment.address + segment.fileSize - address;
  const bytes = elf.bytesAt(address, Math.min(size ?? room, room, MOST_BYTES));
  return bytes && new Bytes(bytes, address);
}

function debugSection(elf: Elf, from: Elf): FrameSection | undefined {
  const section = from.section(".debug_frame") ?? from.section(".zdebug_frame");
  if (!section || section.size === 0 || elf.bits !== 64) return undefined;
  return new FrameSection(new Bytes(from.bytes(section), 0), "debug", 0);
}

function separateSection(elf: Elf): FrameSection | undefined {
  return elf.debugFile && debugSection(elf, elf.debugFile);
}

// ---------------------------------------------------------------- what they say

/** Functions by where they begin: binary search in .eh_frame_hdr. */
class SortedTable {
  constructor(
    readonly bytes: Bytes,
    readonly at: number,
    readonly count: number,
  ) {}

  /** Where the entry of the function lies that begins last before an address. */
  entryOf(address: number): number | undefined {
    const { view, address: base } = this.bytes;
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (base + view.getInt32(this.at + middle * 8, true) <= address) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? undefined : base + view.getInt32(this.at + (low - 1) * 8 + 4, true);
  }
}

class FrameSection {
  readonly #bytes: Bytes;
  readonly #kind: "runtime" | "debug";
  readonly #data: number;
  readonly #sorted: SortedTable | undefined;
  #functions: readonly { readonly from: number; readonly at: number }[] | undefined;
  readonly #commons = new Map<number, CommonPart>();

  constructor(bytes: Bytes, kind: "runtime" | "debug", data: number, sorted?: SortedTable) {
    this.#bytes = bytes;
    this.#kind = kind;
    this.#data = data;
    this.#sorted = sorted;
  }

  row(address: number): Row | undefined {
    const part = this.find(address);
    return part && rowAt(part, address, this.#data);
  }

  find(address: number): FunctionPart | undefined {
    const at = this.#sorted
      ? subtract(this.#sorted.entryOf(address), this.#bytes.address)
      : this.#entryBefore(address);
    const part = at === undefined ? undefined : this.#entry(at);
    return part && address >= part.from && address < part.to ? part : undefined;
  }

  /** Where there is no sorted table, one is made. */
  #entryBefore(address: number): number | undefined {
    this.#functions ??= this.#readAll();
    let low = 0;
    let high = this.#functions.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#functions[middle]!.from <= address) low = middle + 1;
      else high = middle;
    }
    return this.#functions[low - 1]?.at;
  }

  /** What is broken ends the list, but not what was read before it. */
  #readAll(): { from: number; at: number }[] {
    const all: { from: number; at: number }[] = [];
    for (let at = 0; at + 4 <= this.#bytes.length && all.length < MOST_FUNCTIONS; ) {
      const length = attempt(() => this.#lengthAt(at));
      if (length === undefined || length.size === 0) break;
      const part = attempt(() => this.#entry(at));
      if (part && part.from !== 0) all.push({ from: part.from, at });
      at = length.body + length.size;
    }
    return all.sort((a, b) => a.from - b.from);
  }

  #lengthAt(at: number): { body: number; size: number; wide: boolean } {
    const cursor = new Cursor(this.#bytes, at);
    const first = cursor.u32();
    const wide = first === WIDE;
    const size = wide ? cursor.u64() : first;
    if (size > cursor.end - cursor.at) throw new BadTable("an entry that ends too soon");
    return { body: cursor.at, size, wide };
  }

  /** The function that an FDE tells about; undefined when it is a CIE. */
  #entry(at: number): FunctionPart | undefined {
    const { body, size, wide } = this.#lengthAt(at);
    const cursor = new Cursor(this.#bytes, body, body + size);
    const id = wide && this.#kind === "debug" ? cursor.u64() : cursor.u32();
    if (this.#isCommon(id, wide)) return undefined;
    const common = this.#common(this.#kind === "debug" ? id : body - id);
    const bases = { data: this.#data, function: 0 };
    const from = cursor.pointer(common.pointerEncoding, bases);
    const to = from + cursor.pointer(common.pointerEncoding & 15, bases);
    if (common.hasAugmentation) cursor.skip(cursor.uleb());
    const start = cursor.at;
    return { common, from, to, code: () => new Cursor(this.#bytes, start, body + size) };
  }

  #isCommon(id: number, wide: boolean): boolean {
    if (this.#kind === "runtime") return id === 0;
    return id === WIDE || (wide && id >= WIDE * 2 ** 32);
  }

  #common(at: number): CommonPart {
    const known = this.#commons.get(at);
    if (known) return known;
    const made = this.#readCommon(at);
    if (this.#commons.size < 10_000) this.#commons.set(at, made);
    return made;
  }

  #readCommon(at: number): CommonPart {
    const { body, size, wide } = this.#lengthAt(at);
    const cursor = new Cursor(this.#bytes, body, body + size);
    const id = wide && this.#kind === "debug" ? cursor.u64() : cursor.u32();
    if (!this.#isCommon(id, wide)) throw new BadTable("an entry that is none");
    const version = cursor.u8();
    const augmentation = cursor.text();
    if (augmentation === "eh") cursor.skip(8);
    if (version >= 4 && this.#kind === "debug") cursor.skip(2); // sizes of addresses and of segments
    const codeAlign = cursor.uleb();
    const dataAlign = cursor.sleb();
    const returnRegister = version === 1 ? cursor.u8() : cursor.uleb();
    const more = readAugmentation(augmentation, cursor);
    const start = cursor.at;
    return {
      codeAlign,
      dataAlign,
      returnRegister,
      ...more,
      code: () => new Cursor(this.#bytes, start, body + size),
    };
  }
}

/** The letters that GNU and LLVM write: what the rest holds is skipped by its length. */
function readAugmentation(letters: string, cursor: Cursor) {
  const found = { pointerEncoding: 0, isSignal: false, hasAugmentation: letters.startsWith("z") };
  if (!found.hasAugmentation) {
    if (letters !== "" && letters !== "eh") throw new BadTable(`an unknown augmentation "${letters}"`);
    return found;
  }
  const data = cursor.block(cursor.uleb());
  for (const letter of letters.slice(1)) {
    if (letter === "R") found.pointerEncoding = data.u8();
    else if (letter === "L") data.u8();
    else if (letter === "P") data.skipPointer(data.u8());
    else if (letter === "S") found.isSignal = true;
    else if (letter !== "B") break;
  }
  return found;
}

function subtract(value: number | undefined, by: number): number | undefined {
  return value === undefined ? undefined : value - by;
}
