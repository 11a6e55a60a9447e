import { redact } from "../guard/credentials/secrets.js";
import { type Action, type Finding, findings, strictest } from "../guard/finding.js";
import type { Guard } from "../guard/guard.js";
import type { Context } from "../guard/layer.js";
import type { Agent, HookCall } from "./agent.js";
import { refusedFile, withoutRefused } from "./search.js";
import { textsIn, withTexts } from "./texts.js";

/** More of a result is not read by a model at once either. */
const LONGEST = 1 << 20;

export interface JudgedResult {
  readonly action: Action;
  readonly findings: readonly Finding[];
  /** The result in its own shape without secrets and orders, when there were some. */
  readonly output?: unknown;
  readonly length: number;
}

const { allow } = findings("hooks");

/** Tools whose results somebody else has written: a page. Those of MCP servers are, too. */
const FROM_OUTSIDE = /^(?:WebFetch|WebSearch|web_fetch|google_web_search|web_search)$/;

/**
 * What a tool has returned, before the model goes on. What outsiders wrote is looked through for orders to the agent; of all
 * the rest only secrets matter, since a project's own files may well speak of such things.
 */
export async function judgeResult(
  call: HookCall,
  agent: Agent,
  guard: Guard,
  config: Context["config"],
): Promise<JudgedResult> {
  const { tool, response } = call;
  const text = textsIn(response).join("\n");
  const shown = text.slice(0, LONGEST);
  const outside = agent.servers.test(tool) || FROM_OUTSIDE.test(tool);
  const found = outside
    ? (await guard.judge({ kind: "mcp", input: JSON.stringify({ content: shown }) })).findings
    : [];
  const action = found.reduce<Action>((worst, finding) => strictest(worst, finding.action), "allow");
  const common = { action, length: text.length };
  // Secrets are taken out, and the rest may be read; orders to the agent cannot be told from the rest.
  const order = found.find((finding) => finding.action === "deny" && finding.layer !== "credentials");
  if (order) return { ...common, findings: found, output: replaced(response, order) };
  const isRefused = agent.tools[tool]?.does === "search" ? refusedFile(call, config) : undefined;
  const clean = withTexts(response, (one) => redact(isRefused ? withoutRefused(one, isRefused) : one).text);
  if (JSON.stringify(clean) === JSON.stringify(response)) return { ...common, findings: found };
  const left = allow("secret-in-result", "The result held secrets, which HERMES has taken out.");
  return { ...common, findings: [...found, left], output: clean };
}

/** The reason in place of what must not reach the model, in the shape that the tool's result has. */
function replaced(response: unknown, { reason, rule }: Finding): unknown {
  const words = `HERMES has taken this result out: ${reason} (${rule})`;
  let said = false;
  return withTexts(response, (text, key) => {
    if (key === "type" || text === "") return text;
    const answer = said ? "" : words;
    said = true;
    return answer;
  });
}
