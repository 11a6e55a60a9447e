import { constants, deflateSync, inflateSync } from "node:zlib";
import type { BlockEncoder } from "./codec.js";

/**
 * The binary form of a trace: MAGIC, then blocks, each with a header that says how long it is, how many records it
 * holds and from when they are; at the end an index of all blocks, and where it starts. Without the end, which a crash
 * may have cut off, whoever reads goes from block to block.
 */

export const MAGIC = Buffer.from("HTRACE1\n");
const BLOCK_MARK = 0x4b4c4248; // "HBLK"
const INDEX_MARK = 0x58444948; // "HIDX"
const END = Buffer.from("HTREND1\n");

/** mark, stored length, length, records: u32; from, to: f64. */
export const BLOCK_HEADER = 32;
/** offset of the index: f64; END. */
export const TRAILER = 16;
/** offset, from, to: f64; records: f64. */
const INDEX_ENTRY = 32;

/** A block longer than this was not written by us. */
const MAX_BLOCK = 256 * 1024 * 1024;

export interface BlockPlace {
  /** Where its header starts. */
  readonly offset: number;
  readonly records: number;
  /** The earliest and the latest time of its records. */
  readonly from: number;
  readonly to: number;
}

export interface BlockHeader extends Omit<BlockPlace, "offset"> {
  readonly kind: "block" | "index";
  readonly stored: number;
  readonly length: number;
}

/** Header and compressed bytes of what the encoder holds; the encoder is empty then. */
export function packBlock(encoder: BlockEncoder): Buffer[] {
  const { records, from, to } = encoder;
  const raw = encoder.take();
  const stored = deflateSync(raw, { level: constants.Z_BEST_SPEED });
  return [header(BLOCK_MARK, stored.length, raw.length, { records, from, to }), stored];
}

export function packIndex(offset: number, blocks: readonly BlockPlace[]): Buffer[] {
  const index = Buffer.alloc(blocks.length * INDEX_ENTRY);
  for (const [i, block] of blocks.entries()) {
    const fields = [block.offset, block.from, block.to, block.records];
    for (const [k, field] of fields.entries()) index.writeDoubleLE(field, i * INDEX_ENTRY + k * 8);
  }
  const trailer = Buffer.concat([Buffer.alloc(8), END]);
  trailer.writeDoubleLE(offset);
  const nothing = { records: 0, from: 0, to: 0 };
  return [header(INDEX_MARK, index.length, index.length, nothing), index, trailer];
}

function header(
  mark: number,
  stored: number,
  length: number,
  { records, from, to }: Omit<BlockPlace, "offset">,
): Buffer {
  const bytes = Buffer.alloc(BLOCK_HEADER);
  bytes.writeUInt32LE(mark, 0);
  bytes.writeUInt32LE(stored, 4);
  bytes.writeUInt32LE(length, 8);
  bytes.writeUInt32LE(records, 12);
  bytes.writeDoubleLE(from, 16);
  bytes.writeDoubleLE(to, 24);
  return bytes;
}

/** Undefined when there is no such header. */
export function readBlockHeader(bytes: Buffer): BlockHeader | undefined {
  const mark = bytes.readUInt32LE(0);
  const stored = bytes.readUInt32LE(4);
  const length = bytes.readUInt32LE(8);
  if ((mark !== BLOCK_MARK && mark !== INDEX_MARK) || stored > MAX_BLOCK || length > MAX_BLOCK)
    return undefined;
  return {
    kind: mark === BLOCK_MARK ? "block" : "index",
    stored,
    length,
    records: bytes.readUInt32LE(12),
    from: bytes.readDoubleLE(16),
    to: bytes.readDoubleLE(24),
  };
}

/** Throws when the bytes are damaged: zlib's checksum covers them. */
export function unpackBlock(stored: Buffer, { length }: BlockHeader): Buffer {
  return inflateSync(stored, { maxOutputLength: Math.max(length, 1) });
}

/** Where the index starts, as the last bytes of a file say. */
export function readTrailer(bytes: Buffer): number | undefined {
  return bytes.subarray(8).equals(END) ? bytes.readDoubleLE(0) : undefined;
}

export function readIndex(bytes: Buffer): BlockPlace[] {
  return Array.from({ length: Math.floor(bytes.length / INDEX_ENTRY) }, (_, i) => ({
    offset: bytes.readDoubleLE(i * INDEX_ENTRY),
    from: bytes.readDoubleLE(i * INDEX_ENTRY + 8),
    to: bytes.readDoubleLE(i * INDEX_ENTRY + 16),
    records: bytes.readDoubleLE(i * INDEX_ENTRY + 24),
  }));
}
