/** The character encoding of a file. `latin-1` is the fallback for files that are neither UTF-8 nor UTF-16 nor binary. */
export type Encoding = "utf-8" | "utf-8-bom" | "utf-16le" | "utf-16be" | "latin-1";

/** Enough bytes to recognise the kind of a file. */
export const HEAD = 8192;

const BOMS: readonly (readonly [Encoding, readonly number[]])[] = [
  ["utf-8-bom", [0xef, 0xbb, 0xbf]],
  ["utf-16le", [0xff, 0xfe]],
  ["utf-16be", [0xfe, 0xff]],
];

/** Guesses from the first bytes. UTF-8 must still be confirmed by its decoder. Undefined: binary. */
export function sniff(head: Buffer): Encoding | undefined {
  const marked = BOMS.find(([, bom]) => bom.every((byte, i) => head[i] === byte));
  if (marked && !(marked[0] === "utf-16le" && head[2] === 0 && head[3] === 0)) return marked[0];
  return fileType(head) !== undefined || head.includes(0) ? undefined : "utf-8";
}

/** Magic numbers of file formats. */
const TYPES: readonly (readonly [type: string, start: string])[] = [
  ["ELF program or library", "\x7fELF"],
  ["PNG image", "\x89PNG"],
  ["JPEG image", "\xff\xd8\xff"],
  ["GIF image", "GIF8"],
  ["WebP, WAV or AVI", "RIFF"],
  ["PDF document", "%PDF-"],
  ["ZIP archive, or a document or package made of one", "PK\x03\x04"],
  ["gzip archive", "\x1f\x8b"],
  ["bzip2 archive", "BZh"],
  ["xz archive", "\xfd7zXZ"],
  ["zstd archive", "\x28\xb5\x2f\xfd"],
  ["7-Zip archive", "7z\xbc\xaf"],
  ["SQLite database", "SQLite format 3\0"],
  ["WebAssembly module", "\0asm"],
  ["Java class", "\xca\xfe\xba\xbe"],
  ["Ogg media", "OggS"],
  ["MP3 audio", "ID3"],
];

export function fileType(head: Buffer): string | undefined {
  const start = head.toString("latin1", 0, 32);
  return TYPES.find(([, its]) => start.startsWith(its))?.[0];
}

const WINDOWS = new TextDecoder("windows-1252");
/** The 32 characters that windows-1252 has where ISO 8859-1 has control characters, by byte. */
const EXTRA = new Map(
  Array.from({ length: 32 }, (_, i) => [WINDOWS.decode(Uint8Array.of(0x80 + i)), 0x80 + i] as const),
);

interface Decoder {
  /** Throws a TypeError on bytes that are invalid in this encoding. */
  decode(bytes?: Uint8Array, options?: { stream?: boolean }): string;
}

/** The byte order mark is not part of the text. */
export function decoder(encoding: Encoding): Decoder {
  if (encoding === "latin-1") return new TextDecoder("windows-1252");
  return new TextDecoder(encoding === "utf-8-bom" ? "utf-8" : encoding, { fatal: true });
}

export interface DecodedFile {
  readonly text: string;
  readonly encoding: Encoding;
}

/** Undefined: binary. */
export function decodeFile(bytes: Buffer): DecodedFile | undefined {
  const encoding = sniff(bytes.subarray(0, HEAD));
  if (encoding === undefined) return undefined;
  try {
    return { text: decoder(encoding).decode(bytes), encoding };
  } catch {
    return { text: decoder("latin-1").decode(bytes), encoding: "latin-1" };
  }
}

/** Rejects lone surrogates: no encoding has bytes for them. */
export function isWhole(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

/** Undefined when the encoding has no bytes for some character of the text. */
export function encodeFile(text: string, encoding: Encoding): Buffer | undefined {
  const bom = BOMS.find(([name]) => name === encoding)?.[1] ?? [];
  const body = encodeBody(text, encoding);
  return body && Buffer.concat([Buffer.from(bom), body]);
}

function encodeBody(text: string, encoding: Encoding): Buffer | undefined {
  switch (encoding) {
    case "utf-8":
    case "utf-8-bom":
      return Buffer.from(text, "utf8");
    case "utf-16le":
      return Buffer.from(text, "utf16le");
    case "utf-16be":
      return Buffer.from(text, "utf16le").swap16();
    case "latin-1": {
      const codes = Array.from(text, byteOf);
      return codes.every((code) => code < 0x100) ? Buffer.from(codes) : undefined;
    }
  }
}

function byteOf(character: string): number {
  const code = character.codePointAt(0)!;
  return EXTRA.get(character) ?? (code >= 0x80 && code < 0xa0 ? Number.POSITIVE_INFINITY : code);
}
