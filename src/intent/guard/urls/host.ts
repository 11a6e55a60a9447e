import ipaddr from "ipaddr.js";

/** A host as one of several programs would read it from a URL. */
interface HostReading {
  readonly host: string;
  /** Only careless parsers read this as the host: it can refuse a URL, but is not its host. */
  readonly careless: boolean;
}

export interface UrlReading {
  /** Lower case, without the colon; empty when there is none. */
  readonly scheme: string;
  /** The host as browsers and Node read it (WHATWG); undefined when they reject the text. */
  readonly host: string | undefined;
  readonly hosts: readonly HostReading[];
  readonly user: string;
  readonly password: string;
  readonly port: string;
  readonly path: string;
  readonly query: string;
}

/** Characters that IDNA turns into a dot. */
const DOTS = /[\u3002\uff0e\uff61]/g;
const SCHEME = /^([a-z][a-z0-9+.-]*):/i;
/** `localhost:8080/x` has no scheme, although it looks like one. */
const HOST_AND_PORT = /^[^\s/?#@:]+:\d{1,5}(?:[/?#]|$)/;

/** `git@github.com:org/repo.git`, as scp and git write it. */
const SCP = /^([\w.-]+@[\w.-]+):(?!\d+(?:[/?#]|$))(?!\/\/)(\S*)$/;

/** Every way to read the text as a URL: programs differ, and the one that fetches may not be the one that checks. */
export function readUrl(text: string): UrlReading {
  const trimmed = text.replace(/^[\0-\x20]+|[\0-\x20]+$/g, "");
  const bare = trimmed.replace(/[\t\r\n]/g, "").replace(SCP, "ssh://$1/$2");
  const scheme = HOST_AND_PORT.test(bare) ? undefined : SCHEME.exec(bare)?.[1]?.toLowerCase();
  const withScheme = scheme ? bare : `http:${bare.startsWith("//") ? "" : "//"}${bare}`;
  const parsed = whatwg(withScheme);
  const rest = withScheme.slice(withScheme.indexOf(":") + 1);
  const hosts = new Map<string, HostReading>();
  const add = (raw: string | undefined, careless: boolean) => {
    for (const host of raw === undefined ? [] : hostForms(raw))
      if (host !== "" && !hosts.has(host)) hosts.set(host, { host, careless });
  };
  add(parsed?.hostname, false);
  if (/^[/\\]{2}|^[/\\]*[^/\\]/.test(rest) && (isSpecial(scheme ?? "http") || rest.startsWith("//"))) {
    const after = rest.replace(/^[/\\]+/, "");
    for (const end of [/[/?#]/, /[/\\?#]/]) {
      const authority = after.slice(0, indexOf(after, end));
      add(hostOf(authority.slice(authority.lastIndexOf("@") + 1)), false);
      add(hostOf(authority.slice(authority.indexOf("@") + 1)), true);
    }
    // Parsers that look for the last "@" before they cut off the query, or that stop at white space.
    const long = after.slice(0, indexOf(after, /\//));
    add(hostOf(long.slice(long.lastIndexOf("@") + 1)), true);
    add(hostOf(long.slice(0, indexOf(long, /[@\s#?]/))), true);
    const raw = trimmed.slice(scheme ? trimmed.indexOf(":") + 1 : 0).replace(/^[/\\]+/, "");
    add(hostOf(raw.slice(0, indexOf(raw, /[\s/\\?#]/))), true);
  }
  return {
    scheme: scheme ?? "",
    host: parsed && cleanHost(parsed.hostname),
    hosts: [...hosts.values()],
    user: decoded(parsed?.username ?? ""),
    password: decoded(parsed?.password ?? ""),
    port: parsed?.port ?? "",
    path: parsed?.pathname ?? "",
    query: parsed?.search ?? "",
  };
}

function whatwg(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

function isSpecial(scheme: string): boolean {
  return /^(?:https?|wss?|ftp)$/.test(scheme);
}

function indexOf(text: string, pattern: RegExp): number {
  const at = text.search(pattern);
  return at < 0 ? text.length : at;
}

function hostOf(authority: string): string {
  if (authority.startsWith("[")) return authority.slice(0, indexOf(authority, /\]/) + 1);
  return authority.slice(0, indexOf(authority, /:/));
}

/** Percent-decoding that never throws. */
export function decoded(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  }
}

function cleanHost(host: string): string {
  return decoded(host)
    .normalize("NFKC")
    .replace(DOTS, ".")
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/%.*$/s, "")
    .replace(/[\0-\x20]|\p{Default_Ignorable_Code_Point}/gu, "")
    .replace(/\.+$/, "");
}

function hostForms(raw: string): string[] {
  const once = cleanHost(raw);
  const twice = cleanHost(decoded(once));
  return once === twice ? [once] : [once, twice];
}

/**
 * Every IP address that some parser makes of this host: dotted, decimal, octal, hexadecimal, short (127.1), with
 * leading zeros read as decimal, and with overflowing parts that wrap around. Empty for a name.
 */
export function addressesOf(host: string): (ipaddr.IPv4 | ipaddr.IPv6)[] {
  if (host.includes(":")) return ipaddr.IPv6.isValid(host) ? [ipaddr.IPv6.parse(host)] : [];
  const parts = host.split(".");
  if (parts.length > 4 || !parts.every((part) => /^(?:0x[0-9a-f]*|\d+)$/.test(part) && part.length <= 40))
    return [];
  const found = new Map<number, ipaddr.IPv4>();
  for (const octal of [true, false]) {
    const address = assemble(parts.map((part) => numberOf(part, octal)));
    found.set(Number(address), fromNumber(address));
  }
  return [...found.values()];
}

function numberOf(part: string, octal: boolean): bigint {
  if (part.startsWith("0x")) return BigInt(part === "0x" ? 0 : part);
  if (octal && /^0[0-7]+$/.test(part)) return BigInt(`0o${part.slice(1)}`);
  return BigInt(part);
}

/** The last part fills the remaining bytes, as in inet_aton. */
function assemble(numbers: readonly bigint[]): bigint {
  const last = numbers.at(-1)!;
  const rest = BigInt(8 * (5 - numbers.length));
  const head = numbers.slice(0, -1).reduce((sum, n, i) => sum | ((n & 255n) << BigInt(24 - 8 * i)), 0n);
  return (head | (last & ((1n << rest) - 1n))) & 0xffffffffn;
}

function fromNumber(value: bigint): ipaddr.IPv4 {
  const n = Number(value);
  return new ipaddr.IPv4([n >>> 24, (n >>> 16) & 255, (n >>> 8) & 255, n & 255]);
}

/** In the usual notation: four decimal parts, or IPv6. */
export function isPlainAddress(host: string): boolean {
  return host.includes(":") || /^(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})$/.test(host);
}
