import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { HermesError } from "../../nouns/errors.js";

/** What a file is that is no ELF file, by its first bytes. */
const KINDS: readonly (readonly [at: number, bytes: string, what: string])[] = [
  [0, "MZ", "a Windows program (PE)"],
  [0, "\xfe\xed\xfa\xce", "a macOS program (Mach-O, 32 bit, big endian)"],
  [0, "\xfe\xed\xfa\xcf", "a macOS program (Mach-O, big endian)"],
  [0, "\xce\xfa\xed\xfe", "a macOS program (Mach-O, 32 bit)"],
  [0, "\xcf\xfa\xed\xfe", "a macOS program (Mach-O)"],
  [0, "!<arch>\n", "an archive of object files (ar)"],
  [0, "!<thin>\n", "a thin archive of object files (ar)"],
  [0, "PK\x03\x04", "a zip archive"],
  [0, "\x1f\x8b", "compressed (gzip)"],
  [0, "\xfd7zXZ\0", "compressed (xz)"],
  [0, "BZh", "compressed (bzip2)"],
  [0, "\x28\xb5\x2f\xfd", "compressed (zstd)"],
  [0, "7z\xbc\xaf\x27\x1c", "a 7-zip archive"],
  [257, "ustar", "a tar archive"],
  [0, "\0asm", "a WebAssembly module"],
  [0, "BC\xc0\xde", "LLVM bitcode"],
  [0, "dex\n", "Android code (DEX)"],
  [0, "hsqs", "a squashfs image"],
  [0, "%PDF-", "a PDF document"],
  [0, "SQLite format 3\0", "an SQLite database"],
  [0, "/* GNU ld script", "a script for the linker: it names the real library"],
];

/** Says what a file is, when it is not an ELF file. */
export function notElfError(path: string): HermesError {
  const head = headOf(path);
  const text = Buffer.from(head).toString("latin1");
  const shebang = /^#![ \t]*([^ \t\r\n\0]+)/.exec(text);
  const known = KINDS.find(([at, bytes]) => text.startsWith(bytes, at));
  const what =
    head.length === 0
      ? "empty"
      : shebang
        ? `a script for ${shebang[1]}: inspect that`
        : text.startsWith("\xca\xfe\xba\xbe")
          ? head[4] === 0 && head[5] === 0 && head[6] === 0 && head[7]! < 32
            ? "a macOS program for several machines (Mach-O)"
            : "a Java class"
          : (known?.[2] ?? (/^[\t\n\r\x20-\x7e\x80-\xff]*$/.test(text) ? "text" : "of no known kind"));
  return new HermesError("INSPECT", { file: path, what });
}

function headOf(path: string): Uint8Array {
  const fd = openSync(path, "r");
  try {
    if (!fstatSync(fd).isFile()) return new Uint8Array();
    const bytes = Buffer.alloc(512);
    return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(fd);
  }
}
