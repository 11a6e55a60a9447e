import { CALL_EFFECTS } from "../call-effects.js";
import { DEFAULT_COVERS, type Effect } from "../effects.js";
import type { AddressPattern } from "../match/address.js";
import type { PathReach, PolicyFloor } from "../policy.js";
import type { PolicyRule } from "./rule.js";
import { isAbout } from "./rule-target.js";
import type { Default } from "./yaml-policy.js";

const MAX_PORTS = 256;

/**
 * The upper bound of what the rules permit: a fence can enforce it. It is never narrower than the rules. Only
 * conditions on path and address count, and if a rule permits without either, there is no bound.
 */
export function rulesFloor(rules: readonly PolicyRule[], fallback: Default): PolicyFloor {
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

/** The rules that may permit this effect; undefined when the default permits it too. */
function permitted(
  rules: readonly PolicyRule[],
  fallback: Default,
  effect: Effect,
): PolicyRule[] | undefined {
  const effects = CALL_EFFECTS.filter((deed) => deed.does.includes(effect));
  const found: PolicyRule[] = [];
  for (const rule of rules) {
    const refuses = rule.key === "deny" || rule.key === "kill";
    const always = rule.conditions.length === 0 && rule.counters.length === 0;
    if (
      refuses &&
      always &&
      effects.every((effect) => isAbout(rule.target, effect) && rule.fits(effect.call))
    )
      return found;
    if (!refuses && rule.key !== "watch" && effects.some((effect) => isAbout(rule.target, effect)))
      found.push(rule);
  }
  return fallback === "deny" && DEFAULT_COVERS.includes(effect) ? found : undefined;
}

/**
 * The paths that a rule may match; undefined for all. A redirect leads to a path that the conditions do not
 * show.
 */
function reachesOf({ key, paths }: PolicyRule): readonly PathReach[] | undefined {
  if (!paths || paths.included.length === 0 || key === "redirect") return undefined;
  return paths.included.map(({ literal, exact }) => ({ path: `/${literal.join("/")}`, exact }));
}

/** The TCP ports of a rule's addresses; undefined for any. Addresses other than networks have none. */
function portsOf({ key, addresses }: PolicyRule): readonly number[] | undefined {
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
