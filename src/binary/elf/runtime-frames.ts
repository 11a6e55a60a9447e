import { BadDwarf, DwarfBytes, DwarfCursor, unlessBroken } from "./dwarf-cursor.js";
import { OMITTED, readPointer } from "./dwarf-pointer.js";
import type { Elf } from "./elf.js";
import { Frames } from "./frames.js";
import type { Segment } from "./sections.js";

const MOST_BYTES = 512 * 1024 * 1024;
const SORTED_TABLE = 0x3b; // relative to the header, four bytes with a sign

/** A file's .eh_frame, with the sorted table of .eh_frame_hdr where there is one. */
interface RuntimeFrames {
  readonly frames: Frames;
  readonly sorted?: SortedTable;
}

/** Finds .eh_frame as the program itself does, through its segments; else by the section headers. */
export function runtimeFrames(elf: Elf): RuntimeFrames | undefined {
  const header = headerOf(elf);
  const found = header && unlessBroken(() => throughHeader(elf, header));
  if (found) return found;
  const frames = sectionFrames(elf);
  return frames && { frames };
}

/** The section .eh_frame. */
export function sectionFrames(elf: Elf): Frames | undefined {
  const section = elf.section(".eh_frame");
  if (!section) return undefined;
  const bytes = new DwarfBytes(elf.bytes(section), section.address);
  return new Frames(bytes, "runtime", headerOf(elf)?.address ?? 0);
}

function headerOf(elf: Elf): Segment | undefined {
  return elf.segments.find(({ type }) => type === "eh-frame");
}

function throughHeader(elf: Elf, header: Segment): RuntimeFrames | undefined {
  const bytes = elf.bytesAt(header.address, header.memorySize);
  if (!bytes) return undefined;
  const table = new DwarfBytes(bytes, header.address);
  const cursor = new DwarfCursor(table);
  const [version, pointer, counted, encoding] = [cursor.u8(), cursor.u8(), cursor.u8(), cursor.u8()];
  if (version !== 1 || pointer === OMITTED) return undefined;
  const bases = { data: header.address, function: 0 };
  const entries = frameBytes(elf, readPointer(cursor, pointer, bases));
  if (!entries) return undefined;
  const frames = new Frames(entries, "runtime", header.address);
  if (encoding !== SORTED_TABLE || counted === OMITTED) return { frames };
  return { frames, sorted: new SortedTable(table, cursor, readPointer(cursor, counted, bases)) };
}

/** Without section headers the length is unknown: then up to the end of the segment. */
function frameBytes(elf: Elf, address: number): DwarfBytes | undefined {
  const segment = elf.segmentAt(address);
  if (!segment) return undefined;
  const room = segment.address + segment.fileSize - address;
  const section = elf.section(".eh_frame");
  const size = section?.address === address ? section.size : room;
  const bytes = elf.bytesAt(address, Math.min(size, room, MOST_BYTES));
  return bytes && new DwarfBytes(bytes, address);
}

/** Functions by where they begin: binary search in .eh_frame_hdr. */
export class SortedTable {
  readonly #table: DwarfBytes;
  readonly #at: number;
  readonly #count: number;

  constructor(table: DwarfBytes, { at, end }: DwarfCursor, count: number) {
    if (!(count * 8 <= end - at)) throw new BadDwarf("a table ends too soon");
    this.#table = table;
    this.#at = at;
    this.#count = count;
  }

  /** The address of the entry of the function that begins last before an address. */
  entryOf(address: number): number | undefined {
    const { view, address: base } = this.#table;
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (base + view.getInt32(this.#at + middle * 8, true) <= address) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? undefined : base + view.getInt32(this.#at + (low - 1) * 8 + 4, true);
  }
}
