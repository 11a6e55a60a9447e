import { rereadOf } from "../abi/index.js";
import { type Address, encodeAddress, familyNumber, formatAddress, parseAddress } from "../address.js";
import type { DecodedCall } from "../decode/call.js";
import { ANSWER } from "../kernel/layout.js";
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
  for (const [index, value] of changesOf(event, change)) {
    if (typeof value === "number" || typeof value === "bigint") changeRegister(event, index, value, answer);
    else if (answer.action === ANSWER.act) replaceSeen(event, index, toBytes(value), answer, acting);
    else replacePointed(event, index, toBytes(value), answer);
  }
  if (change.result !== undefined)
    throw new NotPossible("a result can only be changed on return: put the handler under `returns`");
}

/** Paths first: they begin the answer anew. */
function changesOf(event: DecodedCall, { args = {} }: Change) {
  const all = Object.entries(args).map(([key, value]) => [argumentIndex(event, key), value] as const);
  const isPath = (index: number) => event.call.args[index]?.kind === "path";
  return all.sort(([a], [b]) => Number(isPath(b)) - Number(isPath(a)));
}

/** What a call that is made in the program's place falls on was found when it was decided on, and stays. */
function changeRegister(event: DecodedCall, index: number, value: number | bigint, answer: Answer): void {
  const { kind } = event.call.args[index] ?? {};
  const isPlace =
    kind === "path" || kind === "dirfd" || kind === "sockaddr" || kind === "msghdr" || kind === "mmsghdr";
  if (answer.action === ANSWER.act && (isPlace || (kind === "fd" && event.changesDescriptor)))
    throw new NotPossible(
      `argument ${event.call.args[index]!.name} of ${event.name} says what it falls on: redirect the call instead`,
    );
  answer.register(index, value);
}

/** The same for a call that is made in the program's place: it reads these bytes instead of the program's memory. */
function replaceSeen(
  event: DecodedCall,
  index: number,
  bytes: Uint8Array,
  answer: Answer,
  acting: Acting,
): void {
  const argument = event.call.args[index];
  if (argument?.kind === "path") {
    redirectPath(event, index, bytes, answer, acting);
    return;
  }
  if (index === event.shape.how) answer.how(bytes);
  else if (argument?.kind === "string")
    event.replace(event.argument(index), Buffer.concat([bytes, Buffer.of(0)]));
  else if (argument?.kind === "buffer" || argument?.kind === "struct" || argument?.kind === "address") {
    event.replace(event.argument(index), bytes);
    if (argument.length !== undefined && !argument.lengthIsPointer)
      answer.register(argument.length, bytes.length);
  } else
    throw new NotPossible(
      `argument ${argument?.name ?? index} of ${event.name} can only be changed by a redirect`,
    );
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
    if (rereadOf(event.call) === "refused")
      throw new NotPossible(`${event.name} reads its path again: another thread could put the old one back`);
    replacePointed(event, path, to, answer);
    return;
  }
  event.redirectPath(to, event.shape.paths.indexOf(path));
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
  const isAct = answer.action === ANSWER.act;
  if (argument.kind === "buffer") {
    if (isAct) event.replace(event.argument(data), bytes);
    else answer.pointer(data, bytes);
    answer.register(argument.length!, bytes.length);
    if (bytes.length !== asked) after.wrote = { asked, given: bytes.length };
    return;
  }
  if (bytes.length !== asked)
    throw new NotPossible(
      `the data of ${event.name} lies in several pieces: only as many bytes (${asked}) can take its place`,
    );
  let from = 0;
  for (const piece of pieces) {
    const part = bytes.subarray(from, from + piece.length);
    if (isAct) event.replace(piece.address, part);
    else overwrite(event, piece.address, part, answer, after);
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
