import ipaddr from "ipaddr.js";
import { blockedAddress } from "./ranges.js";
import type { UrlsSection } from "./section.js";

/** Whether the operator allows this host (a name or an address) on this port. */
export type Allowed = (host: string, port: string) => boolean;

export function allowedBy(section: UrlsSection | undefined): Allowed {
  const entries = (section?.allow ?? []).map(entry);
  if (entries.length === 0) return () => false;
  return (host, port) => entries.some((test) => test(host, port)) && !isMetadata(host);
}

function isMetadata(host: string): boolean {
  return ipaddr.isValid(host) && blockedAddress(host)?.rule === "metadata-address";
}

function entry(text: string): Allowed {
  const [, host, port] = /^(.*?)(?::(\d{1,5}|\*))?$/.exec(
    text.startsWith("[") || !/:.*:/.test(text) ? text : `[${text}]`,
  )!;
  const bare = host!.replace(/^\[|\]$/g, "").toLowerCase();
  const portFits = (given: string) => port === undefined || port === "*" || given === port;
  if (ipaddr.isValidCIDR(bare)) {
    const [base, bits] = ipaddr.parseCIDR(bare);
    return (given, p) => {
      if (!portFits(p) || !ipaddr.isValid(given)) return false;
      const address = ipaddr.process(given);
      return address.kind() === base.kind() && address.match(base as never, bits);
    };
  }
  return (given, p) => given === bare && portFits(p);
}
