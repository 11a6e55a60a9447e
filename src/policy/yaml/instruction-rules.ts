import type { InstructionEvent } from "../../nouns/event.js";
import type { Verdict, VerdictAction } from "../../nouns/verdict.js";
import { PatternError } from "../match/glob.js";
import type { InstructionSubscription } from "../policy.js";
import { MADE_UP_PROCESS } from "./example-event.js";
import type { InstructionRule } from "./instruction-rule.js";

const keyOf = ({ name, module }: { name: string; module?: string }) => `${module ?? ""}!${name}`;

/** A policy's rules on instructions. The first match decides, as among rules on calls. */
export class InstructionRules {
  readonly all: readonly InstructionRule[];
  readonly subscriptions: readonly InstructionSubscription[];
  readonly #bySubscription: readonly (readonly InstructionRule[])[];

  constructor(rules: readonly InstructionRule[]) {
    this.all = rules;
    const patterns = new Map(rules.flatMap((rule) => rule.patterns.map((one) => [keyOf(one), one] as const)));
    const found = [...patterns].map(([key, pattern], index) => {
      const concerned = rules.filter((rule) => rule.patterns.some((one) => keyOf(one) === key));
      const actions = new Set<VerdictAction>(
        concerned.map(({ key }) => (key === "watch" ? "allow" : key) as VerdictAction),
      );
      return { interest: { ...pattern, actions, index }, concerned };
    });
    this.subscriptions = found.map(({ interest }) => interest);
    this.#bySubscription = found.map(({ concerned }) => concerned);
  }

  decide(event: InstructionEvent, { index }: InstructionSubscription): Verdict | undefined {
    let watched: Verdict | undefined;
    for (const rule of this.#bySubscription[index]!) {
      if (rule.whyNot(event) !== undefined) continue;
      if (rule.key === "watch") watched ??= rule.answer(event);
      else return rule.answer(event) ?? watched;
    }
    return watched;
  }

  /** Rules that can never decide. */
  lint(): string[] {
    return this.all.flatMap((rule, i) => {
      const earlier = this.all.slice(0, i).find((other) => covers(other, rule));
      const text = `it can never decide: rule ${earlier?.id} before it matches the same instructions`;
      return earlier ? [`${rule.at}: rule ${rule.id}: ${text}`] : [];
    });
  }
}

function covers(first: InstructionRule, second: InstructionRule): boolean {
  if (first.key === "watch") return false;
  const known = new Set(first.patterns.map(keyOf));
  if (!second.patterns.every((pattern) => known.has(keyOf(pattern)))) return false;
  return (["leaf", "subleaf", "process"] as const).every(
    (key) =>
      first.spec[key] === undefined || JSON.stringify(first.spec[key]) === JSON.stringify(second.spec[key]),
  );
}

const EXAMPLE_KEYS = ["instruction", "leaf", "subleaf", "exe"];

/**
 * Undefined when the rule matches the example: `{ instruction: cpuid, leaf: 7 }`, `{ instruction: rdtsc, exe:
 * /bin/ls }`.
 */
export function whyNotInstruction(
  rule: InstructionRule,
  example: Readonly<Record<string, unknown>>,
): string | undefined {
  const stray = Object.keys(example).find((key) => !EXAMPLE_KEYS.includes(key));
  if (stray !== undefined || example.instruction === undefined)
    throw new PatternError(
      `an example of an instruction is { instruction: cpuid, leaf: 7 }${stray === undefined ? "" : `: \`${stray}\` is unknown`}`,
    );
  if (!rule.patterns.some(({ name }) => name === example.instruction))
    return `it is about ${rule.patterns.map(({ name }) => name).join(", ")}`;
  const number = (value: unknown) => (value === undefined ? undefined : Number(value));
  return rule.whyNot({
    leaf: number(example.leaf),
    subleaf: number(example.subleaf),
    process: { ...MADE_UP_PROCESS, ...(example.exe !== undefined && { exe: String(example.exe) }) },
  });
}
