import { rereadOf, syscallByName } from "../../abi/index.js";
import { CALL_EFFECTS } from "../call-effects.js";
import { isChange, type PolicyRule } from "./rule.js";
import { callsConcerned, isAbout, widerEffect } from "./rule-target.js";
import type { RuleSpec } from "./schema.js";

/** A construct that is valid but probably unintended. */
interface LintFinding {
  readonly rule: string;
  /** file:line:column */
  readonly at: string;
  readonly text: string;
}

/** The keys that narrow a rule, besides its target. */
const CONDITIONS = [
  "path",
  "unless_made",
  "address",
  "argv",
  "argv_matches",
  "env",
  "user",
  "process",
  "fd",
  "flags",
  "where",
  "target",
  "signal",
  "family",
  "type",
  "time",
] as const;
/**
 * These conditions change from call to call, so a rule with one of them leaves some calls to the next rule.
 */
const FLEETING = ["time", "rate", "when"] as const;
const EVERY_FILE = new Set(["/**", "**"]);
const EVERYTHING = new Set([...EVERY_FILE, "any"]);
const EVERY_ADDRESS = new Set(["0.0.0.0/0", "::/0", "any", "internet"]);

const list = (value: unknown): string[] => (value === undefined ? [] : [value].flat().map(String));

/** Finds rules that can never decide, rules without effect, and patterns that match everything. */
export function lint(rules: readonly PolicyRule[], fallback: string): LintFinding[] {
  const findings: LintFinding[] = [];
  const find = ({ id, at }: PolicyRule, text: string) => findings.push({ rule: id, at, text });
  for (const [i, rule] of rules.entries()) {
    const earlier = rules.slice(0, i).find((other) => covers(other, rule));
    if (earlier) find(rule, `it can never decide: rule ${earlier.id} before it matches the same calls`);
    for (const text of senseless(rule)) find(rule, text);
    const names =
      rule.spec.path === undefined ? [] : rule.target.names.filter((name) => isRefusedByMemory(name));
    if (names.length > 0)
      find(
        rule,
        `rules on the path of ${names.join(", ")} cannot be enforced, because the kernel reads the path a second time: the call is refused for every path. Leave \`path\` out`,
      );
    for (const name of isChange(rule) ? rule.target.names : []) {
      const effect = widerEffect(name);
      if (effect !== undefined)
        find(
          rule,
          `${name} is one call of several that ${effect} covers; write ${name}() if you mean it alone`,
        );
    }
    if (list(rule.spec.path).some((text) => EVERY_FILE.has(text)))
      find(rule, "its path matches every file; leave `path` out if you mean that");
    if (list(rule.spec.address).filter((text) => EVERY_ADDRESS.has(text)).length > 1)
      find(rule, "its addresses match every peer; leave `address` out if you mean that");
    if (
      rule.key === "allow" &&
      fallback === "allow" &&
      !rules
        .slice(i + 1)
        .some((later) => later.key !== "allow" && later.key !== "watch" && overlap(later, rule))
    )
      find(rule, "it has no effect: no later rule, and not the default, would refuse what it allows");
  }
  return findings;
}

/** Conditions that can never hold, and those that always hold. */
function senseless(rule: PolicyRule): string[] {
  const calls = callsConcerned(rule.target).filter(rule.fits);
  const bySense = rule.conditions.flatMap((condition) => {
    const senses = new Set(calls.map((call) => condition.sense?.(call) ?? "sometimes"));
    // Calls without such an argument never match; the others count.
    if (senses.size > 1) senses.delete("never");
    const [sense] = senses;
    if (senses.size > 1 || sense === "sometimes") return [];
    return sense === "never"
      ? [`it can never match: its \`${condition.key}\` can never hold`]
      : [`its \`${condition.key}\` always holds; leave it out if you mean that`];
  });
  const emptied = EXCEPTING.filter((key) => exceptsAll(list(rule.spec[key])));
  return [
    ...bySense,
    ...emptied.map(
      (key) => `it can never match: the exceptions of its \`${key}\` exclude everything that it names`,
    ),
    ...(isOnlyOwn(rule)
      ? [
          "it can never match: the effect `signal` covers other processes only; name the calls (kill …) for signals to the caller itself",
        ]
      : []),
  ];
}

const EXCEPTING = ["path", "address", "user", "target"] as const;

function exceptsAll(texts: readonly string[]): boolean {
  const excepted = texts.filter((text) => text.startsWith("!")).map((text) => text.slice(1));
  const included = texts.filter((text) => !text.startsWith("!"));
  if (excepted.some((text) => EVERYTHING.has(text))) return true;
  return included.length > 0 && included.every((text) => excepted.some((pattern) => contains(pattern, text)));
}

/** A signal to the caller itself is not the effect `signal`. */
function isOnlyOwn({ spec, target }: PolicyRule): boolean {
  return list(spec.target).join() === "own" && target.calls.size === 0;
}

/** The effect, or the name of a call, whose path the kernel reads again (abi/reread.ts). */
function isRefusedByMemory(name: string): boolean {
  const call = syscallByName(name);
  return name === "mount" || (call !== undefined && rereadOf(call) === "refused");
}

/** True when the first rule decides every event that the second matches. */
function covers(first: PolicyRule, second: PolicyRule): boolean {
  if (first.key === "watch" || FLEETING.some((key) => first.spec[key] !== undefined)) return false;
  if (![...second.target.effects].every((effect) => first.target.effects.has(effect))) return false;
  if (![...second.target.calls].every((nr) => first.target.calls.has(nr))) return false;
  return CONDITIONS.every((key) => isWider(first.spec, second.spec, key));
}

function isWider(first: RuleSpec, second: RuleSpec, key: (typeof CONDITIONS)[number]): boolean {
  if (first[key] === undefined) return true;
  if (second[key] === undefined) return false;
  if (key !== "path" && key !== "address") return JSON.stringify(first[key]) === JSON.stringify(second[key]);
  const [wide, narrow] = [list(first[key]), list(second[key])];
  if (wide.some((text) => text.startsWith("!"))) return JSON.stringify(wide) === JSON.stringify(narrow);
  if (narrow.every((text) => text.startsWith("!"))) return false; // it means everything else
  return narrow.every((text) => text.startsWith("!") || wide.some((pattern) => contains(pattern, text)));
}

/** True when one pattern is provably contained in another. */
function contains(wide: string, narrow: string): boolean {
  return (
    wide === narrow || EVERY_FILE.has(wide) || (wide.endsWith("/**") && narrow.startsWith(wide.slice(0, -2)))
  );
}

function overlap(a: PolicyRule, b: PolicyRule): boolean {
  return (
    CALL_EFFECTS.some((effect) => isAbout(a.target, effect) && isAbout(b.target, effect)) ||
    [...a.target.calls].some((nr) => b.target.calls.has(nr)) ||
    a.target.effects.size * b.target.calls.size + a.target.calls.size * b.target.effects.size > 0
  );
}
