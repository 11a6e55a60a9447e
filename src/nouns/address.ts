import { decodeText, encodeText } from "./text.js";

/** A socket address, local or remote. */
export type Address = InternetAddress | UnixAddress | OtherAddress;

export interface InternetAddress {
  readonly family: "ipv4" | "ipv6";
  /** Canonical text. An IPv4-mapped IPv6 address is written as the IPv4 address that it reaches. */
  readonly host: string;
  readonly port: number;
  /** An IPv6 socket with an IPv4 address (::ffff:a.b.c.d). */
  readonly mapped?: true;
  readonly scope?: number;
}

export interface UnixAddress {
  readonly family: "unix";
  /** Empty for an unnamed socket. */
  readonly path: string;
  /** The name is in the abstract namespace, not in the file system. */
  readonly abstract?: true;
}

interface OtherAddress {
  readonly family: "unspecified" | "netlink" | "packet" | "vsock" | "other";
  readonly number: number;
  readonly bytes: Uint8Array;
}

const AF = { unspecified: 0, unix: 1, ipv4: 2, ipv6: 10, netlink: 16, packet: 17, vsock: 40 } as const;
const FAMILY_NAMES = new Map<number, OtherAddress["family"]>([
  [AF.unspecified, "unspecified"],
  [AF.netlink, "netlink"],
  [AF.packet, "packet"],
  [AF.vsock, "vsock"],
]);

export function isInternet(address: Address): address is InternetAddress {
  return address.family === "ipv4" || address.family === "ipv6";
}

function ipv4(bytes: Uint8Array, at: number): string {
  return `${bytes[at]}.${bytes[at + 1]}.${bytes[at + 2]}.${bytes[at + 3]}`;
}

/** RFC 5952: lower case, the longest run of zero groups shortened. */
function ipv6(bytes: Uint8Array, at: number): string {
  const groups = Array.from({ length: 8 }, (_, i) => (bytes[at + 2 * i]! << 8) | bytes[at + 2 * i + 1]!);
  let best = { from: -1, length: 1 };
  for (let i = 0; i < 8; i++) {
    let end = i;
    while (end < 8 && groups[end] === 0) end++;
    if (end - i > best.length) best = { from: i, length: end - i };
  }
  const text = (part: number[]) => part.map((g) => g.toString(16)).join(":");
  if (best.from < 0) return text(groups);
  return `${text(groups.slice(0, best.from))}::${text(groups.slice(best.from + best.length))}`;
}

function isMapped(bytes: Uint8Array, at: number): boolean {
  for (let i = 0; i < 10; i++) if (bytes[at + i] !== 0) return false;
  return bytes[at + 10] === 0xff && bytes[at + 11] === 0xff;
}

function decodeUnix(bytes: Uint8Array): UnixAddress {
  const name = Buffer.from(bytes.buffer, bytes.byteOffset + 2, bytes.length - 2);
  if (name.length === 0) return { family: "unix", path: "" };
  if (name[0] === 0) return { family: "unix", path: name.subarray(1).toString("latin1"), abstract: true };
  const end = name.indexOf(0);
  return { family: "unix", path: decodeText(name.subarray(0, end < 0 ? name.length : end)) };
}

/** Decodes a struct sockaddr. Undefined when it is too short for its family. */
export function decodeAddress(bytes: Uint8Array): Address | undefined {
  if (bytes.length < 2) return undefined;
  const number = bytes[0]! | (bytes[1]! << 8);
  const port = () => (bytes[2]! << 8) | bytes[3]!;
  if (number === AF.unix) return decodeUnix(bytes);
  if (number === AF.ipv4) {
    return bytes.length < 8 ? undefined : { family: "ipv4", host: ipv4(bytes, 4), port: port() };
  }
  if (number === AF.ipv6) {
    if (bytes.length < 24) return undefined;
    if (isMapped(bytes, 8)) return { family: "ipv4", host: ipv4(bytes, 20), port: port(), mapped: true };
    const scope = bytes.length >= 28 ? new DataView(bytes.buffer, bytes.byteOffset).getUint32(24, true) : 0;
    return { family: "ipv6", host: ipv6(bytes, 8), port: port(), ...(scope && { scope }) };
  }
  return { family: FAMILY_NAMES.get(number) ?? "other", number, bytes: Uint8Array.from(bytes.subarray(2)) };
}

/** `10.0.0.1:80`, `[::1]:80`, `unix:/run/x.sock`, `unix:@abstract`, `netlink` … */
export function formatAddress(address: Address): string {
  if (address.family === "ipv4") return `${address.host}:${address.port}`;
  if (address.family === "ipv6") return `[${address.host}]:${address.port}`;
  if (address.family === "unix") return `unix:${address.abstract ? "@" : ""}${address.path}`;
  return address.family === "other" ? `family:${address.number}` : address.family;
}

function parseIpv4(host: string): number[] | undefined {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(host)?.slice(1).map(Number);
  return parts?.every((p) => p <= 255) ? parts : undefined;
}

function parseIpv6(host: string): number[] | undefined {
  const [head, tail, extra] = host.split("::");
  if (extra !== undefined || head === undefined) return undefined;
  const groups = (text: string | undefined) => (text ? text.split(":") : []);
  const left = groups(head);
  const right = groups(tail);
  const gap = 8 - left.length - right.length;
  if (tail === undefined ? gap !== 0 : gap < 1) return undefined;
  const all = [...left, ...Array<string>(Math.max(gap, 0)).fill("0"), ...right];
  if (!all.every((g) => /^[0-9a-fA-F]{1,4}$/.test(g))) return undefined;
  return all.flatMap((g) => [Number.parseInt(g, 16) >> 8, Number.parseInt(g, 16) & 0xff]);
}

/**
 * Parses what formatAddress writes. Undefined when the text is no address. For families other than IP and
 * Unix, only the family is known.
 */
export function parseAddress(text: string): Address | undefined {
  const other = parseOther(text);
  if (other) return other;
  if (text.startsWith("unix:@")) return { family: "unix", path: text.slice(6), abstract: true };
  if (text.startsWith("unix:")) return { family: "unix", path: text.slice(5) };
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text);
  if (!match || Number(match[3]) > 65535) return undefined;
  const port = Number(match[3]);
  if (match[1] !== undefined) {
    return parseIpv6(match[1]) && { family: "ipv6", host: match[1], port };
  }
  return parseIpv4(match[2]!) && { family: "ipv4", host: match[2]!, port };
}

function parseOther(text: string): OtherAddress | undefined {
  for (const [number, family] of FAMILY_NAMES)
    if (family === text) return { family, number, bytes: new Uint8Array() };
  const number = /^family:(\d{1,5})$/.exec(text)?.[1];
  return number === undefined
    ? undefined
    : { family: "other", number: Number(number), bytes: new Uint8Array() };
}

/**
 * Encodes an address as a struct sockaddr. `as` is the family of the socket that will use it: an IPv6 socket
 * reaches an IPv4 address in mapped form. Undefined when a socket of that family cannot reach the address.
 */
export function encodeAddress(address: Address, as: number = familyNumber(address)): Uint8Array | undefined {
  if (address.family === "unix") {
    if (as !== AF.unix) return undefined;
    const name = address.abstract
      ? Buffer.from(`\0${address.path}`, "latin1")
      : encodeText(`${address.path}\0`);
    return Buffer.concat([Buffer.from([AF.unix, 0]), name]);
  }
  if (!isInternet(address)) {
    return as === address.number
      ? Buffer.concat([Buffer.from([as & 0xff, as >> 8]), address.bytes])
      : undefined;
  }
  const port = [address.port >> 8, address.port & 0xff];
  const four = parseIpv4(address.host);
  if (four && as === AF.ipv4) return Uint8Array.from([AF.ipv4, 0, ...port, ...four, 0, 0, 0, 0, 0, 0, 0, 0]);
  const six = four ? [...Array<number>(10).fill(0), 0xff, 0xff, ...four] : parseIpv6(address.host);
  if (!six || as !== AF.ipv6) return undefined;
  const scope = Buffer.alloc(4);
  scope.writeUInt32LE(address.scope ?? 0);
  return Uint8Array.from([AF.ipv6, 0, ...port, 0, 0, 0, 0, ...six, ...scope]);
}

export function familyNumber(address: Address): number {
  if (address.family === "unix") return AF.unix;
  if (isInternet(address)) return address.family === "ipv4" && !address.mapped ? AF.ipv4 : AF.ipv6;
  return address.number;
}
