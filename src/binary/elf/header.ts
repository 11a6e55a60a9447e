import { HermesError } from "../../nouns/errors.js";
import { Fields, nameAt } from "./fields.js";
import { type Section, type Segment, SHT_NOBITS, segmentType } from "./sections.js";
import type { ElfSource } from "./source.js";

/** The file's own tables. Errors that do not stop the reader go to `problems`. */
export interface Tables {
  readonly wide: boolean;
  readonly little: boolean;
  readonly machine: number;
  readonly kind: number;
  readonly entry: number;
  readonly segments: readonly Segment[];
  readonly sections: readonly Section[];
  readonly problems: readonly string[];
  /** Where the tables themselves end in the file. */
  readonly end: number;
}

/** More sections than the largest real files have; a file that says more is not read further. */
const MOST_SECTIONS = 200_000;

/** The kernel starts no program with more of program headers than this. */
const MOST_HEADERS = 65536;
const CORE = 4;

export function readTables(source: ElfSource, file: string): Tables {
  const head = source.read(0, 64);
  if (head.length < 4 || head[0] !== 0x7f || head[1] !== 0x45 || head[2] !== 0x4c || head[3] !== 0x46)
    throw new HermesError("ELF_KIND", { file });
  const broken = (message: string) => new HermesError("ELF_BROKEN", { file, message });
  if (head.length < 16) throw broken("it ends within the header");
  const wide = head[4] === 2;
  const little = head[5] === 1;
  if (!wide && head[4] !== 1) throw broken(`its class is ${head[4]}, neither 32 nor 64 bit`);
  if (!little && head[5] !== 2) throw broken(`its byte order is ${head[5]}, neither little nor big endian`);
  if (head.length < (wide ? 64 : 52)) throw broken("it ends within the header");

  const problems: string[] = [];
  const fields = new Fields(head, wide, little);
  const width = wide ? 8 : 4;
  const after = 24 + 3 * width; // entry, program headers, section headers
  const place: Place = {
    segmentsAt: fields.word(24 + width),
    sectionsAt: fields.word(24 + 2 * width),
    segmentSize: fields.u16(after + 6),
    segmentCount: fields.u16(after + 8),
    sectionSize: fields.u16(after + 10),
    sectionCount: fields.u16(after + 12),
    namesIndex: fields.u16(after + 14),
  };
  const table = (at: number, length: number) => new Fields(source.read(at, length), wide, little);
  const sections = readSections(place, source.size, table, problems);
  return {
    wide,
    little,
    machine: fields.u16(18),
    kind: fields.u16(16),
    entry: fields.word(24),
    segments: readSegments(place, source.size, table, problems, fields.u16(16) === CORE, broken),
    sections,
    problems,
    end: Math.max(
      place.segmentsAt + place.segmentCount * place.segmentSize,
      place.sectionsAt + sections.length * place.sectionSize,
    ),
  };
}

interface Place {
  readonly segmentsAt: number;
  readonly sectionsAt: number;
  readonly segmentSize: number;
  readonly segmentCount: number;
  readonly sectionSize: number;
  readonly sectionCount: number;
  readonly namesIndex: number;
}

type Table = (at: number, length: number) => Fields;

function readSegments(
  place: Place,
  size: number,
  table: Table,
  problems: string[],
  isCore: boolean,
  broken: (message: string) => HermesError,
): Segment[] {
  const { segmentsAt: at, segmentSize: each, segmentCount: count } = place;
  if (count === 0) return [];
  const fields = table(at, 0);
  if (each !== (fields.wide ? 56 : 32)) throw broken(`its program headers are ${each} bytes each`);
  if (at + count * each > size) throw broken("its program headers are outside the file");
  if (!isCore && count * each > MOST_HEADERS) throw broken(`it has ${count} program headers`);
  const all = table(at, count * each);
  const segments: Segment[] = [];
  for (let i = 0; i < count; i++) {
    const segment = readSegment(all, i * each);
    if (!Number.isFinite(segment.address + segment.memorySize + segment.offset + segment.fileSize)) {
      problems.push(`segment ${i} lies outside any address that a program can have`);
      continue;
    }
    if (segment.offset + segment.fileSize > size) problems.push(`segment ${i} ends outside the file`);
    segments.push(segment);
  }
  return segments;
}

function readSegment(all: Fields, at: number): Segment {
  const wide = all.wide;
  return {
    type: segmentType(all.u32(at)),
    flags: all.u32(at + (wide ? 4 : 24)),
    offset: all.word(at + (wide ? 8 : 4)),
    address: all.word(at + (wide ? 16 : 8)),
    fileSize: all.word(at + (wide ? 32 : 16)),
    memorySize: all.word(at + (wide ? 40 : 20)),
  };
}

/** Section headers are not needed to run a program: a broken table is as good as none. */
function readSections(place: Place, size: number, table: Table, problems: string[]): Section[] {
  const { sectionsAt: at, sectionSize: each } = place;
  if (at === 0) return [];
  const expected = table(0, 0).wide ? 64 : 40;
  if (each !== expected || at + each > size) {
    problems.push("its section headers cannot be read");
    return [];
  }
  const first = readSection(table(at, each), 0);
  const count = place.sectionCount === 0 ? first.size : place.sectionCount;
  const namesIndex = place.namesIndex === 0xffff ? first.link : place.namesIndex;
  if (count > MOST_SECTIONS || at + count * each > size) {
    problems.push("its section headers are outside the file");
    return [];
  }
  const all = table(at, count * each);
  if (all.length < count * each) return [];
  const raw = Array.from({ length: count }, (_, i) => readSection(all, i * each));
  const naming = raw[namesIndex];
  const strings = naming === undefined ? new Uint8Array() : table(naming.offset, naming.size).bytes;
  return raw.map((section, i) => checkedSection(section, i, strings, size, problems));
}

type RawSection = Omit<Section, "name"> & { readonly nameAt: number };

function readSection(all: Fields, at: number): RawSection {
  const width = all.wide ? 8 : 4;
  return {
    nameAt: all.u32(at),
    type: all.u32(at + 4),
    flags: all.word(at + 8),
    address: all.word(at + 8 + width),
    offset: all.word(at + 8 + 2 * width),
    size: all.word(at + 8 + 3 * width),
    link: all.u32(at + 8 + 4 * width),
    info: all.u32(at + 12 + 4 * width),
    entrySize: all.word(at + 16 + 5 * width),
  };
}

function checkedSection(raw: RawSection, i: number, strings: Uint8Array, size: number, problems: string[]) {
  const { nameAt: at, ...rest } = raw;
  const section: Section = { ...rest, name: nameAt(strings, at) ?? "" };
  if (section.type !== SHT_NOBITS && section.type !== 0 && !(section.offset + section.size <= size)) {
    problems.push(`section ${i} ${section.name} ends outside the file`);
    return { ...section, size: Math.max(0, Math.min(section.size, size - Math.min(section.offset, size))) };
  }
  if (!Number.isFinite(section.address + section.size)) {
    problems.push(`section ${i} ${section.name} lies outside any address that a program can have`);
    return { ...section, address: 0, size: Number.isFinite(section.size) ? section.size : 0 };
  }
  return section;
}
