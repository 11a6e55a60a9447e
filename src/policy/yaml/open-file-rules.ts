import { ANY_DEPTH } from "../../nouns/glob.js";
import { BY_DESCRIPTOR, BY_DESCRIPTOR_OR_PATH } from "../call-effects.js";
import { WITH_PATH } from "../effect-conditions.js";
import type { Glob } from "../match/glob.js";
import { matchPaths } from "../match/path.js";
import type { CallSubscription, IsOwn, NotStatic, OpenFileRules, Subscription } from "../policy.js";
import type { CallPlan, PlannedEffect } from "./call-plan.js";
import { isNeedless } from "./read-rules.js";
import type { PolicyRule } from "./rule.js";

/** What else the view holds of the policy. */
interface View {
  /** Files that the rule refuses cannot be opened, because it is one of the rules on reading that the view holds. */
  hides(rule: PolicyRule): boolean;
  readonly isOwn: IsOwn;
}

/**
 * The rules on changing open files, if by them some folders may be changed as a whole, and nothing else. Read-only mounts
 * can hold that. It need not be a rule on this effect that says so: the first rule that fits decides.
 */
export function staticOpenFiles(plans: ReadonlyMap<number, CallPlan>, view: View): OpenFileRules | NotStatic {
  let all: OpenFileRules | undefined;
  for (const nr of [...BY_DESCRIPTOR, ...BY_DESCRIPTOR_OR_PATH]) {
    const plan = plans.get(nr);
    if (plan?.whole)
      return { why: `rule ${plan.whole.rules.all[0]!.id} is about the call ${plan.call.name}` };
    for (const part of plan?.effects ?? []) {
      if (!part.effect!.does.includes("fsetattr")) continue;
      const places = placesOf(part, view);
      if ("why" in places) return places;
      if (all && !isSame(all, places)) return { why: "the rules on these calls differ" };
      all = places;
    }
  }
  return all ?? { changeable: undefined };
}

function isSame(a: OpenFileRules, b: OpenFileRules): boolean {
  return JSON.stringify(a.changeable) === JSON.stringify(b.changeable);
}

/** Reads the rules in order, as a decision would. */
function placesOf({ rules, covered }: PlannedEffect, view: View): OpenFileRules | NotStatic {
  const allowed: string[] = [];
  /** They refuse something, and must be shown to refuse nothing in the folders that are allowed by a later rule. */
  const before: PolicyRule[] = [];
  const refusing: PolicyRule[] = [];
  const done = (): OpenFileRules | NotStatic => {
    const places = [...new Set(allowed)];
    const inside = before.find((rule) => !places.every((place) => excepts(rule, place)));
    return inside
      ? { why: `rule ${inside.id} refuses files in folders that may be changed` }
      : { changeable: places };
  };
  for (const rule of rules.all) {
    const { id, key, conditions, counters, paths } = rule;
    if (isNeedless(rule, view.isOwn) || (key === "deny" && view.hides(rule) && allowed.length === 0))
      continue;
    if (counters.length > 0) return { why: `rule ${id} counts` };
    const plain = conditions.every((condition) => condition.key === "path");
    if (key === "deny") {
      if (plain && (!paths || paths.included.length + paths.excepted.length === 0)) return done();
      refusing.push(rule);
      if (allowed.length === 0) before.push(rule);
    } else if (key === "allow") {
      if (!plain) return { why: `rule ${id} looks at more than the path` };
      if (!paths)
        return refusing.length === 0
          ? { changeable: undefined }
          : { why: `rule ${id} allows everything else` };
      const places = paths.included.map(placeOf);
      if (paths.excepted.length > 0 || places.includes(undefined))
        return { why: `rule ${id} allows to change files, and not whole folders` };
      allowed.push(...(places as string[]).filter((place) => place !== ITSELF));
    } else if (allowed.length === 0 || !isRefusedOutside(rule, refusing, allowed))
      return { why: `rule ${id}: \`${key}\` needs a decision` };
  }
  if (covered) return done();
  return allowed.length + refusing.length === 0
    ? { changeable: undefined }
    : { why: "no rule refuses all other files" };
}

/** What a process says of itself in /proc: no mount is about it. */
const ITSELF = "";

/** The folder or device that a pattern stands for; undefined: some of the files in a folder. */
function placeOf({ literal, parts, exact }: Glob): string | undefined {
  if (literal[0] === "proc") return ITSELF;
  const path = `/${literal.join("/")}`;
  const isFolder = parts.length === literal.length + 1 && parts.at(-1) === ANY_DEPTH;
  // Terminals: all that is in the folder.
  const isTerminals = literal.join("/") === "dev/pts" && parts.length === 3;
  return isFolder || isTerminals || (exact && literal[0] === "dev") ? path : undefined;
}

/** The rule is about nothing in the folder. */
function excepts({ paths }: PolicyRule, place: string): boolean {
  if (paths?.excepted.some((glob) => placeOf(glob) === place)) return true;
  const device = place === "/dev/pts" ? "/dev/pts/0" : place;
  return paths !== undefined && place.startsWith("/dev/") && !matchPaths(paths, device);
}

/** Another rule has refused before it what this rule is about, except in the folders that may be changed. */
function isRefusedOutside(
  { paths }: PolicyRule,
  refusing: readonly PolicyRule[],
  allowed: readonly string[],
): boolean {
  const covers = (rule: PolicyRule, text: string) =>
    rule.conditions.every((condition) => condition.key === "path") &&
    rule.paths!.included.some((glob) => glob.text === text) &&
    rule.paths!.excepted.every((glob) => allowed.includes(placeOf(glob) ?? ""));
  return (
    paths !== undefined &&
    paths.included.length > 0 &&
    paths.included.every(({ text }) => refusing.some((rule) => covers(rule, text)))
  );
}

/** Whether a call does nothing but change an open file. */
export function isByDescriptor(nr: number, effect: PlannedEffect["effect"]): boolean {
  return (
    [...BY_DESCRIPTOR, ...BY_DESCRIPTOR_OR_PATH].includes(nr) && effect?.does.includes("fsetattr") === true
  );
}

/** The subscription without calls that only change open files. */
export function withoutOpenFiles({ calls, constants }: Subscription): Subscription {
  const left = new Map<number, CallSubscription>(calls);
  for (const nr of BY_DESCRIPTOR) left.delete(nr);
  for (const nr of BY_DESCRIPTOR_OR_PATH) {
    const wanted = left.get(nr);
    if (wanted) left.set(nr, { ...wanted, when: WITH_PATH });
  }
  return { calls: left, constants };
}
