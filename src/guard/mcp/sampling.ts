import type { McpSection } from "./section.js";

/** What a server may ask of the client's model. */
export interface SamplingQuestion {
  readonly server: string;
  readonly model: string;
  readonly maxTokens: number;
  /** How many answers with tool calls came before this one, without a word of the user between. */
  readonly toolRounds?: number;
}

export type SamplingAnswer =
  | { readonly allowed: true; readonly maxTokens: number }
  | { readonly allowed: false; readonly rule: string; readonly reason: string };

/** Counts what each server asks for, over the last minute. */
export class SamplingGate {
  readonly #limits: McpSection["sampling"];
  readonly #asked = new Map<string, number[]>();
  readonly #now: () => number;

  constructor(limits: McpSection["sampling"], now: () => number = Date.now) {
    this.#limits = limits;
    this.#now = now;
  }

  ask(question: SamplingQuestion): SamplingAnswer {
    const refusal = refused(question, this.#limits);
    if (refusal) return { allowed: false, ...refusal };
    const now = this.#now();
    const recent = (this.#asked.get(question.server) ?? []).filter((at) => now - at < 60_000);
    if (recent.length >= this.#limits.max_rpm)
      return {
        allowed: false,
        rule: "max-rpm",
        reason: `${question.server} has asked ${recent.length} times within a minute (limit ${this.#limits.max_rpm}).`,
      };
    this.#asked.set(question.server, [...recent, now]);
    return { allowed: true, maxTokens: Math.min(question.maxTokens, this.#limits.max_tokens_cap) };
  }
}

/** What can be said of one request by itself. */
export function refused(
  { model, toolRounds = 0 }: Pick<SamplingQuestion, "model" | "toolRounds">,
  limits: McpSection["sampling"],
): { rule: string; reason: string } | undefined {
  if (!limits.models.includes(model))
    return {
      rule: "model-not-allowed",
      reason: `${model} is not on the list of models that servers may use (mcp.sampling.models).`,
    };
  if (toolRounds > limits.max_tool_rounds)
    return {
      rule: "max-tool-rounds",
      reason: `${toolRounds} rounds of tool calls are more than ${limits.max_tool_rounds}.`,
    };
  return undefined;
}
