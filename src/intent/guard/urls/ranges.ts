import ipaddr from "ipaddr.js";
import { once } from "../../../nouns/once.js";

/** Addresses that a request for an agent must never reach: a rule id, and why. */
interface BlockedRange {
  readonly cidr: string;
  readonly rule: string;
  readonly reason: string;
}

/**
 * Single addresses first: their reason is more specific than that of the range around them. No setting allows these.
 */
const METADATA: readonly BlockedRange[] = [
  [
    "169.254.169.254/32",
    "the instance metadata of AWS, Google, Azure, Oracle, DigitalOcean, Hetzner and others",
  ],
  ["169.254.170.2/32", "the credentials of an AWS ECS task"],
  ["169.254.170.23/32", "the credentials of an AWS EKS pod"],
  ["169.254.42.42/32", "the instance metadata of Scaleway"],
  ["169.254.0.23/32", "the instance metadata of Tencent Cloud"],
  ["169.254.10.10/32", "a node-local resolver of a Kubernetes cluster"],
  ["100.100.100.200/32", "the instance metadata of Alibaba Cloud"],
  ["168.63.129.16/32", "the wire server of Azure"],
  ["192.0.0.192/32", "the instance metadata of Oracle Cloud Classic"],
  ["fd00:ec2::254/128", "the instance metadata of AWS"],
  ["fd00:ec2::23/128", "the credentials of an AWS EKS pod"],
  ["fd20:ce::254/128", "the instance metadata of Google Cloud"],
  ["fd00:a9fe:a9fe::1/128", "the instance metadata of Linode"],
  ["fd00:42::42/128", "the instance metadata of Scaleway"],
].map(([cidr, what]) => ({
  cidr: cidr!,
  rule: "metadata-address",
  reason: `${cidr!.split("/")[0]} is ${what}.`,
}));

const RANGES: readonly BlockedRange[] = [
  ["0.0.0.0/8", "unspecified", "means this host itself"],
  ["10.0.0.0/8", "private", "is a private network (RFC 1918)"],
  ["100.64.0.0/10", "carrier-nat", "is shared between a provider and its customers (CGNAT, RFC 6598)"],
  ["127.0.0.0/8", "loopback", "is this host itself"],
  ["169.254.0.0/16", "link-local", "is the local link, where clouds keep their metadata (RFC 3927)"],
  ["172.16.0.0/12", "private", "is a private network (RFC 1918)"],
  ["192.0.0.0/24", "reserved", "is reserved for protocols (RFC 6890)"],
  ["192.0.2.0/24", "documentation", "is for documentation only (RFC 5737)"],
  ["192.88.99.0/24", "reserved", "was the relay anycast of 6to4 (RFC 7526)"],
  ["192.168.0.0/16", "private", "is a private network (RFC 1918)"],
  ["198.18.0.0/15", "benchmark", "is for measurements inside a network (RFC 2544)"],
  ["198.51.100.0/24", "documentation", "is for documentation only (RFC 5737)"],
  ["203.0.113.0/24", "documentation", "is for documentation only (RFC 5737)"],
  ["224.0.0.0/4", "multicast", "reaches many hosts at once (RFC 5771)"],
  ["240.0.0.0/4", "reserved", "is reserved, or the broadcast address (RFC 1112)"],
  ["::/128", "unspecified", "means this host itself"],
  ["::1/128", "loopback", "is this host itself"],
  ["64:ff9b:1::/48", "translated", "is translated to IPv4 by the local network (RFC 8215)"],
  ["100::/64", "reserved", "discards all packets (RFC 6666)"],
  ["2001::/32", "tunnel", "is a Teredo tunnel to a hidden IPv4 address (RFC 4380)"],
  ["2001:2::/48", "benchmark", "is for measurements inside a network (RFC 5180)"],
  ["2001:10::/28", "reserved", "is a hash, not an address (ORCHID, RFC 4843)"],
  ["2001:20::/28", "reserved", "is a hash, not an address (ORCHIDv2, RFC 7343)"],
  ["2001:db8::/32", "documentation", "is for documentation only (RFC 3849)"],
  ["2002::/16", "tunnel", "is a 6to4 tunnel to a hidden IPv4 address (RFC 3056)"],
  ["3fff::/20", "documentation", "is for documentation only (RFC 9637)"],
  ["fc00::/7", "private", "is a private network (unique local, RFC 4193)"],
  ["fe80::/10", "link-local", "is the local link (RFC 4291)"],
  ["fec0::/10", "private", "is a private network (site-local, RFC 3879)"],
  ["ff00::/8", "multicast", "reaches many hosts at once (RFC 4291)"],
].map(([cidr, rule, what]) => ({ cidr: cidr!, rule: rule!, reason: `${cidr} ${what}.` }));

export const BLOCKED_RANGES: readonly BlockedRange[] = [...METADATA, ...RANGES];

type Address = ipaddr.IPv4 | ipaddr.IPv6;
const parsed = once(() => BLOCKED_RANGES.map((range) => ({ range, net: ipaddr.parseCIDR(range.cidr) })));

const NOT_GLOBAL: BlockedRange = {
  cidr: "::/0",
  rule: "reserved",
  reason: "Outside of 2000::/3 no IPv6 address is routed on the internet (RFC 4291).",
};

/** IPv6 forms that contain the IPv4 address that is really reached, and its position in the 16 bytes. */
const carriers = once(() =>
  [
    { cidr: "::ffff:0:0/96", at: 12 }, // IPv4-mapped
    { cidr: "::ffff:0:0:0/96", at: 12 }, // IPv4-translated (SIIT)
    { cidr: "::/96", at: 12 }, // IPv4-compatible
    { cidr: "64:ff9b::/96", at: 12 }, // NAT64
    { cidr: "2002::/16", at: 2 }, // 6to4
  ].map(({ cidr, at }) => ({ net: ipaddr.parseCIDR(cidr) as [ipaddr.IPv6, number], at })),
);

const global = once(() => ipaddr.parseCIDR("2000::/3") as [ipaddr.IPv6, number]);

/** Rules that an allowed address or name lifts. */
export const HOST_RULES: readonly string[] = [
  ...new Set(RANGES.map(({ rule }) => rule)),
  "loopback-name",
  "internal-name",
];

/** The IPv4 address inside an IPv6 one, for forms that have one. */
function carriedIpv4(address: ipaddr.IPv6): ipaddr.IPv4 | undefined {
  const bytes = address.toByteArray();
  const at = carriers().find(({ net }) => address.match(net))?.at;
  if (at !== undefined) return new ipaddr.IPv4(bytes.slice(at, at + 4));
  // ISATAP (RFC 5214) puts it after 0000:5efe or 0200:5efe, with any prefix.
  const isatap = (bytes[8]! & 0xfd) === 0 && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe;
  return isatap ? new ipaddr.IPv4(bytes.slice(12)) : undefined;
}

/** Why this address must not be reached; undefined for an ordinary internet address. */
export function blockedRange(address: Address): BlockedRange | undefined {
  const own = parsed().find(
    ({ net: [base, bits] }) => base.kind() === address.kind() && address.match(base as never, bits),
  );
  if (address.kind() === "ipv4") return own?.range;
  const six = address as ipaddr.IPv6;
  const four = carriedIpv4(six);
  if (own && own.range.rule !== "tunnel") return own.range;
  const inner = four && blockedRange(four);
  if (inner) return { ...inner, reason: `${six} carries ${four}: ${inner.reason}` };
  if (own) return own.range;
  return four || six.match(global()) ? undefined : NOT_GLOBAL;
}

/** The same for an address as text, as a resolver returns it. Invalid text is blocked. */
export function blockedAddress(text: string): BlockedRange | undefined {
  const bare = text.replace(/%.*$/s, "");
  if (!ipaddr.isValid(bare))
    return { cidr: text, rule: "not-an-address", reason: `${text} is not an IP address.` };
  return blockedRange(ipaddr.parse(bare));
}
