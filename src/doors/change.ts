import { type Address, encodeAddress, familyNumber, formatAddress, parseAddress } from "../address.js";
import type { DecodedCall } from "../decode/call.js";
import type { Answer } from "../kernel/stop.js";
import { decodeText, encodeText } from "../text.js";
import type { Change } from "../verdict.js";
import { type Acting, BY_LISTENER, makeInItsPlace } from "./act.js";
import { type AfterCall, NotPossible } from "./door.js";
import { argumentIndex, toBytes } from "./refuse.js";

/** Changes to a call that is let through: for the door that can rewrite registers and memory. */
export function change(
  event: DecodedCall,
  change: Change,
  answer: Answer,
  after: AfterCall,
  acting: Acting = BY_LISTENER,
): void {
  if (change.to !== undefined) redirect(event, change.to, answer, acting);
  if (change.data !== undefined) replaceData(event, toBytes(change.data), answer, after);
  for (const [key, value] of Object.entries(change.args ?? {})) {
    const index = argumentIndex(event, key);
    if (typeof value === "number" || typeof value === "bigint") answer.register(index, value);
    else replacePointed(event, index, toBytes(value), answer);
  }
  if (change.result !== undefined)
    throw new NotPossible("a result can only be changed on return: put the handler under `returns`");
}

function redirect(
  event: DecodedCall,
  to: string | Uint8Array | Address,
  answer: Answer,
  acting: Acting,
): void {
  const isAddress = typeof to === "object" && !(to instanceof Uint8Array);
  const [path] = event.shape.paths;
  if (path !== undefined && !isAddress) {
    redirectPath(event, path, toBytes(to), answer, acting);
    return;
  }
  if (event.shape.address < 0 && event.shape.message < 0)
    throw new NotPossible(`${event.name} takes neither a path nor an address that could be redirected`);
  const address = isAddress ? to : parseAddress(typeof to === "string" ? to : decodeText(to));
  if (!address) throw new NotPossible(`"${to}" is not an address: write host:port, [v6]:port or unix:/path`);
  redirectAddress(event, address, answer, acting);
}

function redirectPath(
  event: DecodedCall,
  path: number,
  to: Uint8Array,
  answer: Answer,
  acting: Acting,
): void {
  if (to.includes(0)) throw new NotPossible("a path holds no NUL byte");
  if (!acting(event.call)) {
    replacePointed(event, path, to, answer);
    return;
  }
  event.redirectPath(to);
  makeInItsPlace(event, answer, []);
}

/** The socket's family is fixed: the new address must be one that such a socket can reach. */
function redirectAddress(event: DecodedCall, to: Address, answer: Answer, acting: Acting): void {
  const asked = event.address;
  if (!asked) throw new NotPossible(`this ${event.name} carries no address to be redirected`);
  const bytes = encodeAddress(to, familyNumber(asked));
  if (!bytes)
    throw new NotPossible(
      `a socket for ${formatAddress(asked)} (${asked.family}) cannot be redirected to ${formatAddress(to)} (${to.family}): the address family differs`,
    );
  if (!acting(event.call)) {
    if (event.shape.address < 0) throw new NotPossible(`${event.name} cannot be redirected without a filter`);
    replacePointed(event, event.shape.address, bytes, answer);
    return;
  }
  if (to.family === "unix" && !to.abstract) event.redirectPath(encodeText(to.path));
  makeInItsPlace(event, answer, [bytes, ...event.names.slice(1)]);
}

function replacePointed(event: DecodedCall, index: number, bytes: Uint8Array, answer: Answer): void {
  const argument = event.call.args[index];
  switch (argument?.kind) {
    case "path":
    case "string":
      if (bytes.includes(0)) throw new NotPossible("a path holds no NUL byte");
      answer.pointer(index, Buffer.concat([bytes, Buffer.of(0)]));
      return;
    case "address":
      answer.pointer(index, bytes);
      return;
    case "buffer":
    case "sockaddr":
    case "struct":
      if (argument.direction === "inout" && argument.size === bytes.length) {
        answer.memory(event.argument(index), bytes); // the kernel's own writing must arrive there too
        return;
      }
      answer.pointer(index, bytes);
      if (argument.length !== undefined && !argument.lengthIsPointer)
        answer.register(argument.length, bytes.length);
      return;
    default:
      throw new NotPossible(
        `argument ${argument?.name ?? index} of ${event.name} does not point at text or bytes`,
      );
  }
}

function replaceData(event: DecodedCall, bytes: Uint8Array, answer: Answer, after: AfterCall): void {
  const { data } = event.shape;
  const argument = event.call.args[data];
  if (!argument) throw new NotPossible(`${event.name} writes no data`);
  const pieces = event.dataPieces() ?? [];
  const asked = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (argument.kind === "buffer") {
    answer.pointer(data, bytes).register(argument.length!, bytes.length);
    if (bytes.length !== asked) after.wrote = { asked, given: bytes.length };
    return;
  }
  if (bytes.length !== asked)
    throw new NotPossible(
      `the data of ${event.name} lies in several pieces: only as many bytes (${asked}) can take its place`,
    );
  let from = 0;
  for (const piece of pieces) {
    overwrite(event, piece.address, bytes.subarray(from, from + piece.length), answer, after);
    from += piece.length;
  }
}

/** Changes the program's own memory for the duration of the call. */
function overwrite(
  event: DecodedCall,
  address: bigint,
  bytes: Uint8Array,
  answer: Answer,
  after: AfterCall,
): void {
  const before = event.memory.read(address, bytes.length);
  if (before?.length !== bytes.length) throw new NotPossible("the memory to be changed cannot be read");
  answer.memory(address, bytes);
  after.restore.push({ address, bytes: before });
}
