import type { InstructionEvent } from "../../event.js";
import type { Action, Verdict } from "../../verdict.js";
import { PatternError } from "../match/glob.js";
import type { InstructionInterest } from "../policy.js";
import { MADE_UP_PROCESS } from "./example-event.js";
import type { InstructionRule } from "./instruction-rule.js";

const keyOf = ({ name, module }: { name: string; module?: string }) => `${module ?? ""}!${name}`;

/** The rules about instructions of a policy. The first that holds decides, as among rules on calls. */
export class InstructionRules {
  readonly all: readonly InstructionRule[];
  readonly interests: readonly InstructionInterest[];
  readonly #byInterest: readonly (readonly InstructionRule[])[];

  constructor(rules: readonly InstructionRule[]) {
    this.all = rules;
    const patterns = new Map(rules.flatMap((rule) => rule.patterns.map((one) => [keyOf(one), one] as const)));
    const found = [...patterns].map(([key, pattern], index) => {
      const concerned = rules.filter((rule) => rule.patterns.some((one) => keyOf(one) === key));
      const actions = new Set<Action>(
        concerned.map(({ key }) => (key === "watch" ? "allow" : key) as Action),
      );
      return { interest: { ...pattern, actions, index }, concerned };
    });
    this.interests = found.map(({ interest }) => interest);
    this.#byInterest = found.map(({ concerned }) => concerned);
  }

  decide(event: InstructionEvent, { index }: InstructionInterest): Verdict | undefined {
    let watched: Verdict | undefined;
    for (const rule of this.#byInterest[index]!) {
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
      const text = `it can never decide: rule ${earlier?.id} before it matches all that it does`;
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

/** Undefined when the rule holds for the example: `{ instruction: cpuid, leaf: 7 }`, `{ instruction: rdtsc, exe: /bin/ls }`. */
export function whyNotInstruction(
  rule: InstructionRule,
  example: Readonly<Record<string, unknown>>,
): string | undefined {
  const stray = Object.keys(example).find((key) => !EXAMPLE_KEYS.includes(key));
  if (stray !== undefined || example.instruction === undefined)
    throw new PatternError(
      `an example of an instruction is { instruction: cpuid, leaf: 7 }${stray === undefined ? "" : `: it has no \`${stray}\``}`,
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
