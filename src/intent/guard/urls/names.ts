/** Names that lead into the host's own network, even if they resolve elsewhere today. */
interface BlockedName {
  readonly name: string;
  readonly rule: string;
  readonly reason: string;
}

const metadata = (name: string, of: string): BlockedName => ({
  name,
  rule: "metadata-name",
  reason: `${name} returns the instance metadata and credentials of ${of}.`,
});

/** Exact names, and everything below them. No setting allows the metadata names. */
export const BLOCKED_HOSTNAMES: readonly BlockedName[] = [
  metadata("metadata.google.internal", "Google Cloud"),
  metadata("metadata.goog", "Google Cloud"),
  metadata("metadata", "Google Cloud"),
  metadata("instance-data", "AWS"),
  metadata("instance-data.ec2.internal", "AWS"),
  metadata("metadata.azure.com", "Azure"),
  metadata("metadata.azure.internal", "Azure"),
  metadata("metadata.tencentyun.com", "Tencent Cloud"),
  metadata("metadata.aliyun.com", "Alibaba Cloud"),
  metadata("metadata.aliyuncs.com", "Alibaba Cloud"),
  metadata("metadata.oraclecloud.com", "Oracle Cloud"),
  metadata("metadata.cloud.ibm.com", "IBM Cloud"),
  metadata("metadata.packet.net", "Equinix Metal"),
  metadata("metadata.platformequinix.com", "Equinix Metal"),
  metadata("metadata.exoscale.com", "Exoscale"),
  metadata("metadata.hetzner.cloud", "Hetzner Cloud"),
  metadata("metadata.vultr.com", "Vultr"),
  metadata("metadata.nicp", "a private cloud"),
  metadata("rancher-metadata", "Rancher"),
];

const local = (name: string, why: string): BlockedName => ({
  name,
  rule: "internal-name",
  reason: `${name} ${why}.`,
});

/** Names and suffixes that only have a meaning inside a network. */
const INTERNAL: readonly BlockedName[] = [
  ...[
    "localhost",
    "localhost.localdomain",
    "localdomain",
    "local-host",
    "loopback",
    "ip6-localhost",
    "ip6-loopback",
  ].map((name) => ({ name, rule: "loopback-name", reason: `${name} is this host itself.` })),
  ...["broadcasthost", "ip6-allnodes", "ip6-allrouters"].map((name) =>
    local(name, "is an alias in /etc/hosts"),
  ),
  ...[
    "internal",
    "intranet",
    "corp",
    "home",
    "lan",
    "private",
    "local",
    "home.arpa",
    "localnet",
    "domain_not_set.invalid",
  ].map((name) => local(name, "exists inside private networks only")),
  ...["svc", "cluster.local", "kubernetes", "kubernetes.default", "consul"].map((name) =>
    local(name, "names a service inside a cluster"),
  ),
  ...["host.docker.internal", "gateway.docker.internal", "host.containers.internal"].map((name) =>
    local(name, "is the host of a container"),
  ),
];

/** Public names that resolve to the client's own host. */
const TO_LOOPBACK: readonly BlockedName[] = [
  "localtest.me",
  "lvh.me",
  "vcap.me",
  "fuf.me",
  "lacolhost.com",
  "localho.st",
  "127-0-0-1.org.uk",
  "bugbounty.dod.network",
  "spoofed.burpcollaborator.net",
  "localdomain.pw",
  "localhost.direct",
  "localhost.run.place",
  "loopback.jp",
  "lndo.site",
  "ddev.site",
  "local.gd",
].map((name) => ({ name, rule: "loopback-name", reason: `${name} is a public name for this host itself.` }));

/** Domains whose names change their address between two lookups, or resolve to any address that the client chose. */
const REBINDING: readonly BlockedName[] = [
  "rbndr.us",
  "1u.ms",
  "lock.cmpxchg8b.com",
  "rebind.network",
  "rebind.it",
].map((name) => ({
  name,
  rule: "dns-rebinding",
  reason: `Names under ${name} change their address between check and use (DNS rebinding).`,
}));

const NAMES: ReadonlyMap<string, BlockedName> = new Map(
  [...BLOCKED_HOSTNAMES, ...INTERNAL, ...TO_LOOPBACK, ...REBINDING].map((row) => [row.name, row]),
);

/** Services that resolve names with an address inside: 10.0.0.1.nip.io, 0a000001.nip.io, 10-0-0-1.sslip.io. */
const ADDRESS_IN_NAME = [
  "nip.io",
  "sslip.io",
  "xip.io",
  "xip.name",
  "traefik.me",
  "backname.io",
  "ip6.name",
  "plex.direct",
  "local-ip.co",
  "localip.cc",
  "local-ip.medicmobile.org",
];

/** The row for this host or its closest parent. */
export function blockedName(host: string): BlockedName | undefined {
  for (let rest = host; ; rest = rest.slice(rest.indexOf(".") + 1)) {
    const row = NAMES.get(rest);
    // A plain word such as "metadata" blocks only itself; a suffix also blocks every name that ends in it.
    if (row && (rest === host || !SINGLE.has(rest))) return row;
    if (!rest.includes(".")) return undefined;
  }
}

const SINGLE = new Set([
  "metadata",
  "instance-data",
  "rancher-metadata",
  "kubernetes",
  "loopback",
  "local-host",
]);

/** An address written inside a name, and whether the name's domain is known to resolve to it. */
export function addressInName(host: string): { address: string; answered: boolean } | undefined {
  const answered = ADDRESS_IN_NAME.some((domain) => host.endsWith(`.${domain}`));
  const quad = /(?:^|[.-])((?:\d{1,3}\.){3}\d{1,3}|(?:\d{1,3}-){3}\d{1,3})(?=[.-]|$)/.exec(host)?.[1];
  if (quad) return { address: quad.replaceAll("-", "."), answered };
  if (!answered) return undefined;
  const hex = /(?:^|[.-])([0-9a-f]{8})(?=\.)/.exec(host)?.[1];
  if (hex)
    return { address: (hex.match(/../g) ?? []).map((h) => Number.parseInt(h, 16)).join("."), answered };
  const six = /(?:^|\.)((?:[0-9a-f]{0,4}-){2,7}[0-9a-f]{0,4})(?=\.)/.exec(host)?.[1];
  return six ? { address: six.replaceAll("-", ":"), answered } : undefined;
}
