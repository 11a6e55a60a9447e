import * as zlib from "node:zlib";
import { HermesError } from "../../nouns/errors.js";
import type { Fields } from "./fields.js";

/** The largest section of debug information that is inflated. */
const MOST = 1 << 30;

/** What a compressed section holds (its first bytes say how, and how much there is). */
export function inflated(section: Fields, file: string, name: string): Uint8Array {
  const header = section.wide ? 24 : 12;
  const broken = (message: string) =>
    new HermesError("ELF_BROKEN", { file, message: `section ${name} ${message}` });
  if (section.length < header) throw broken("is compressed, but ends within its header");
  const size = section.word(section.wide ? 8 : 4);
  if (size > MOST) throw broken(`says that it inflates to ${size} bytes`);
  const inflate = method(section.u32(0));
  if (inflate === undefined)
    throw broken(`is compressed in a way (${section.u32(0)}) that this version of Node cannot read`);
  try {
    return inflate(section.bytes.subarray(header), { maxOutputLength: Math.max(1, size) });
  } catch (error) {
    throw broken(`cannot be inflated: ${(error as Error).message}`);
  }
}

type Inflate = (bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array;

function method(code: number): Inflate | undefined {
  if (code === 1) return zlib.inflateSync;
  // Node has it since 22.15.
  if (code === 2) return (zlib as { zstdDecompressSync?: Inflate }).zstdDecompressSync;
  return undefined;
}
