import type { Argument } from "../abi/index.js";
import type { Stop } from "../kernel/stop.js";
import {
  messageHeaders,
  type Piece,
  readMemory,
  readMessageHeader,
  readString,
  readStrings,
  readVectors,
} from "./memory.js";

/** Where the message headers of a sendmsg or sendmmsg lie. */
export function headersOf(stop: Stop, { kind, length }: Argument, i: number): bigint[] {
  return messageHeaders(kind, stop.exact(i), kind === "msghdr" ? 1 : stop.uint(length!));
}

/** Where the bytes of an argument lie in the caller's memory, of which only so many count. */
export function piecesOf(stop: Stop, argument: Argument, i: number, filled: number): Piece[] | undefined {
  if (stop.isNull(i)) return undefined;
  const address = stop.exact(i);
  if (argument.kind === "iovec" || argument.kind === "msghdr" || argument.kind === "mmsghdr")
    return cut(vectorsOf(stop, argument, i, address), filled);
  const size = argument.kind === "struct" && argument.size ? argument.size : lengthOf(stop, argument);
  return size === undefined ? undefined : [{ address, length: Math.min(size, filled) }];
}

function lengthOf(stop: Stop, argument: Argument): number | undefined {
  if (argument.length === undefined) return argument.size;
  if (!argument.lengthIsPointer) return stop.ulong(argument.length);
  return readMemory(stop.tid, stop.exact(argument.length), 4)?.readUInt32LE();
}

function vectorsOf(stop: Stop, argument: Argument, i: number, address: bigint): Piece[] | undefined {
  if (argument.kind === "iovec") return readVectors(stop.tid, address, stop.ulong(argument.length!));
  const pieces: Piece[] = [];
  for (const at of headersOf(stop, argument, i)) {
    const header = readMessageHeader(stop.tid, at);
    const vectors = header && readVectors(stop.tid, header.vectors, header.vectorCount);
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

/** What a pointer leads to, where that is more than bytes. */
export function pointedValue(stop: Stop, { kind, length }: Argument, i: number, limit: number): unknown {
  const { tid } = stop;
  const at = stop.exact(i);
  if (kind === "string") return readString(tid, at, 4096);
  if (kind === "argv") return readStrings(tid, at);
  if (kind === "iovec")
    return readVectors(tid, at, stop.ulong(length!))?.map((piece) =>
      readMemory(tid, piece.address, Math.min(piece.length, limit)),
    );
  const bytes = readMemory(tid, at, 8); // two descriptors
  return bytes?.length === 8 ? [bytes.readInt32LE(0), bytes.readInt32LE(4)] : [];
}
