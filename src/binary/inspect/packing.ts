import { counted } from "../../nouns/counted.js";
import { type Elf, PF_X } from "../elf/index.js";

/** How random the bytes of a part are: 8 bits a byte is what compression and encryption leave. */
interface Density {
  readonly part: string;
  readonly size: number;
  readonly entropy: number;
}

export interface Packing {
  readonly parts: readonly Density[];
  /** What speaks for a packed, encrypted or bundled program. */
  readonly hints: readonly string[];
  /** Bytes behind everything that the file's own tables know. */
  readonly appended?: {
    readonly offset: number;
    readonly size: number;
    readonly entropy: number;
    readonly kind: string;
  };
}

const HIGH = 7.2;
const MOST_READ = 1 << 24;
const SMALL = 4096;
const MOST_PARTS = 64;

export function packingOf(elf: Elf): Packing {
  const loads = elf.segments.filter(({ type }) => type === "load").slice(0, MOST_PARTS);
  const parts = loads
    .filter(({ fileSize }) => fileSize > 0)
    .map(({ offset, fileSize, flags }, i) => ({
      part: `segment ${i} (${(flags & 4) === 0 ? "-" : "r"}${(flags & 2) === 0 ? "-" : "w"}${(flags & 1) === 0 ? "-" : "x"})`,
      size: fileSize,
      entropy: sampled(elf, offset, fileSize),
    }));
  const hints: string[] = [];
  if (isUpx(elf)) hints.push("packed with UPX: its marks and its layout");
  loads.forEach(({ flags, fileSize, memorySize }, i) => {
    const part = parts.find(({ part }) => part.startsWith(`segment ${i} `));
    if ((flags & PF_X) !== 0 && part !== undefined && part.entropy > HIGH && fileSize > SMALL)
      hints.push(`code is as dense as compressed data (${part.entropy.toFixed(2)} bits a byte)`);
    if ((flags & PF_X) !== 0 && memorySize > fileSize + (1 << 20))
      hints.push(
        `memory to run code in that the file does not fill (${counted(memorySize - fileSize, "byte")})`,
      );
  });
  if (elf.sections.length === 0 && elf.type !== "core") hints.push("no section headers");
  const entry = elf.segmentAt(elf.entry);
  if (elf.entry !== 0 && elf.type !== "relocatable" && (entry === undefined || (entry.flags & PF_X) === 0))
    hints.push("it starts where there is no code");
  const appended = appendedTo(elf);
  if (appended !== undefined) hints.push(`${counted(appended.size, "byte")} appended: ${appended.kind}`);
  return { parts, hints, ...(appended !== undefined && { appended }) };
}

/** UPX leaves "UPX!" in its header behind the program headers, and no section headers; programs that only name it have both. */
function isUpx(elf: Elf): boolean {
  if (elf.sections.length > 0) return false;
  const head = Buffer.from(elf.raw(0, 1024));
  const tail = Buffer.from(elf.raw(Math.max(0, elf.size - 64), 64));
  return head.includes("UPX!") || (tail.includes("UPX!") && elf.segments.length <= 4);
}

const BUNDLES: readonly (readonly [string, string])[] = [
  ["PK\x03\x04", "a zip archive"],
  ["hsqs", "a squashfs image (AppImage)"],
  ["7z\xbc\xaf\x27\x1c", "a 7-zip archive"],
  ["\x1f\x8b", "gzip data"],
  ["\xfd7zXZ", "xz data"],
  ["\x28\xb5\x2f\xfd", "zstd data"],
  ["\x7fELF", "another ELF file"],
];
const TRAILERS: readonly (readonly [string, string])[] = [
  ["MEI\x0c\x0b\x0a\x0b\x0e", "a Python program (PyInstaller)"],
  ["d3n0l4nd", "a Deno program"],
  ["---- Bun! ----", "a Bun program"],
];

function appendedTo(elf: Elf): Packing["appended"] {
  const tables = elf.tableEnd;
  const ends = [
    ...elf.segments.map(({ offset, fileSize }) => offset + fileSize),
    ...elf.sections.filter(({ type }) => type !== 8 && type !== 0).map(({ offset, size }) => offset + size),
  ];
  const end = ends.reduce((most, each) => Math.max(most, each), tables);
  const size = elf.size - end;
  if (!(size >= 64) || elf.type === "core") return undefined;
  const head = Buffer.from(elf.raw(end, 64)).toString("latin1");
  const tail = Buffer.from(elf.raw(Math.max(end, elf.size - 4096), 4096)).toString("latin1");
  const kind =
    TRAILERS.find(([mark]) => tail.includes(mark))?.[1] ??
    BUNDLES.find(([mark]) => head.startsWith(mark))?.[1] ??
    "of no known kind";
  return { offset: end, size, entropy: sampled(elf, end, size), kind };
}

/** Of all, or of 256 pieces when it is large. */
function sampled(elf: Elf, offset: number, size: number): number {
  const counts = new Uint32Array(256);
  const pieces = size <= MOST_READ ? 1 : 256;
  const piece = Math.floor(Math.min(size, MOST_READ) / pieces);
  let total = 0;
  for (let i = 0; i < pieces; i++) {
    const bytes = elf.raw(offset + Math.floor((size / pieces) * i), piece);
    for (let k = 0; k < bytes.length; k++) counts[bytes[k]!]!++;
    total += bytes.length;
  }
  let entropy = 0;
  for (const count of counts) if (count > 0) entropy -= (count / total) * Math.log2(count / total);
  return Math.round(entropy * 1000) / 1000;
}
