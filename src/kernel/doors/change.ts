import { rereadOf } from "../../abi/index.js";
import {
  type Address,
  encodeAddress,
  familyNumber,
  formatAddress,
  parseAddress,
} from "../../nouns/address.js";
import { decodeText, encodeText } from "../../nouns/text.js";
import type { CallChange } from "../../nouns/verdict.js";
import { ANSWER } from "../binding/layout.js";
import type { StopAnswer } from "../binding/stop.js";
import type { DecodedCall } from "../decode/call.js";
import { type AfterCall, NotPossible } from "./door.js";
import { makeOnBehalf, type OnBehalfTest, WITH_LISTENER } from "./on-behalf.js";
import { argumentIndex, toBytes } from "./refuse.js";

/** Applies changes to an allowed call, at the door that can rewrite registers and memory. */
export function change(
  event: DecodedCall,
  change: CallChange,
  answer: StopAnswer,
  after: AfterCall,
  onBehalf: OnBehalfTest = WITH_LISTENER,
): void {
  if (change.to !== undefined) redirect(event, change.to, answer, onBehalf);
  if (change.data !== undefined) replaceData(event, toBytes(change.data), answer, after);
  for (const [index, value] of changesOf(event, change)) {
    if (typeof value === "number" || typeof value === "bigint") changeRegister(event, index, value, answer);
    else if (answer.action === ANSWER.onBehalf) replaceSeen(event, index, toBytes(value), answer, onBehalf);
    else replacePointed(event, index, toBytes(value), answer);
  }
  if (change.result !== undefined)
    throw new NotPossible("a result can only be changed on return: put the handler under `returns`");
}

/** Paths first: they restart the answer. */
function changesOf(event: DecodedCall, { args = {} }: CallChange) {
  const all = Object.entries(args).map(([key, value]) => [argumentIndex(event, key), value] as const);
  const isPath = (index: number) => event.call.args[index]?.kind === "path";
  return all.sort(([a], [b]) => Number(isPath(b)) - Number(isPath(a)));
}

/** The object of an on-behalf call was resolved at the decision and stays the same. */
function changeRegister(event: DecodedCall, index: number, value: number | bigint, answer: StopAnswer): void {
  const { kind } = event.call.args[index] ?? {};
  const isPlace =
    kind === "path" || kind === "dirfd" || kind === "sockaddr" || kind === "msghdr" || kind === "mmsghdr";
  if (answer.action === ANSWER.onBehalf && (isPlace || (kind === "fd" && event.changesDescriptor)))
    throw new NotPossible(
      `argument ${event.call.args[index]!.name} of ${event.name} selects the object of the call and cannot be changed: redirect the call instead`,
    );
  answer.register(index, value);
}

/** The same for an on-behalf call: it reads these bytes instead of the program's memory. */
function replaceSeen(
  event: DecodedCall,
  index: number,
  bytes: Uint8Array,
  answer: StopAnswer,
  onBehalf: OnBehalfTest,
): void {
  const argument = event.call.args[index];
  if (argument?.kind === "path") {
    redirectPath(event, index, bytes, answer, onBehalf);
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
      `argument ${argument?.name ?? index} of ${event.name} cannot be changed: redirect the call instead`,
    );
}

function redirect(
  event: DecodedCall,
  to: string | Uint8Array | Address,
  answer: StopAnswer,
  onBehalf: OnBehalfTest,
): void {
  const isAddress = typeof to === "object" && !(to instanceof Uint8Array);
  const [path] = event.shape.paths;
  if (path !== undefined && !isAddress) {
    redirectPath(event, path, toBytes(to), answer, onBehalf);
    return;
  }
  if (event.shape.address < 0 && event.shape.message < 0)
    throw new NotPossible(`${event.name} takes no path or address that could be redirected`);
  const address = isAddress ? to : parseAddress(typeof to === "string" ? to : decodeText(to));
  if (!address) throw new NotPossible(`"${to}" is not an address: write host:port, [v6]:port or unix:/path`);
  redirectAddress(event, address, answer, onBehalf);
}

function redirectPath(
  event: DecodedCall,
  path: number,
  to: Uint8Array,
  answer: StopAnswer,
  onBehalf: OnBehalfTest,
): void {
  if (to.includes(0)) throw new NotPossible("a path cannot contain a NUL byte");
  if (!onBehalf(event.call)) {
    if (rereadOf(event.call) === "refused")
      throw new NotPossible(
        `${event.name} reads its path again, and another thread could put the old one back: it cannot be redirected`,
      );
    replacePointed(event, path, to, answer);
    return;
  }
  event.redirectPath(to, event.shape.paths.indexOf(path));
  makeOnBehalf(event, answer, []);
}

/** A socket's family is fixed: it must be able to reach the new address. */
function redirectAddress(event: DecodedCall, to: Address, answer: StopAnswer, onBehalf: OnBehalfTest): void {
  const asked = event.address;
  if (!asked) throw new NotPossible(`this ${event.name} carries no address that could be redirected`);
  const bytes = encodeAddress(to, familyNumber(asked));
  if (!bytes)
    throw new NotPossible(
      `a socket for ${formatAddress(asked)} (${asked.family}) cannot be redirected to ${formatAddress(to)} (${to.family}): the address family differs`,
    );
  if (!onBehalf(event.call)) {
    if (event.shape.address < 0) throw new NotPossible(`${event.name} cannot be redirected without a filter`);
    replacePointed(event, event.shape.address, bytes, answer);
    return;
  }
  if (to.family === "unix" && !to.abstract) event.redirectPath(encodeText(to.path));
  makeOnBehalf(event, answer, [bytes, ...event.names.slice(1)]);
}

function replacePointed(event: DecodedCall, index: number, bytes: Uint8Array, answer: StopAnswer): void {
  const argument = event.call.args[index];
  switch (argument?.kind) {
    case "path":
    case "string":
      if (bytes.includes(0)) throw new NotPossible("a path cannot contain a NUL byte");
      answer.pointer(index, Buffer.concat([bytes, Buffer.of(0)]));
      return;
    case "address":
      answer.pointer(index, bytes);
      return;
    case "buffer":
    case "sockaddr":
    case "struct":
      if (argument.direction === "inout" && argument.size === bytes.length) {
        answer.memory(event.argument(index), bytes); // the kernel's own output must arrive there too
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

function replaceData(event: DecodedCall, bytes: Uint8Array, answer: StopAnswer, after: AfterCall): void {
  const { data } = event.shape;
  const argument = event.call.args[data];
  if (!argument) throw new NotPossible(`${event.name} writes no data`);
  const pieces = event.dataPieces() ?? [];
  const asked = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const isAct = answer.action === ANSWER.onBehalf;
  if (argument.kind === "buffer") {
    if (isAct) event.replace(event.argument(data), bytes);
    else answer.pointer(data, bytes);
    answer.register(argument.length!, bytes.length);
    if (bytes.length !== asked) after.wrote = { asked, given: bytes.length };
    return;
  }
  if (bytes.length !== asked)
    throw new NotPossible(
      `the data of ${event.name} is scattered over several buffers: the new data must have the same length (${asked} bytes)`,
    );
  let from = 0;
  for (const piece of pieces) {
    const part = bytes.subarray(from, from + piece.length);
    if (isAct) event.replace(piece.address, part);
    else overwrite(event, piece.address, part, answer, after);
    from += piece.length;
  }
}

/** Overwrites the program's own memory for the duration of the call. */
function overwrite(
  event: DecodedCall,
  address: bigint,
  bytes: Uint8Array,
  answer: StopAnswer,
  after: AfterCall,
): void {
  const before = event.memory.read(address, bytes.length);
  if (before?.length !== bytes.length) throw new NotPossible("the memory to be changed cannot be read");
  answer.memory(address, bytes);
  after.restore.push({ address, bytes: before });
}
