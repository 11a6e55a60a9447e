import { type Argument, flagNames, type Syscall, syscallByNumber } from "../abi/index.js";
import { type Address, decodeAddress, formatAddress, parseAddress } from "../nouns/address.js";
import type { CallEvent, PathArgument } from "../nouns/event.js";
import { decodeText, encodeText } from "../nouns/text.js";
import type { CallChange } from "../nouns/verdict.js";

/** Fields of an event that a change replaces. */
interface Replaced {
  path?: string;
  requested?: string;
  paths?: readonly PathArgument[];
  address?: Address;
  addresses?: readonly Address[];
  fd?: CallEvent["fd"];
  data?: Buffer;
  flags?: readonly string[];
  args?: CallEvent["args"];
}

/**
 * The call as a policy's change would make it, for the other policies to judge as well. Undefined when no
 * policy could see a difference.
 */
export function changedEvent(event: CallEvent, change: CallChange): CallEvent | undefined {
  const call = syscallByNumber(event.nr);
  if (!call) return undefined;
  const registers = new Map<number, bigint>();
  const replaced: Replaced = {};
  if (change.to !== undefined) redirect(event, call, change.to, replaced);
  if (change.data !== undefined) replaced.data = Buffer.from(bytesOf(change.data));
  for (const [key, value] of Object.entries(change.args ?? {}))
    argue(event, call, key, value, replaced, registers);
  if (Object.keys(replaced).length + registers.size === 0) return undefined;
  return new Proxy(event, {
    get(target, key) {
      if (Object.hasOwn(replaced, key)) return replaced[key as keyof Replaced];
      if (key === "argument") return (i: number) => registers.get(i) ?? target.argument(i);
      const value = Reflect.get(target, key, target) as unknown;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** The new target of a change, for messages. */
export function changeText(event: CallEvent, changed: CallEvent): string {
  if (changed.path !== event.path) return String(changed.path);
  return changed.address && changed.address !== event.address
    ? formatAddress(changed.address)
    : "other arguments";
}

function redirect(
  event: CallEvent,
  call: Syscall,
  to: NonNullable<CallChange["to"]>,
  replaced: Replaced,
): void {
  const isAddress = typeof to === "object" && !(to instanceof Uint8Array);
  const path = call.args.find(({ kind }) => kind === "path");
  if (path && !isAddress) {
    rename(event, path, bytesOf(to), replaced);
    return;
  }
  const address = isAddress ? to : parseAddress(decodeText(bytesOf(to)));
  if (address) readdress(event, address, replaced);
}

function rename(event: CallEvent, { name }: Argument, to: Uint8Array, replaced: Replaced): void {
  const requested = decodeText(to);
  const path = event.reach?.(name, to) ?? lexical(event, requested);
  const paths = replaced.paths ?? event.paths;
  const own = { argument: name, requested, path };
  const known = paths.some(({ argument }) => argument === name);
  replaced.paths = known ? paths.map((one) => (one.argument === name ? own : one)) : [own, ...paths];
  replaced.path = replaced.paths[0]!.path;
  replaced.requested = replaced.paths[0]!.requested;
}

function readdress(event: CallEvent, address: Address, replaced: Replaced): void {
  const isFile = address.family === "unix" && !address.abstract && address.path !== "";
  const reached = isFile
    ? { ...address, path: event.reach?.("", encodeText(address.path)) ?? lexical(event, address.path) }
    : address;
  replaced.address = reached;
  replaced.addresses = [reached, ...event.addresses.slice(1)];
}

/** A new value for one argument: a number in a register, or text or bytes behind a pointer. */
function argue(
  event: CallEvent,
  call: Syscall,
  key: string,
  value: number | bigint | string | Uint8Array,
  replaced: Replaced,
  registers: Map<number, bigint>,
): void {
  const index = /^\d+$/.test(key) ? Number(key) : call.args.findIndex(({ name }) => name === key);
  const argument = call.args[index];
  if (!argument) return; // the door refuses it
  const isNumber = typeof value === "number" || typeof value === "bigint";
  replaced.args = { ...(replaced.args ?? event.args), [argument.name]: value } as CallEvent["args"];
  if (isNumber) {
    registers.set(index, BigInt.asUintN(64, BigInt(value)));
    if (argument.kind === "flags" && argument.flags !== undefined)
      replaced.flags = flagNames(argument.flags, Number(BigInt.asUintN(32, BigInt(value))));
    // The file behind another descriptor is unknown here: restricting rules apply.
    if (argument.kind === "fd" || argument.kind === "dirfd")
      replaced.fd = {
        number: Number(value),
        target: undefined,
        kind: "file",
        local: undefined,
        peer: undefined,
      };
    return;
  }
  const bytes = bytesOf(value);
  if (argument.kind === "path") rename(event, argument, bytes, replaced);
  if (argument.kind === "address" || argument.kind === "sockaddr") {
    const address = decodeAddress(bytes);
    if (address) readdress(event, address, replaced);
  }
}

/** Without a kernel to ask, links are unknown. */
function lexical(event: CallEvent, requested: string): string {
  const parts: string[] = [];
  const whole = requested.startsWith("/") ? requested : `${event.process.cwd}/${requested}`;
  for (const part of whole.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

function bytesOf(value: string | Uint8Array): Uint8Array {
  return typeof value === "string" ? encodeText(value) : value;
}
