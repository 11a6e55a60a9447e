import { SIGNALLING, type Syscall } from "../../abi/index.js";
import { flagsValue } from "../../abi/named.js";
import type { Address } from "../../nouns/address.js";
import { type CallEvent, isNameless, type Receiver } from "../../nouns/event.js";
import { CLONE_NEW } from "../effect-conditions.js";
import type { CallEffect } from "../effects.js";
import { unixPath } from "./address.js";
import { flagsArgument } from "./flags.js";

/** The object of one effect of one call. */
export interface EffectSubject {
  /** Canonical. Null when there is a file, but it cannot be identified. */
  readonly path: string | null | undefined;
  /** The same path as `/proc/self/…`, when it is the caller's own. */
  readonly alias?: string;
  readonly address: Address | typeof ANYWHERE | undefined;
  /** The receiver of a signal. */
  readonly receiver?: Receiver;
  /** Everything below the path is affected too. */
  readonly subtree: boolean;
}

/** Some internet address that cannot be identified. */
export const ANYWHERE = "anywhere";
const PACKETS: Address = {
  family: "packet",
  number: flagsValue("socket_family", "AF_PACKET"),
  bytes: new Uint8Array(0),
};

const NOTHING: EffectSubject = { path: undefined, address: undefined, subtree: false };
/** Flags that cannot be read may be any: these stand for the worst case. */
const AS_IF_ALL = flagsValue("open", "O_RDWR|O_CREAT|O_TRUNC");
const AS_IF_NAMESPACES = CLONE_NEW;

/** A call's flags as a number; for openat2 and clone3 from the struct. */
export function flagBits(call: Syscall, event: CallEvent): number {
  const found = flagsArgument(call);
  if (call.name === "clone3") return fromStruct(event, "uargs") ?? AS_IF_NAMESPACES;
  if (!found) return 0;
  if (found.argument.kind === "struct") return fromStruct(event, found.argument.name) ?? AS_IF_ALL;
  return Number(BigInt.asUintN(32, event.argument(found.index)));
}

function fromStruct(event: CallEvent, name: string): number | undefined {
  const bytes = (event.args as Readonly<Record<string, unknown>>)[name];
  return bytes instanceof Uint8Array && bytes.length >= 8
    ? Buffer.from(bytes.buffer, bytes.byteOffset, 8).readUInt32LE()
    : undefined;
}

/** The objects of the effect in this call. None for objects without a name: a pipe, an unnamed socket. */
export function effectSubjects(effect: CallEffect, event: CallEvent): readonly EffectSubject[] {
  const { on } = effect;
  switch (on.kind) {
    case "path":
      return onFile(event, pathOf(event, effect, on.argument), effect.subtree === true);
    case "socket-at": {
      const path = pathOf(event, effect, on.argument);
      return path ? [{ ...NOTHING, address: { family: "unix", path } }] : [];
    }
    case "mapping":
      return mappedFiles(event, effect.call, on.argument).flatMap((file) => onCode(event, file));
    case "fd": {
      const isCode = effect.does.includes("load");
      const file = targetOf(event, effect.call, on.argument, isCode);
      return isCode ? onCode(event, file) : onFile(event, file, false);
    }
    case "unknown-file":
      return onFile(event, null, false);
    case "address":
      return addressesOf(event).map((address) => ({ ...NOTHING, address: reached(effect, address) }));
    case "any-address":
      return [{ ...NOTHING, address: ANYWHERE }];
    case "packets":
      return [{ ...NOTHING, address: PACKETS }];
    case "peer": {
      const addresses = addressesOf(event).filter((address) => address !== undefined);
      const all = addresses.length > 0 ? addresses : [event.fd?.peer];
      return all.map((address) => ({ ...NOTHING, address: address && reached(effect, address) }));
    }
    case "local":
      return [{ ...NOTHING, address: event.fd?.local }];
    case "socket-file": {
      const { address } = event;
      if (address?.family !== "unix" || address.abstract || address.path === "") return [];
      return onFile(
        event,
        unixPath(address.path, () => event.process.cwd),
        false,
      );
    }
    case "receivers":
      return onReceivers(event);
    case "nothing":
      return [NOTHING];
  }
}

/** Each receiver is judged separately. A signal with unknown receivers may reach any process. */
function onReceivers({ receivers }: CallEvent): readonly EffectSubject[] {
  const found = receivers.length > 0 ? receivers : [{ pid: undefined, is: [] }];
  return found.map((receiver) => ({ ...NOTHING, receiver }));
}

/** The objects of a call without an effect in the table: its paths, or its descriptor and address. */
export function callSubjects(event: CallEvent): readonly EffectSubject[] {
  const { paths } = event;
  if (SIGNALLING.has(event.name) && event.receivers.length > 0) return onReceivers(event);
  if (paths.length > 0)
    return paths.flatMap(({ path }) => onFile(event, path === "" || isNameless(path) ? null : path, false));
  const target = event.fd?.target;
  const address = event.address ?? event.fd?.peer;
  return [{ path: target?.startsWith("/") ? target : undefined, address, subtree: false }];
}

function onFile(
  event: CallEvent,
  path: string | null | undefined,
  subtree: boolean,
): readonly EffectSubject[] {
  if (path === undefined) return [];
  const alias = path?.startsWith("/proc/") ? ownProc(event, path) : undefined;
  return [{ path, address: undefined, subtree, ...(alias !== undefined && { alias }) }];
}

const DELETED = " (deleted)";

/**
 * A file to be executed. The kernel appends "(deleted)" to the path of a file without a name, but a file may
 * also have that name. It is judged by both names, so that deleting a file does not take it out of a rule.
 */
function onCode(event: CallEvent, file: string | null | undefined): readonly EffectSubject[] {
  const named = onFile(event, file, false);
  if (!file?.endsWith(DELETED)) return named;
  return [...named, ...onFile(event, file.slice(0, -DELETED.length), false)];
}

/** Links in an event's paths are resolved, so /proc/self never occurs in them. */
function ownProc(event: CallEvent, path: string): string | undefined {
  const [, number, rest = ""] = /^\/proc\/(\d+)(\/.*)?$/.exec(path) ?? [];
  const { pid, innerPid = pid } = event.process;
  return number !== undefined && Number(number) === innerPid ? `/proc/self${rest}` : undefined;
}

function pathOf(event: CallEvent, { call, does }: CallEffect, name: string): string | null | undefined {
  const found = event.paths.find(({ argument }) => argument === name);
  // A program without a name may be a copy of any other.
  if (found && does.includes("exec") && /^\/memfd:| \(deleted\)$/.test(found.path)) return null;
  if (found) return found.isMemory?.() ? undefined : nameOf(found.path);
  // A NULL path means the descriptor itself (utimensat(2), statx(2)); without a descriptor the kernel refuses
  // it.
  const { dirfd } = call.args.find((argument) => argument.name === name)!;
  return dirfd === undefined ? null : targetOf(event, call, call.args[dirfd]!.name);
}

const PAGE = 4096n;

/** Every file that has a page in the range; null when the mappings cannot be read. */
function mappedFiles(event: CallEvent, call: Syscall, name: string): readonly (string | null)[] {
  const { maps } = event.process;
  // Every process has mappings. One whose maps we cannot read (PR_SET_DUMPABLE) may have mapped any file.
  if (maps.length === 0) return [null];
  const start = call.args.findIndex((argument) => argument.name === name);
  const first = event.argument(start);
  const length = event.argument(call.args.findIndex((argument) => argument.name === "len"));
  const end = first + ((length + PAGE - 1n) / PAGE) * PAGE;
  const files = maps.filter(({ from, to, path }) => from < end && to > first && path.startsWith("/"));
  return [...new Set(files.map(({ path }) => path))];
}

/** `isCode`: the file is to be executed, and memory without a name may hold a copy of any program. */
function targetOf(event: CallEvent, call: Syscall, name: string, isCode = false): string | null | undefined {
  const index = call.args.findIndex((argument) => argument.name === name);
  const first = call.args.findIndex(({ kind }) => kind === "fd" || kind === "dirfd");
  const number = Number(BigInt.asIntN(32, event.argument(index)));
  const descriptor = index === first ? event.fd : event.process.fds.find((fd) => fd.number === number);
  if (descriptor?.isMemory && !isCode) return undefined;
  return descriptor?.target === undefined ? null : nameOf(descriptor.target);
}

/**
 * Undefined for pipes, sockets and the like. Null for a file that cannot be identified, or that belongs to
 * another process and has no name.
 */
function nameOf(path: string): string | null | undefined {
  if (path === "" || isNameless(path)) return null;
  return path.startsWith("/") ? path : undefined;
}

/** sendmmsg carries an address per message: checking only the first would let the others pass. */
function addressesOf(event: CallEvent): readonly (Address | undefined)[] {
  const { addresses } = event as { addresses?: readonly Address[] };
  return addresses && addresses.length > 0 ? addresses : [event.address];
}

/**
 * The kernel's real destination. 0.0.0.0 and :: mean this machine (ip_route_output_key), and a datagram whose
 * family is 0 goes to the IPv4 address that follows (udp_sendmsg).
 */
function reached(effect: CallEffect, address: Address | undefined): Address | undefined {
  if (!address || !(effect.does.includes("connect") || effect.does.includes("send"))) return address;
  if (address.family === "ipv4" && address.host === "0.0.0.0") return { ...address, host: "127.0.0.1" };
  if (address.family === "ipv6" && address.host === "::") return { ...address, host: "::1" };
  if (address.family === "unspecified" && effect.call.name !== "connect" && address.bytes.length >= 6) {
    const [p = 0, q = 0, ...host] = address.bytes;
    const to = host.slice(0, 4).join(".");
    return { family: "ipv4", host: to === "0.0.0.0" ? "127.0.0.1" : to, port: (p << 8) | q };
  }
  return address;
}
