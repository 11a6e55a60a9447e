import { type Address, encodeAddress, isInternet, type UnixAddress } from "../../nouns/address.js";
import type { CallEvent } from "../../nouns/event.js";
import { compileGlob, type Glob, matchGlob, PatternError, split } from "./glob.js";

/** Names for common groups of addresses. */
export const ADDRESS_WORDS: Readonly<Record<string, readonly string[]>> = {
  any: ["0.0.0.0/0", "::/0", "unix", "netlink", "packet", "vsock", "other"],
  internet: ["0.0.0.0/0", "::/0"],
  loopback: ["127.0.0.0/8", "::1"],
  private: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"],
  "link-local": ["169.254.0.0/16", "fe80::/10"],
  multicast: ["224.0.0.0/4", "ff00::/8", "255.255.255.255"],
  // Where cloud machines hand out credentials: AWS, GCP, Azure, OpenStack; ECS and EKS; Azure's wire server;
  // Alibaba; Oracle.
  metadata: [
    "169.254.169.254",
    "169.254.170.2",
    "169.254.170.23",
    "168.63.129.16",
    "100.100.100.200",
    "192.0.0.192",
    "fd00:ec2::254",
    "fd00:ec2::23",
    "fd20:ce::254",
  ],
};

/** Listeners of the run itself. */
export const OWN = "own";

const FAMILIES = ["unix", "netlink", "packet", "vsock", "other"] as const;

/** One pattern for addresses. */
export type AddressPattern =
  | { readonly kind: "network"; readonly network: Cidr; readonly ports: Ports }
  | {
      readonly kind: "unix";
      readonly glob: Glob | undefined;
      readonly abstract: ((name: string) => boolean) | undefined;
    }
  /** The listener belongs to the run. */
  | { readonly kind: "own" }
  | { readonly kind: "family"; readonly family: (typeof FAMILIES)[number] };

/** A CIDR: its address as a number, IPv4 and IPv6 separately. */
export interface Cidr {
  readonly version: 4 | 6;
  readonly prefix: number;
  readonly value: bigint;
}

/** From–to, both included; undefined for all. */
export type Ports = readonly [number, number] | undefined;

export interface AddressList {
  readonly included: readonly AddressPattern[];
  readonly excepted: readonly AddressPattern[];
}

export interface ExpandAddress {
  /** The current addresses of a host name. */
  readonly host: (name: string) => readonly string[];
  /** Absolute patterns for a socket's path. */
  readonly path: (text: string) => readonly string[];
  /** A test for the name of an abstract socket. */
  readonly word: (text: string) => (name: string) => boolean;
}

/** `10.0.0.0/8`, `10.0.0.1:80`, `[::1]:80-90`, `*:53`, `unix:/run/**`, `unix:@name`, `loopback`, `example.org:443` … */
export function compileAddress(text: string, expand: ExpandAddress): AddressPattern[] {
  if (text.startsWith("unix:@"))
    return [{ kind: "unix", glob: undefined, abstract: expand.word(text.slice(6)) }];
  if (text.startsWith("unix:"))
    return expand
      .path(text.slice(5))
      .map((path) => ({ kind: "unix", glob: compileGlob(path), abstract: undefined }));
  if (text === OWN) return [{ kind: "own" }];
  const { host, ports } = splitPorts(text);
  if (host === "*") return compileWords(["internet"], ports, expand);
  if (Object.hasOwn(ADDRESS_WORDS, host)) return compileWords([host], ports, expand);
  const family = FAMILIES.find((name) => name === host);
  if (family) {
    if (ports) throw new PatternError(`"${text}": ${family} has no ports`);
    return [{ kind: "family", family }];
  }
  const network = parseNetwork(text, host);
  if (network) return [{ kind: "network", network, ports }];
  return hostAddresses(text, host, expand).map((network) => ({ kind: "network", network, ports }));
}

function compileWords(words: readonly string[], ports: Ports, expand: ExpandAddress): AddressPattern[] {
  const patterns = words.flatMap((word) =>
    ADDRESS_WORDS[word]!.flatMap((member) => compileAddress(member, expand)),
  );
  if (!ports) return patterns;
  return patterns.flatMap((pattern) => (pattern.kind === "network" ? [{ ...pattern, ports }] : []));
}

const HOST_NAME = /^(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?\.)*[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/i;

function hostAddresses(text: string, host: string, expand: ExpandAddress): Cidr[] {
  if (host.includes("*"))
    throw new PatternError(
      `"${text}": a connection carries an address, not a name, so names cannot have wildcards`,
    );
  if (!HOST_NAME.test(host))
    throw new PatternError(
      `"${text}" is not an address: write 10.0.0.1, 10.0.0.0/8, 10.0.0.1:80, "[::1]:80", "*:53", unix:/path, a host name, or one of ${OWN}, ${Object.keys(ADDRESS_WORDS).join(", ")}, ${FAMILIES.join(", ")}`,
    );
  return expand.host(host).map((address) => parseNetwork(text, address)!);
}

/** Splits `:80` or `:80-90` off the end. */
function splitPorts(text: string): { host: string; ports: Ports } {
  const bracketed = /^\[([^\]]*)\](?::(.+))?$/.exec(text);
  if (bracketed) return { host: bracketed[1]!, ports: parsePorts(text, bracketed[2]) };
  const colon = text.indexOf(":");
  if (colon < 0 || text.indexOf(":", colon + 1) >= 0) return { host: text, ports: undefined };
  return { host: text.slice(0, colon) || "*", ports: parsePorts(text, text.slice(colon + 1)) };
}

function parsePorts(text: string, ports: string | undefined): Ports {
  if (ports === undefined || ports === "*") return undefined;
  const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(ports);
  const from = Number(match?.[1]);
  const to = Number(match?.[2] ?? match?.[1]);
  if (!match || from > to || to > 65535)
    throw new PatternError(`"${text}": "${ports}" is not a port or a range of ports such as 80 or 8000-8999`);
  return [from, to];
}

function parseNetwork(text: string, host: string): Cidr | undefined {
  const [address = "", length, extra] = host.split("/");
  const ip = parseIp(address);
  if (!ip) {
    if (length !== undefined || /^[\d.]+$/.test(address) || address.includes(":"))
      throw new PatternError(
        `"${text}" is not an address: IPv4 is four decimal numbers up to 255, IPv6 as in fd00::1`,
      );
    return undefined;
  }
  const bits = ip.version === 4 ? 32 : 128;
  if (
    extra !== undefined ||
    (length !== undefined && !/^\d{1,3}$/.test(length)) ||
    Number(length ?? 0) > bits
  )
    throw new PatternError(`"${text}": the part after / is a number of bits from 0 to ${bits}`);
  const prefix = length === undefined ? bits : Number(length);
  const value = masked(ip.value, prefix, bits);
  if (value !== ip.value)
    throw new PatternError(
      `"${text}" has bits set after the first ${prefix}: is "${formatIp(ip.version, value)}/${prefix}" meant, or the single address?`,
    );
  return { version: ip.version, prefix, value };
}

function masked(value: bigint, prefix: number, bits: number): bigint {
  const rest = BigInt(bits - prefix);
  return (value >> rest) << rest;
}

/** An IPv4-mapped IPv6 address is the IPv4 address that it reaches, in patterns as in events. */
export function parseIp(host: string): { version: 4 | 6; value: bigint } | undefined {
  if (!host.includes(":")) {
    const bytes = encodeAddress({ family: "ipv4", host, port: 0 }, 2);
    return bytes && { version: 4, value: numberOf(bytes.subarray(4, 8)) };
  }
  const tail = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(host);
  const text = tail ? withHexTail(tail[1]!, tail[2]!) : host;
  if (text === undefined) return undefined;
  const bytes = encodeAddress({ family: "ipv6", host: text, port: 0 }, 10);
  if (!bytes) return undefined;
  const value = numberOf(bytes.subarray(8, 24));
  return value >> 32n === 0xffffn ? { version: 4, value: value & 0xffff_ffffn } : { version: 6, value };
}

/** `::ffff:10.0.0.1` as `::ffff:a00:1`. */
function withHexTail(head: string, four: string): string | undefined {
  const ip = parseIp(four);
  return ip && `${head}${(ip.value >> 16n).toString(16)}:${(ip.value & 0xffffn).toString(16)}`;
}

function numberOf(bytes: Uint8Array): bigint {
  return bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
}

function formatIp(version: 4 | 6, value: bigint): string {
  const groups = (count: number, bits: bigint, radix: number) =>
    Array.from({ length: count }, (_, i) =>
      ((value >> (bits * BigInt(count - 1 - i))) & ((1n << bits) - 1n)).toString(radix),
    );
  return version === 4 ? groups(4, 8n, 10).join(".") : groups(8, 16n, 16).join(":");
}

// ---------------------------------------------------------------- matching

/** The call's context besides the address: read only where a pattern needs it. */
export type AddressCaller = Pick<CallEvent, "process" | "kin">;

/** `strict`: packets that a program builds itself may go to any network. */
export function matchAddresses(
  list: AddressList,
  address: Address,
  caller: AddressCaller,
  strict: boolean,
): boolean {
  const anyNetwork = strict && address.family === "packet" && namesNetworks(list);
  return (
    (anyNetwork ||
      list.included.length === 0 ||
      list.included.some((p) => matchAddress(p, address, caller))) &&
    !list.excepted.some((p) => matchAddress(p, address, caller))
  );
}

/** True when the list names internet addresses, and so covers everything that may lead there. */
export function namesNetworks({ included }: AddressList): boolean {
  return included.length === 0 || included.some(({ kind }) => kind === "network");
}

function matchAddress(pattern: AddressPattern, address: Address, caller: AddressCaller): boolean {
  switch (pattern.kind) {
    case "network": {
      if (!isInternet(address) || !inPorts(pattern.ports, address.port)) return false;
      const ip = parseIp(address.host);
      return ip !== undefined && inNetwork(pattern.network, ip);
    }
    case "unix":
      return address.family === "unix" && matchUnix(pattern, address, () => caller.process.cwd);
    case "own":
      return caller.kin.listensAt(address);
    case "family":
      return pattern.family === "other"
        ? address.family === "other" || address.family === "unspecified"
        : address.family === pattern.family;
  }
}

export function inPorts(ports: Ports, port: number): boolean {
  return ports === undefined || (port >= ports[0] && port <= ports[1]);
}

function inNetwork(network: Cidr, ip: { version: 4 | 6; value: bigint }): boolean {
  const bits = ip.version === 4 ? 32 : 128;
  return ip.version === network.version && masked(ip.value, network.prefix, bits) === network.value;
}

function matchUnix(
  { glob, abstract }: Extract<AddressPattern, { kind: "unix" }>,
  address: UnixAddress,
  cwd: () => string,
): boolean {
  if (address.abstract) return abstract?.(address.path) === true;
  if (!glob || address.path === "") return false;
  return matchGlob(glob, split(unixPath(address.path, cwd)));
}

/** The path of a socket as text: absolute, without `.` and `..`. Links in it are not followed. */
export function unixPath(path: string, cwd: () => string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${cwd()}/${path}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}
