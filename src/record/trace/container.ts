import { constants, deflateSync, inflateSync } from "node:zlib";
import type { BlockEncoder } from "./codec.js";

/**
 * The binary form of a trace: MAGIC, then blocks. The header of each says how long it is, how many records it holds and
 * from when they are, so a reader can skip blocks. Older files end in an index of all blocks.
 */

export const MAGIC = Buffer.from("HTRACE1\n");
const BLOCK_MARK = 0x4b4c4248; // "HBLK"
const INDEX_MARK = 0x58444948; // "HIDX"

/** mark, stored length, length, records: u32; from, to: f64. */
export const BLOCK_HEADER = 32;

/** A block longer than this was not written by us. */
const MAX_BLOCK = 256 * 1024 * 1024;

export interface BlockHeader {
  /** Nothing follows an index, and no reader needs it. */
  readonly kind: "block" | "index";
  readonly stored: number;
  readonly length: number;
  readonly records: number;
  /** The earliest and the latest time of its records. */
  readonly from: number;
  readonly to: number;
}

/** Header and compressed bytes of what the encoder holds; the encoder is empty then. */
export function packBlock(encoder: BlockEncoder): Buffer[] {
  const { records, from, to } = encoder;
  const raw = encoder.take();
  const stored = deflateSync(raw, { level: constants.Z_BEST_SPEED });
  const header = Buffer.alloc(BLOCK_HEADER);
  header.writeUInt32LE(BLOCK_MARK, 0);
  header.writeUInt32LE(stored.length, 4);
  header.writeUInt32LE(raw.length, 8);
  header.writeUInt32LE(records, 12);
  header.writeDoubleLE(from, 16);
  header.writeDoubleLE(to, 24);
  return [header, stored];
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
