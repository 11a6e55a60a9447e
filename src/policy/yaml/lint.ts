import { DEEDS } from "../deeds.js";
import type { Rule } from "./rule.js";
import type { RuleSpec } from "./schema.js";
import { isAbout } from "./target.js";

/** Something that is allowed but probably not meant. */
export interface Finding {
  readonly rule: string;
  /** file:line:column */
  readonly at: string;
  readonly text: string;
}

/** What narrows a rule, besides what it is about. */
const CONDITIONS = [
  "path",
  "unless_made",
  "address",
  "argv",
  "argv_matches",
  "env",
  "user",
  "whom",
  "process",
  "fd",
  "flags",
  "where",
  "time",
] as const;
/** Whether these hold changes from call to call, so a rule with one of them leaves something to the next. */
const FLEETING = ["time", "rate", "when"] as const;
const EVERY_FILE = new Set(["/**", "**"]);
const EVERY_ADDRESS = new Set(["0.0.0.0/0", "::/0", "any", "internet"]);

const list = (value: unknown): string[] => (value === undefined ? [] : [value].flat().map(String));

/** Rules that can never decide, rules that change nothing, patterns that match everything. */
export function lint(rules: readonly Rule[], fallback: string): Finding[] {
  const findings: Finding[] = [];
  const find = ({ id, at }: Rule, text: string) => findings.push({ rule: id, at, text });
  for (const [i, rule] of rules.entries()) {
    const earlier = rules.slice(0, i).find((other) => covers(other, rule));
    if (earlier) find(rule, `it can never decide: rule ${earlier.id} before it matches all that it does`);
    if (list(rule.spec.path).some((text) => EVERY_FILE.has(text)))
      find(rule, "its path matches every file; leave `path` out if that is meant");
    if (list(rule.spec.address).filter((text) => EVERY_ADDRESS.has(text)).length > 1)
      find(rule, "its addresses match every peer; leave `address` out if that is meant");
    if (
      rule.key === "allow" &&
      fallback === "allow" &&
      !rules
        .slice(i + 1)
        .some((later) => later.key !== "allow" && later.key !== "watch" && overlap(later, rule))
    )
      find(
        rule,
        "it changes nothing: no rule after it would refuse what it allows, and neither would the default",
      );
  }
  return findings;
}

/** Whether every event that the second rule matches is decided by the first. */
function covers(first: Rule, second: Rule): boolean {
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

/** One pattern within another, as far as that can be read off them. */
function contains(wide: string, narrow: string): boolean {
  return (
    wide === narrow || EVERY_FILE.has(wide) || (wide.endsWith("/**") && narrow.startsWith(wide.slice(0, -2)))
  );
}

function overlap(a: Rule, b: Rule): boolean {
  return (
    DEEDS.some((deed) => isAbout(a.target, deed) && isAbout(b.target, deed)) ||
    [...a.target.calls].some((nr) => b.target.calls.has(nr)) ||
    a.target.effects.size * b.target.calls.size + a.target.calls.size * b.target.effects.size > 0
  );
}
