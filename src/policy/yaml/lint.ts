import { rereadOf, syscallByName } from "../../abi/index.js";
import { DEEDS } from "../deeds.js";
import type { Rule } from "./rule.js";
import type { RuleSpec } from "./schema.js";
import { callsConcerned, isAbout } from "./target.js";

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
/** Whether these hold changes from call to call, so a rule with one of them leaves something to the next. */
const FLEETING = ["time", "rate", "when"] as const;
const EVERY_FILE = new Set(["/**", "**"]);
const EVERYTHING = new Set([...EVERY_FILE, "any"]);
const EVERY_ADDRESS = new Set(["0.0.0.0/0", "::/0", "any", "internet"]);

const list = (value: unknown): string[] => (value === undefined ? [] : [value].flat().map(String));

/** Rules that can never decide, rules that change nothing, patterns that match everything. */
export function lint(rules: readonly Rule[], fallback: string): Finding[] {
  const findings: Finding[] = [];
  const find = ({ id, at }: Rule, text: string) => findings.push({ rule: id, at, text });
  for (const [i, rule] of rules.entries()) {
    const earlier = rules.slice(0, i).find((other) => covers(other, rule));
    if (earlier) find(rule, `it can never decide: rule ${earlier.id} before it matches all that it does`);
    for (const text of senseless(rule)) find(rule, text);
    const names =
      rule.spec.path === undefined ? [] : rule.target.names.filter((name) => isRefusedByMemory(name));
    if (names.length > 0)
      find(
        rule,
        `${names.join(", ")} by a path cannot be held, since the kernel reads the path again: whatever the path, it is refused. Leave \`path\` out`,
      );
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

/** Conditions that cannot hold, and such that always do. */
function senseless(rule: Rule): string[] {
  const calls = callsConcerned(rule.target).filter(rule.fits);
  const bySense = rule.conditions.flatMap((condition) => {
    const senses = new Set(calls.map((call) => condition.sense?.(call) ?? "sometimes"));
    // Calls that have no such argument never match; the others count.
    if (senses.size > 1) senses.delete("never");
    const [sense] = senses;
    if (senses.size > 1 || sense === "sometimes") return [];
    return sense === "never"
      ? [`it can never match: nothing satisfies its \`${condition.key}\``]
      : [`its \`${condition.key}\` always holds; leave it out if that is meant`];
  });
  const emptied = EXCEPTING.filter((key) => exceptsAll(list(rule.spec[key])));
  return [
    ...bySense,
    ...emptied.map(
      (key) => `it can never match: the exceptions of its \`${key}\` take away all that it names`,
    ),
    ...(isOnlyOwn(rule)
      ? [
          "it can never match: `signal` is about other processes; name the calls (kill …) to mean the caller's own",
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

/** A signal to oneself alone is not the effect `signal`. */
function isOnlyOwn({ spec, target }: Rule): boolean {
  return list(spec.target).join() === "own" && target.calls.size === 0;
}

/** The effect, or the name of a call, whose paths are read again (abi/reread.ts). */
function isRefusedByMemory(name: string): boolean {
  const call = syscallByName(name);
  return name === "mount" || (call !== undefined && rereadOf(call) === "refused");
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
