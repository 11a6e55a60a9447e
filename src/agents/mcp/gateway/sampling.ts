import type { Guard } from "../../../intent/guard/guard.js";
import { SamplingGate } from "../../../intent/guard/mcp/sampling.js";
import type { McpSection } from "../../../intent/guard/mcp/section.js";
import { type Json, REFUSED, RpcError } from "./peer.js";
import { whyOf } from "./scan.js";

/** A server's requests to the client's model, within the limits of mcp.sampling in hermes.yaml. */
export class Sampling {
  readonly #gate: SamplingGate;
  readonly #models: readonly string[];
  readonly #default: readonly string[];
  readonly #guard: Guard;

  constructor(limits: McpSection["sampling"], guard: Guard) {
    this.#gate = new SamplingGate(limits);
    this.#models = limits.models;
    this.#default = limits.default_model === undefined ? [] : [limits.default_model];
    this.#guard = guard;
  }

  /** The client chooses the model, whatever was asked for: an answer of another is refused. */
  checkAnswer(result: Json): Json {
    const { model } = result;
    if (typeof model === "string" && this.#models.includes(model)) return result;
    throw new RpcError(
      REFUSED,
      `The answer is by ${typeof model === "string" ? model : "a model without a name"}, which is not in mcp.sampling.models.`,
    );
  }

  /** The request that may be sent instead; throws when it is not allowed. */
  limited(server: string, params: Json): Json {
    const wanted = modelsOf(params);
    const models = wanted.length > 0 ? wanted : this.#default;
    const judgement = this.#guard.check({
      kind: "mcp",
      input: JSON.stringify({ method: "sampling/createMessage", params }),
    });
    if (judgement.action === "deny") throw new RpcError(REFUSED, whyOf(judgement, "deny"));
    if (models.length === 0 && this.#models.length > 0) throw new RpcError(REFUSED, NO_HINT);
    const answer = this.#gate.ask({
      server,
      model: models.find((model) => !this.#models.includes(model)) ?? models[0] ?? "any model",
      maxTokens: typeof params.maxTokens === "number" ? params.maxTokens : Number.POSITIVE_INFINITY,
      toolRounds: toolRounds(params.messages),
    });
    if (!answer.allowed) throw new RpcError(REFUSED, answer.reason);
    return {
      ...params,
      maxTokens: answer.maxTokens,
      modelPreferences: {
        ...(params.modelPreferences as Json | undefined),
        hints: models.map((name) => ({ name })),
      },
    };
  }
}

const NO_HINT =
  "The request names no model in modelPreferences.hints; name one of mcp.sampling.models, or set mcp.sampling.default_model.";

function modelsOf({ modelPreferences }: Json): string[] {
  const { hints } = (modelPreferences ?? {}) as { hints?: unknown };
  return Array.isArray(hints)
    ? hints.flatMap((hint) => (typeof hint?.name === "string" ? [hint.name as string] : []))
    : [];
}

interface Message {
  readonly role?: unknown;
  readonly content?: unknown;
}

/** The number of tool-call answers since the user's last message. */
function toolRounds(messages: unknown): number {
  let rounds = 0;
  for (const { role, content } of (Array.isArray(messages) ? messages : []) as Message[]) {
    const types = (Array.isArray(content) ? content : [content]).map((part) => (part as Json | null)?.type);
    if (role === "assistant" && types.includes("tool_use")) rounds++;
    if (role === "user" && types.includes("text")) rounds = 0;
  }
  return rounds;
}
