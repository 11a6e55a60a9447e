import type { McpSection } from "./section.js";

/** A server's request to the client's model. */
interface SamplingQuestion {
  readonly server: string;
  readonly model: string;
  readonly maxTokens: number;
  /** How many answers with tool calls came before this one, without a message of the user in between. */
  readonly toolRounds?: number;
}

type SamplingAnswer =
  | { readonly allowed: true; readonly maxTokens: number }
  | { readonly allowed: false; readonly rule: string; readonly reason: string };

/** Counts the requests of each server over the last minute. */
export class SamplingGate {
  readonly #limits: McpSection["sampling"];
  readonly #asked = new Map<string, number[]>();
  readonly #now: () => number;

  constructor(limits: McpSection["sampling"], now: () => number = Date.now) {
    this.#limits = limits;
    this.#now = now;
  }

  ask(question: SamplingQuestion): SamplingAnswer {
    const refusal = samplingRefusal(question, this.#limits);
    if (refusal) return { allowed: false, ...refusal };
    const now = this.#now();
    const recent = (this.#asked.get(question.server) ?? []).filter((at) => now - at < 60_000);
    if (recent.length >= this.#limits.max_rpm)
      return {
        allowed: false,
        rule: "max-rpm",
        reason: `${question.server} sent ${recent.length} requests within a minute (limit mcp.sampling.max_rpm: ${this.#limits.max_rpm}).`,
      };
    this.#asked.set(question.server, [...recent, now]);
    return { allowed: true, maxTokens: Math.min(question.maxTokens, this.#limits.max_tokens_cap) };
  }
}

/** Findings on a single request. */
export function samplingRefusal(
  { model, toolRounds = 0 }: Pick<SamplingQuestion, "model" | "toolRounds">,
  limits: McpSection["sampling"],
): { rule: string; reason: string } | undefined {
  if (!limits.models.includes(model))
    return {
      rule: "model-not-allowed",
      reason: `${model} is not in mcp.sampling.models, the list of models that servers may use.`,
    };
  if (toolRounds > limits.max_tool_rounds)
    return {
      rule: "max-tool-rounds",
      reason: `${toolRounds} rounds of tool calls exceed mcp.sampling.max_tool_rounds (${limits.max_tool_rounds}).`,
    };
  return undefined;
}
