import type { Elf } from "./elf.js";

export interface Note {
  readonly owner: string;
  readonly type: number;
  readonly data: Uint8Array;
}

const SHT_NOTE = 7;
const PROPERTY = 5;
const MOST_NOTES = 4096;
const LONGEST = 1 << 20;
const MOST_PARTS = 256;

/** Of the segments, which the kernel reads too, and of sections (relocatable and debug files have no segments of notes). */
export function readNotes(elf: Elf): Note[] {
  const parts = [
    ...elf.segments
      .filter(({ type }) => type === "note")
      .map(({ offset, fileSize: size }) => ({ offset, size })),
    ...elf.sections.filter(({ type }) => type === SHT_NOTE),
  ];
  const seen = new Set<number>();
  const notes: Note[] = [];
  for (const { offset, size } of parts.slice(0, MOST_PARTS)) {
    const bytes = elf.raw(offset, Math.min(size, LONGEST));
    const fields = elf.fields(bytes);
    let at = 0;
    while (at + 12 <= bytes.length && notes.length < MOST_NOTES) {
      const nameSize = fields.u32(at);
      const dataSize = fields.u32(at + 4);
      const type = fields.u32(at + 8);
      const dataAt = at + 12 + aligned(nameSize, 4);
      if (dataAt + dataSize > bytes.length) break;
      const owner = Buffer.from(bytes.subarray(at + 12, at + 12 + nameSize)).toString("latin1");
      const note = {
        owner: owner.replace(/\0.*$/s, ""),
        type,
        data: bytes.subarray(dataAt, dataAt + dataSize),
      };
      if (!seen.has(offset + at)) notes.push(note);
      seen.add(offset + at);
      // Notes of properties are padded to eight bytes in 64-bit files; all others to four.
      const wide = note.owner === "GNU" && type === PROPERTY && elf.bits === 64;
      at = dataAt + aligned(dataSize, wide ? 8 : 4);
    }
  }
  return notes;
}

const aligned = (value: number, to: number) => Math.ceil(value / to) * to;
