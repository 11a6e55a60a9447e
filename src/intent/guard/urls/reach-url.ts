import { lookup } from "node:dns/promises";
import { type Finding, findings } from "../finding.js";
import type { Allowed } from "./allowed.js";
import { addressesOf, readUrl } from "./host.js";
import { blockedAddress } from "./ranges.js";
import { isFetched } from "./schemes.js";

const { deny } = findings("urls");

/** Every address of a name; rejects when it cannot be resolved. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** The system's own resolver, /etc/hosts included: the one that a program on this machine uses. */
export const systemResolve: Resolve = async (host) =>
  (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);

interface UrlReach {
  /** The only addresses that may be connected to. */
  readonly addresses: readonly string[];
  readonly findings: readonly Finding[];
}

/** Refused when *any* address is blocked: the owner of the name chooses which one is used. No address is a refusal. */
export async function reachUrl(url: string, resolve: Resolve, allowed: Allowed): Promise<UrlReach> {
  const { host, port, scheme } = readUrl(url);
  if (!host || !isFetched(scheme)) return { addresses: [], findings: [] };
  const literal = addressesOf(host)[0];
  if (literal) return { addresses: [literal.toString()], findings: [] };
  let answers: readonly string[];
  try {
    answers = await resolve(host);
  } catch (error) {
    return {
      addresses: [],
      findings: [deny("unresolved", `${host} cannot be resolved: ${(error as Error).message}`)],
    };
  }
  if (answers.length === 0)
    return { addresses: [], findings: [deny("unresolved", `${host} has no address.`)] };
  const refused = answers.flatMap((answer) => {
    const range = allowed(host, port) || allowed(answer, port) ? undefined : blockedAddress(answer);
    return range ? [deny(range.rule, `${host} resolves to ${answer}: ${range.reason}`)] : [];
  });
  return { addresses: answers, findings: refused.slice(0, 1) };
}
