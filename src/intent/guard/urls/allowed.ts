import ipaddr from "ipaddr.js";
import * as z from "zod";
import { blockedAddress } from "./ranges.js";

/** `urls:` in hermes.yaml. A project's file may not set `allow`: it allows something. */
export const urlsSection = z.strictObject({
  /** Targets in the own network that may be reached: names, addresses and ranges, each with an optional port. */
  allow: z.array(z.string()).default([]).describe("e.g. localhost:3000, 10.1.0.0/16, wiki.corp"),
});
export type UrlsSection = z.infer<typeof urlsSection>;

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
