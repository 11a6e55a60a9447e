import { DEEDS } from "../deeds.js";
import { DEFAULT_COVERS, type Effect } from "../effects.js";
import type { AddressPattern } from "../match/address.js";
import type { PolicyFloor, Reach } from "../policy.js";
import type { Rule } from "./rule.js";
import { isAbout } from "./target.js";
import type { Default } from "./yaml-policy.js";

const MAX_PORTS = 256;

/**
 * What no rule can permit, whatever the moment: the floor that a fence may put under the policy. It is never narrower
 * than the rules: conditions other than the path or the address do not count, and where a rule permits without naming
 * any, there is no floor.
 */
export function floorOf(rules: readonly Rule[], fallback: Default): PolicyFloor {
  const read = permitted(rules, fallback, "read")?.map(reachesOf);
  const write = permitted(rules, fallback, "write")?.map(reachesOf);
  const connect = permitted(rules, fallback, "connect")?.map(portsOf);
  const bind = permitted(rules, fallback, "bind")?.map(portsOf);
  return {
    ...(isComplete(read) && { read: read.flat() }),
    ...(isComplete(write) && { write: write.flat() }),
    ...(isComplete(connect) && { connect: [...new Set(connect.flat())] }),
    ...(isComplete(bind) && { bind: [...new Set(bind.flat())] }),
  };
}

function isComplete<T>(lists: readonly (readonly T[] | undefined)[] | undefined): lists is readonly T[][] {
  return lists?.every((list) => list !== undefined) === true;
}

/** The rules that may permit something with this effect; undefined when what no rule speaks of is permitted too. */
function permitted(rules: readonly Rule[], fallback: Default, effect: Effect): Rule[] | undefined {
  const deeds = DEEDS.filter((deed) => deed.does.includes(effect));
  const found: Rule[] = [];
  for (const rule of rules) {
    const refuses = rule.key === "deny" || rule.key === "kill";
    const always = rule.conditions.length === 0 && rule.counters.length === 0;
    if (refuses && always && deeds.every((deed) => isAbout(rule.target, deed) && rule.fits(deed.call)))
      return found;
    if (!refuses && rule.key !== "watch" && deeds.some((deed) => isAbout(rule.target, deed)))
      found.push(rule);
  }
  return fallback === "deny" && DEFAULT_COVERS.includes(effect) ? found : undefined;
}

/** Where a rule's paths may lie; undefined for everywhere. A redirection leads where its paths do not tell. */
function reachesOf({ key, paths }: Rule): readonly Reach[] | undefined {
  if (!paths || paths.included.length === 0 || key === "redirect") return undefined;
  return paths.included.map(({ literal, exact }) => ({ path: `/${literal.join("/")}`, exact }));
}

/** The TCP ports of a rule's addresses; undefined for any. Addresses that are no network have none. */
function portsOf({ key, addresses }: Rule): readonly number[] | undefined {
  if (!addresses || addresses.included.length === 0 || key === "redirect") return undefined;
  const ports = addresses.included.map(portsOfPattern);
  return isComplete(ports) ? ports.flat() : undefined;
}

function portsOfPattern(pattern: AddressPattern): readonly number[] | undefined {
  if (pattern.kind === "own") return undefined;
  if (pattern.kind !== "network") return [];
  const [from, to] = pattern.ports ?? [0, 65_535];
  return to - from < MAX_PORTS ? Array.from({ length: to - from + 1 }, (_, i) => from + i) : undefined;
}
