import { DwarfBytes, unlessBroken } from "../../binary/elf/dwarf-cursor.js";
import type { Elf } from "../../binary/elf/elf.js";
import { Frames, type FunctionPart } from "../../binary/elf/frames.js";
import { runtimeFrames, type SortedTable } from "../../binary/elf/runtime-frames.js";
import { rowAt, type UnwindRow } from "./unwind-row.js";

const MOST_ROWS = 50_000;

/** What a module's .eh_frame or .debug_frame says of its code. Addresses are those of the file. */
export class UnwindTable {
  readonly #parts: readonly FrameSection[];
  readonly #rows = new Map<number, UnwindRow | null>();

  private constructor(parts: readonly FrameSection[]) {
    this.#parts = parts;
  }

  /** Tables that are missing or broken are left out. */
  static of(elf: Elf): UnwindTable {
    const parts: FrameSection[] = [];
    for (const open of [runtimeSection, (file: Elf) => debugSection(file, file), separateSection]) {
      const part = unlessBroken(() => open(elf));
      if (part) parts.push(part);
    }
    return new UnwindTable(parts);
  }

  /** How to unwind from an address; undefined when the tables do not say. */
  row(address: number): UnwindRow | undefined {
    let row = this.#rows.get(address);
    if (row === undefined) {
      row = this.#find(address);
      if (this.#rows.size >= MOST_ROWS) this.#rows.clear();
      this.#rows.set(address, row);
    }
    return row ?? undefined;
  }

  #find(address: number): UnwindRow | null {
    for (const part of this.#parts) {
      const row = unlessBroken(() => part.row(address));
      if (row) return row;
    }
    return null;
  }

  /** The function that the tables say an address lies in, named or not. */
  functionAt(address: number): { from: number; to: number } | undefined {
    for (const part of this.#parts) {
      const found = unlessBroken(() => part.find(address));
      if (found) return { from: found.from, to: found.to };
    }
    return undefined;
  }
}

// ---------------------------------------------------------------- where the tables are

function runtimeSection(elf: Elf): FrameSection | undefined {
  const found = runtimeFrames(elf);
  return found && new FrameSection(found.frames, found.sorted);
}

function debugSection(elf: Elf, from: Elf): FrameSection | undefined {
  const section = from.section(".debug_frame") ?? from.section(".zdebug_frame");
  if (!section || section.size === 0 || elf.bits !== 64) return undefined;
  return new FrameSection(new Frames(new DwarfBytes(from.bytes(section)), "debug", 0));
}

function separateSection(elf: Elf): FrameSection | undefined {
  return elf.debugFile && debugSection(elf, elf.debugFile);
}

// ---------------------------------------------------------------- what they say

class FrameSection {
  readonly #frames: Frames;
  readonly #sorted: SortedTable | undefined;
  #functions: readonly { readonly from: number; readonly at: number }[] | undefined;

  constructor(frames: Frames, sorted?: SortedTable) {
    this.#frames = frames;
    this.#sorted = sorted;
  }

  row(address: number): UnwindRow | undefined {
    const part = this.find(address);
    return part && rowAt(part, address, this.#frames.data);
  }

  find(address: number): FunctionPart | undefined {
    const at = this.#sorted
      ? subtract(this.#sorted.entryOf(address), this.#frames.bytes.address)
      : this.#entryBefore(address);
    const part = at === undefined ? undefined : this.#frames.entry(at);
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

  #readAll(): { from: number; at: number }[] {
    const all: { from: number; at: number }[] = [];
    this.#frames.each(({ from }, at) => {
      if (from !== 0) all.push({ from, at });
    });
    return all.sort((a, b) => a.from - b.from);
  }
}

function subtract(value: number | undefined, by: number): number | undefined {
  return value === undefined ? undefined : value - by;
}
