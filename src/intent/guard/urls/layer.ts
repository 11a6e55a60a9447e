import { parse as parseDomain } from "tldts";
import { type Finding, findings } from "../finding.js";
import type { Context, Layer } from "../layer.js";
import type { Subject } from "../subject.js";
import { type Allowed, allowedBy } from "./allowed.js";
import { addressesOf, decoded, isPlainAddress, readUrl, type UrlReading } from "./host.js";
import { addressInName, blockedName } from "./names.js";
import { collectorService, nestedUrls } from "./nested-urls.js";
import { blockedAddress, blockedRange } from "./ranges.js";
import { reachUrl } from "./reach-url.js";
import { isFetched, isForeignPort, schemeRow } from "./schemes.js";
import type { UrlsSection } from "./section.js";

const { ask, deny } = findings("urls");

/** Longer than servers accept. */
const LENGTH = 16_384;

/** What a fetch for an agent may reach: the internet, but not the host's own network. */
export const urlsLayer: Layer = {
  name: "urls",
  kinds: ["url"],
  check: (subject, context) => judgeUrl(subject.input, sectionOf(context)),
  lookup,
};

export function judgeUrl(input: string, allowed: Allowed): Finding[] {
  if (input.length > LENGTH) return [deny("too-long", "The URL is longer than servers accept.")];
  const url = readUrl(input);
  const scheme = schemeRow(url.scheme);
  if (scheme) return [{ layer: "urls", rule: scheme.rule, action: scheme.action, reason: scheme.reason }];
  if (url.scheme === "data") return judgeData(input);
  if (isFetched(url.scheme) && url.host === undefined && url.hosts.length === 0)
    return [deny("not-a-url", "The host of this URL cannot be determined.")];
  const blocked = url.hosts.flatMap(({ host }) => judgeHost(host, url, allowed));
  return [...unique(blocked), ...judgeShape(input, url), ...judgeLeads(url)];
}

function unique(all: readonly Finding[]): Finding[] {
  return [...new Map(all.map((finding) => [finding.rule, finding])).values()];
}

function judgeHost(host: string, url: UrlReading, allowed: Allowed): Finding[] {
  const name = blockedName(host);
  if (name && !(allowed(host, url.port) && name.rule !== "metadata-name"))
    return [
      {
        ...deny(name.rule, name.reason),
        ...(name.rule !== "metadata-name" && { about: target(host, url.port) }),
      },
    ];
  const addresses = addressesOf(host);
  const blocked = addresses
    .filter((address) => !allowed(address.toString(), url.port))
    .map(blockedRange)
    .find((range) => range !== undefined);
  if (blocked) return [{ ...deny(blocked.rule, blocked.reason), about: target(host, url.port) }];
  if (addresses.length > 0) {
    if (isPlainAddress(host)) return [];
    return [deny("obfuscated-address", `${host} is a disguised spelling of ${addresses.join(" or ")}.`)];
  }
  const inside = addressInName(host);
  const range = inside && !allowed(inside.address, url.port) ? blockedAddress(inside.address) : undefined;
  if (range && range.rule !== "not-an-address")
    return inside!.answered
      ? [deny("address-in-name", `${host} resolves to ${inside!.address}: ${range.reason}`)]
      : [ask("address-in-name", `${host} looks like a name for ${inside!.address}: ${range.reason}`)];
  const unqualified =
    isFetched(url.scheme) && /^[^.:]+$/.test(host) && host === url.host && !allowed(host, url.port);
  return unqualified ? [ask("unqualified-name", `${host} can only be a name of the local network.`)] : [];
}

/** As `allow: [{ connect: … }]` takes it. */
function target(host: string, port: string): string {
  const named = host.includes(":") ? `[${host}]` : host;
  return port === "" ? named : `${named}:${port}`;
}

/** How the URL is written: spellings in which two programs, or a person, see different hosts. */
function judgeShape(input: string, url: UrlReading): Finding[] {
  const found: Finding[] = [];
  const authority = /^\s*(?:[a-z][a-z0-9+.-]*:)?[/\\]{2,}([^/?]*)/i.exec(input)?.[1] ?? "";
  if (isFetched(url.scheme)) {
    const firm = new Set(url.hosts.filter((reading) => !reading.careless).map(({ host }) => host));
    const tricked = /[\\\t\r\n\0 ]|#.*@|@.*@/.test(authority) && url.hosts.length > 1;
    if (url.host === undefined || (firm.size > 1 && !sameName(firm)) || tricked)
      found.push(
        deny(
          "ambiguous-host",
          `Programs read different hosts in this URL: ${url.hosts.map(({ host }) => host).join(", ")}.`,
        ),
      );
    if (/%[0-9a-f]{2}/i.test(authority.slice(authority.lastIndexOf("@") + 1).replace(/^\[.*?\]/, "")))
      found.push(deny("encoded-host", "The host is percent-encoded, which only serves to hide it."));
    if (isDomain(url.user))
      found.push(
        deny("userinfo-host", `This leads to ${url.host}; ${url.user} is only a user name before it.`),
      );
    else if (url.password !== "")
      found.push(ask("credentials-in-url", "A password in a URL ends up in logs. Pass it in a header."));
  }
  if (isForeignPort(url.scheme, url.port))
    found.push(ask("foreign-port", `Port ${url.port} belongs to a service that does not speak HTTP.`));
  if (/[\r\n]/.test(decoded(url.path)) || SMUGGLED.test(decoded(url.query)))
    found.push(deny("header-injection", "Line breaks in this URL inject a second request or a header."));
  return found;
}

const SMUGGLED =
  /\r?\n\s*(?:[A-Z][A-Za-z-]{2,30}:\s|(?:GET|POST|PUT|DELETE|SET|CONFIG|FLUSHALL|SLAVEOF|EVAL|HELO|EHLO|QUIT)\b)/;

/** The same host in its own script and in punycode. */
function sameName(hosts: ReadonlySet<string>): boolean {
  return new Set([...hosts].map((host) => asciiName(host))).size === 1;
}

function asciiName(host: string): string {
  try {
    return new URL(`http://${host.includes(":") ? `[${host}]` : host}/`).hostname;
  } catch {
    return host;
  }
}

function isDomain(user: string): boolean {
  const text = user.split(/[^\p{L}\p{N}.-]/u)[0]!;
  const { isIcann, isIp } = parseDomain(text);
  return (
    text.includes(".") && (isIcann === true || isIp === true || blockedName(text.toLowerCase()) !== undefined)
  );
}

function judgeData(input: string): Finding[] {
  return /^\s*data:\s*(?:text\/html|application\/xhtml|image\/svg|text\/xml|application\/(?:x-)?javascript|text\/javascript)/i.test(
    input,
  )
    ? [ask("active-data", "This URL contains its own page, which can run code.")]
    : [];
}

/** Where the request leads next: parameters that carry a URL. */
function judgeLeads(url: UrlReading): Finding[] {
  if (!isFetched(url.scheme)) return [];
  const found: Finding[] = [];
  const sink = url.host && collectorService(url.host);
  if (sink) found.push(ask("collector", `${sink} shows its owner every request.`));
  for (const { name, value } of nestedUrls(url)) {
    const inner = judgeUrl(value, () => false).find(({ action }) => action === "deny");
    if (!inner) continue;
    const parameter = name === "" ? "The query" : `The parameter ${name}`;
    const returning =
      inner.rule.startsWith("loopback") && /redirect|return|callback|next|continue|origin|ru$/i.test(name);
    if (inner.rule.startsWith("metadata") || inner.rule === "link-local" || /-scheme$/.test(inner.rule))
      found.push(deny("leads-inside", `${parameter} leads on to ${value}: ${inner.reason}`));
    else if (!returning)
      found.push(ask("leads-inside", `${parameter} leads on to ${value}: ${inner.reason}`));
  }
  return unique(found);
}

async function lookup(subject: Subject, context: Context): Promise<readonly Finding[]> {
  if (!context.resolve) return [];
  return (await reachUrl(subject.input, context.resolve, sectionOf(context))).findings;
}

function sectionOf(context: Context): Allowed {
  return allowedBy(context.config.urls as UrlsSection | undefined);
}
