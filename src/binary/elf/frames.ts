import { BadDwarf, type DwarfBytes, DwarfCursor, unlessBroken } from "./dwarf-cursor.js";
import { OMITTED, readOptionalPointer, readPointer, skipPointer } from "./dwarf-pointer.js";

/** A table with more entries than this is a lie. */
const MOST_ENTRIES = 4_000_000;
const MOST_COMMONS = 10_000;
const LONGEST_AUGMENTATION = 64;
/** In place of a length: the length follows in 64 bits. */
const WIDE = 0xffff_ffff;

/** What a CIE says for all its functions. */
interface CommonPart {
  readonly codeAlign: number;
  readonly dataAlign: number;
  readonly returnRegister: number;
  readonly pointerEncoding: number;
  /** How the address of a table of exception handlers is written; OMITTED without one. */
  readonly handlersEncoding: number;
  readonly isSignal: boolean;
  readonly hasAugmentation: boolean;
  code(): DwarfCursor;
}

/** What an FDE says of one function. */
export interface FunctionPart {
  readonly common: CommonPart;
  readonly from: number;
  readonly to: number;
  /** Where the table of exception handlers is. */
  handlers(): number | undefined;
  code(): DwarfCursor;
}

/** Where an entry lies, without its length. */
interface Bounds {
  readonly body: number;
  readonly end: number;
  readonly wide: boolean;
}

/** The entries of .eh_frame ("runtime") or .debug_frame. Everything that is broken throws BadDwarf. */
export class Frames {
  readonly bytes: DwarfBytes;
  readonly #kind: "runtime" | "debug";
  /** What pointers relative to data count from: where .eh_frame_hdr is loaded. */
  readonly data: number;
  readonly #commons = new Map<number, CommonPart>();

  constructor(bytes: DwarfBytes, kind: "runtime" | "debug", data: number) {
    this.bytes = bytes;
    this.#kind = kind;
    this.data = data;
  }

  /** Visits all functions. A broken entry is left out; a broken length ends the walk. */
  each(visit: (part: FunctionPart, at: number) => void): void {
    let at = 0;
    for (let count = 0; at + 4 <= this.bytes.length && count < MOST_ENTRIES; count++) {
      const bounds = unlessBroken(() => this.#bounds(at));
      if (bounds === undefined || bounds.end === bounds.body) return;
      const part = unlessBroken(() => this.#function(bounds));
      if (part) visit(part, at);
      at = bounds.end;
    }
  }

  /** The function that an FDE describes; undefined when it is a CIE. */
  entry(at: number): FunctionPart | undefined {
    return this.#function(this.#bounds(at));
  }

  #bounds(at: number): Bounds {
    const cursor = new DwarfCursor(this.bytes, at);
    const first = cursor.u32();
    const wide = first === WIDE;
    const size = wide ? cursor.u64() : first;
    if (size > cursor.end - cursor.at) throw new BadDwarf("an entry ends too soon");
    return { body: cursor.at, end: cursor.at + size, wide };
  }

  #function({ body, end, wide }: Bounds): FunctionPart | undefined {
    const cursor = new DwarfCursor(this.bytes, body, end);
    const id = this.#id(cursor, wide);
    if (this.#isCommon(id, wide)) return undefined;
    const common = this.#common(this.#kind === "debug" ? id : body - id);
    const bases = { data: this.data, function: 0 };
    const from = readPointer(cursor, common.pointerEncoding, bases);
    const to = from + readPointer(cursor, common.pointerEncoding & 15, bases);
    const length = common.hasAugmentation ? cursor.uleb() : 0;
    const augmentation = cursor.at;
    cursor.skip(length);
    return new Described(this, common, from, to, augmentation, cursor.at, end);
  }

  #id(cursor: DwarfCursor, wide: boolean): number {
    return cursor.offset(wide && this.#kind === "debug");
  }

  #isCommon(id: number, wide: boolean): boolean {
    if (this.#kind === "runtime") return id === 0;
    return id === WIDE || (wide && id >= WIDE * 2 ** 32);
  }

  #common(at: number): CommonPart {
    const known = this.#commons.get(at);
    if (known) return known;
    const made = this.#readCommon(at);
    if (this.#commons.size < MOST_COMMONS) this.#commons.set(at, made);
    return made;
  }

  #readCommon(at: number): CommonPart {
    const { body, end, wide } = this.#bounds(at);
    const cursor = new DwarfCursor(this.bytes, body, end);
    if (!this.#isCommon(this.#id(cursor, wide), wide))
      throw new BadDwarf("an FDE refers to an entry that is no CIE");
    const version = cursor.u8();
    const augmentation = cursor.text(LONGEST_AUGMENTATION);
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
      code: () => new DwarfCursor(this.bytes, start, end),
    };
  }
}

/** Large files have some 100,000 of these: a class takes less memory than closures. */
class Described implements FunctionPart {
  constructor(
    private readonly frames: Frames,
    readonly common: CommonPart,
    readonly from: number,
    readonly to: number,
    private readonly augmentation: number,
    private readonly start: number,
    private readonly end: number,
  ) {}

  handlers(): number | undefined {
    const { handlersEncoding } = this.common;
    if (handlersEncoding === OMITTED) return undefined;
    const bases = { data: this.frames.data, function: this.from };
    const cursor = new DwarfCursor(this.frames.bytes, this.augmentation, this.start);
    return unlessBroken(() => readOptionalPointer(cursor, handlersEncoding, bases));
  }

  code(): DwarfCursor {
    return new DwarfCursor(this.frames.bytes, this.start, this.end);
  }
}

/** The letters that GNU and LLVM write. Data of other letters is skipped: its length is known. */
function readAugmentation(letters: string, cursor: DwarfCursor) {
  const found = {
    pointerEncoding: 0,
    handlersEncoding: OMITTED,
    isSignal: false,
    hasAugmentation: letters.startsWith("z"),
  };
  if (!found.hasAugmentation) {
    if (letters !== "" && letters !== "eh") throw new BadDwarf(`an unknown augmentation "${letters}"`);
    return found;
  }
  const data = cursor.block(cursor.uleb());
  for (const letter of letters.slice(1)) {
    if (letter === "R") found.pointerEncoding = data.u8();
    else if (letter === "L") found.handlersEncoding = data.u8();
    else if (letter === "P") skipPointer(data, data.u8());
    else if (letter === "S") found.isSignal = true;
    else if (letter !== "B") break;
  }
  return found;
}
