import { SIGNALLING, type Syscall } from "../../abi/index.js";
import type { Address } from "../../address.js";
import { type CallEvent, isNameless, type Receiver } from "../../event.js";
import type { Deed } from "../effects.js";
import { unixPath } from "./address.js";
import { flagsArgument } from "./flags.js";

/** What one effect of one call falls on. */
export interface Subject {
  /** Canonical. Null when there is a file, but nobody can say which. */
  readonly path: string | null | undefined;
  /** The same path as `/proc/self/…`, when it is the caller's own. */
  readonly alias?: string;
  readonly address: Address | typeof ANYWHERE | undefined;
  /** Whom a signal reaches. */
  readonly receiver?: Receiver;
  /** What is below the path goes with it. */
  readonly subtree: boolean;
}

/** Some address of the internet, and nobody can say which. */
export const ANYWHERE = "anywhere";
const PACKETS: Address = { family: "packet", number: 17, bytes: new Uint8Array(0) };

const NOTHING: Subject = { path: undefined, address: undefined, subtree: false };
const AS_IF_ALL = 0x242; // O_RDWR|O_CREAT|O_TRUNC: flags that cannot be read might be any
const AS_IF_NAMESPACES = 0x7e020000;

/** The flags of a call as a number; of openat2 and clone3 from the struct. */
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

/** What the deed falls on in this call. None when it falls on nothing that has a name: a pipe, an unnamed socket. */
export function subjectsOf(deed: Deed, event: CallEvent): readonly Subject[] {
  const { on } = deed;
  switch (on.kind) {
    case "path":
      return onFile(event, pathOf(event, deed, on.argument), deed.subtree === true);
    case "socket-at": {
      const path = pathOf(event, deed, on.argument);
      return path ? [{ ...NOTHING, address: { family: "unix", path } }] : [];
    }
    case "mapping":
      return mappedFiles(event, deed.call, on.argument).flatMap((file) => onCode(event, file));
    case "fd": {
      const file = targetOf(event, deed.call, on.argument);
      return deed.does.includes("load") ? onCode(event, file) : onFile(event, file, false);
    }
    case "unknown-file":
      return onFile(event, null, false);
    case "address":
      return addressesOf(event).map((address) => ({ ...NOTHING, address: reached(deed, address) }));
    case "any-address":
      return [{ ...NOTHING, address: ANYWHERE }];
    case "packets":
      return [{ ...NOTHING, address: PACKETS }];
    case "peer": {
      const addresses = addressesOf(event).filter((address) => address !== undefined);
      const all = addresses.length > 0 ? addresses : [event.fd?.peer];
      return all.map((address) => ({ ...NOTHING, address: address && reached(deed, address) }));
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

/** Each is judged on its own. A signal whose receivers nobody knows may reach anybody. */
function onReceivers({ receivers }: CallEvent): readonly Subject[] {
  const found = receivers.length > 0 ? receivers : [{ pid: undefined, is: [] }];
  return found.map((receiver) => ({ ...NOTHING, receiver }));
}

/** A call that the table says nothing about, or that does none of it: its paths, or its descriptor and address. */
export function subjectsOfCall(event: CallEvent): readonly Subject[] {
  const { paths } = event;
  if (SIGNALLING.has(event.name) && event.receivers.length > 0) return onReceivers(event);
  if (paths.length > 0)
    return paths.flatMap(({ path }) => onFile(event, path === "" || isNameless(path) ? null : path, false));
  const target = event.fd?.target;
  const address = event.address ?? event.fd?.peer;
  return [{ path: target?.startsWith("/") ? target : undefined, address, subtree: false }];
}

function onFile(event: CallEvent, path: string | null | undefined, subtree: boolean): readonly Subject[] {
  if (path === undefined) return [];
  const alias = path?.startsWith("/proc/") ? ownProc(event, path) : undefined;
  return [{ path, address: undefined, subtree, ...(alias !== undefined && { alias }) }];
}

const DELETED = " (deleted)";

/**
 * A file that is to be executed. The kernel says of a file without a name that it is deleted; a file may also be called
 * so. It is judged by both names: taking its name away must not take it out of a rule.
 */
function onCode(event: CallEvent, file: string | null | undefined): readonly Subject[] {
  const named = onFile(event, file, false);
  if (!file?.endsWith(DELETED)) return named;
  return [...named, ...onFile(event, file.slice(0, -DELETED.length), false)];
}

/** Links are resolved in an event's paths, and so /proc/self is never in them. */
function ownProc(event: CallEvent, path: string): string | undefined {
  const [, number, rest = ""] = /^\/proc\/(\d+)(\/.*)?$/.exec(path) ?? [];
  const { pid, innerPid = pid } = event.process;
  return number !== undefined && Number(number) === innerPid ? `/proc/self${rest}` : undefined;
}

function pathOf(event: CallEvent, { call, does }: Deed, name: string): string | null | undefined {
  const found = event.paths.find(({ argument }) => argument === name);
  // A program that has no name, or none any more, might be a copy of any.
  if (found && does.includes("exec") && /^\/memfd:| \(deleted\)$/.test(found.path)) return null;
  if (found) return nameOf(found.path);
  // A NULL path means the descriptor itself (utimensat(2), statx(2)); without one the kernel refuses it.
  const { dirfd } = call.args.find((argument) => argument.name === name)!;
  return dirfd === undefined ? null : targetOf(event, call, call.args[dirfd]!.name);
}

const PAGE = 4096n;

/** Every file that has a page in the range; null when nobody can say what is mapped there. */
function mappedFiles(event: CallEvent, call: Syscall, name: string): readonly (string | null)[] {
  const { maps } = event.process;
  // No process is without mappings: one that cannot be looked at (PR_SET_DUMPABLE) may have mapped any file.
  if (maps.length === 0) return [null];
  const start = call.args.findIndex((argument) => argument.name === name);
  const first = event.argument(start);
  const length = event.argument(call.args.findIndex((argument) => argument.name === "len"));
  const end = first + ((length + PAGE - 1n) / PAGE) * PAGE;
  const files = maps.filter(({ from, to, path }) => from < end && to > first && path.startsWith("/"));
  return [...new Set(files.map(({ path }) => path))];
}

function targetOf(event: CallEvent, call: Syscall, name: string): string | null | undefined {
  const index = call.args.findIndex((argument) => argument.name === name);
  const first = call.args.findIndex(({ kind }) => kind === "fd" || kind === "dirfd");
  const number = Number(BigInt.asIntN(32, event.argument(index)));
  const descriptor = index === first ? event.fd : event.process.fds.find((fd) => fd.number === number);
  return descriptor?.target === undefined ? null : nameOf(descriptor.target);
}

/** Undefined for pipes, sockets and the like, null for what could not be found out, or is another's and has no name. */
function nameOf(path: string): string | null | undefined {
  if (path === "" || isNameless(path)) return null;
  return path.startsWith("/") ? path : undefined;
}

/** sendmmsg carries an address per message: looking at the first alone would let the others pass. */
function addressesOf(event: CallEvent): readonly (Address | undefined)[] {
  const { addresses } = event as { addresses?: readonly Address[] };
  return addresses && addresses.length > 0 ? addresses : [event.address];
}

/**
 * Where the kernel really goes. A destination of 0.0.0.0 or :: is this machine (ip_route_output_key), and a datagram
 * whose family is 0 goes to the IPv4 address that follows (udp_sendmsg).
 */
function reached(deed: Deed, address: Address | undefined): Address | undefined {
  if (!address || !(deed.does.includes("connect") || deed.does.includes("send"))) return address;
  if (address.family === "ipv4" && address.host === "0.0.0.0") return { ...address, host: "127.0.0.1" };
  if (address.family === "ipv6" && address.host === "::") return { ...address, host: "::1" };
  if (address.family === "unspecified" && deed.call.name !== "connect" && address.bytes.length >= 6) {
    const [p = 0, q = 0, ...host] = address.bytes;
    const to = host.slice(0, 4).join(".");
    return { family: "ipv4", host: to === "0.0.0.0" ? "127.0.0.1" : to, port: (p << 8) | q };
  }
  return address;
}
