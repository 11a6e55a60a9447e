import type { Argument, Syscall } from "../../abi/index.js";
import type { Stop } from "../binding/stop.js";
import {
  messageHeaders,
  type Piece,
  readMessageHeader,
  readString,
  readStrings,
  readVectors,
} from "./memory.js";
import type { Snapshot } from "./snapshot.js";

/** A stopped call: its registers, and the memory read so far. */
export interface StoppedMemory {
  readonly call: Syscall;
  readonly stop: Stop;
  readonly snapshot: Snapshot;
}

/** The addresses of the message headers of a sendmsg or sendmmsg. */
export function messageHeadersOf(stop: Stop, { kind, length }: Argument, i: number): bigint[] {
  return messageHeaders(kind, stop.exact(i), kind === "msghdr" ? 1 : stop.uint(length!));
}

/** The pieces of an argument's bytes in the caller's memory; only the first `filled` bytes count. */
export function argumentPieces(
  at: StoppedMemory,
  i: number,
  filled = Number.MAX_SAFE_INTEGER,
): Piece[] | undefined {
  const { stop } = at;
  const argument = at.call.args[i]!;
  if (stop.isNull(i)) return undefined;
  const address = stop.exact(i);
  if (argument.kind === "iovec" || argument.kind === "msghdr" || argument.kind === "mmsghdr")
    return cut(vectorsOf(at, argument, i, address), filled);
  const size = argument.kind === "struct" && argument.size ? argument.size : lengthOf(at, argument);
  return size === undefined ? undefined : [{ address, length: Math.min(size, filled) }];
}

function lengthOf({ stop, snapshot }: StoppedMemory, argument: Argument): number | undefined {
  if (argument.length === undefined) return argument.size;
  if (!argument.lengthIsPointer) return stop.ulong(argument.length);
  return snapshot.exactly(stop.exact(argument.length), 4)?.readUInt32LE();
}

function vectorsOf(at: StoppedMemory, argument: Argument, i: number, address: bigint): Piece[] | undefined {
  const { stop, snapshot } = at;
  if (argument.kind === "iovec") return readVectors(snapshot, address, stop.ulong(argument.length!));
  const pieces: Piece[] = [];
  for (const place of messageHeadersOf(stop, argument, i)) {
    const header = readMessageHeader(snapshot, place);
    const vectors = header && readVectors(snapshot, header.vectors, header.vectorCount);
    if (!vectors) return undefined;
    pieces.push(...vectors);
  }
  return pieces;
}

function cut(pieces: Piece[] | undefined, filled: number): Piece[] | undefined {
  let left = filled;
  return pieces?.flatMap((piece) => {
    const length = Math.min(piece.length, left);
    left -= length;
    return length > 0 ? [{ address: piece.address, length }] : [];
  });
}

/** The decoded target of a pointer, where it is more than bytes. */
export function pointedValue(
  at: StoppedMemory,
  { kind, length }: Argument,
  i: number,
  limit: number,
): unknown {
  const { stop, snapshot } = at;
  const address = stop.exact(i);
  if (kind === "string") return readString(snapshot, address, 4096);
  if (kind === "argv") return readStrings(snapshot, address);
  if (kind === "iovec")
    return readVectors(snapshot, address, stop.ulong(length!))?.map((piece) => {
      const bytes = snapshot.read(piece.address, Math.min(piece.length, limit));
      return bytes && Buffer.from(bytes);
    });
  const bytes = snapshot.read(address, 8); // two descriptors
  return bytes?.length === 8 ? [bytes.readInt32LE(0), bytes.readInt32LE(4)] : [];
}
