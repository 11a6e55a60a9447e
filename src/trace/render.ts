import { formatFlags, signalName } from "../abi/index.js";
import { formatAddress } from "../address.js";
import type { DecodedCall } from "../decode/call.js";
import { decodeText } from "../text.js";
import type { Rendered } from "./records.js";

const AT_FDCWD = -100;
const MAX_STRUCT = 64;

const isOut = (direction: string | undefined) => direction === "out" || direction === "inout";

/** The arguments of a call as they go into a trace: names for numbers, text for pointers, lengths kept. */
export function renderArguments(event: DecodedCall, limit: number): Record<string, Rendered> {
  const rendered: Record<string, Rendered> = {};
  event.call.args.forEach((argument, i) => {
    if (!isOut(argument.direction)) rendered[argument.name] = renderArgument(event, i, limit);
  });
  return rendered;
}

/** What the call put out, once it has returned. */
export function renderOutputs(event: DecodedCall, limit: number): Record<string, Rendered> {
  const rendered: Record<string, Rendered> = {};
  if (event.result < 0) return rendered;
  event.call.args.forEach((argument, i) => {
    if (isOut(argument.direction) && argument.kind !== "address")
      rendered[argument.name] = renderArgument(event, i, limit);
  });
  return rendered;
}

function renderArgument(event: DecodedCall, i: number, limit: number): Rendered {
  const { stop } = event;
  const argument = event.call.args[i]!;
  switch (argument.kind) {
    case "dirfd":
      return stop.int(i) === AT_FDCWD ? "AT_FDCWD" : stop.int(i);
    case "flags":
      return argument.flags === undefined
        ? `0x${stop.exact(i).toString(16)}`
        : formatFlags(argument.flags, argument.width === 32 ? stop.uint(i) : stop.exact(i));
    case "mode":
      return `0${stop.uint(i).toString(8)}`;
    case "signal":
      return signalName(stop.int(i)) ?? stop.int(i);
    case "address":
      return `0x${stop.exact(i).toString(16)}`;
    case "sockaddr": {
      const address = event.address;
      return address ? formatAddress(address) : null;
    }
    case "argv":
      return (i === event.shape.env ? event.env?.length : event.argv) ?? null;
    case "fds":
      return String(event.value(i));
    case "buffer":
    case "iovec":
    case "msghdr":
    case "mmsghdr":
      return renderBytes(event, i, limit);
    case "struct": {
      const bytes = stop.isNull(i) ? undefined : (event.value(i) as Uint8Array | undefined);
      return bytes ? Buffer.from(bytes).toString("hex", 0, MAX_STRUCT) : null;
    }
    default: {
      const value = event.value(i) as string | number | bigint | undefined;
      return typeof value === "bigint" ? `0x${value.toString(16)}` : (value ?? null);
    }
  }
}

function renderBytes(event: DecodedCall, i: number, limit: number): Rendered {
  const pieces = event.filledPieces(i);
  if (!pieces) return null;
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const bytes = event.readPieces(pieces, limit);
  if (!bytes) return null;
  return bytes.length === length ? decodeText(bytes) : { start: decodeText(bytes), length };
}
