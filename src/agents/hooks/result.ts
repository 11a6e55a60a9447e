import { redact } from "../../intent/guard/credentials/secrets.js";
import { type Action, type Finding, findings, strictest } from "../../intent/guard/finding.js";
import type { Guard } from "../../intent/guard/guard.js";
import type { Context } from "../../intent/guard/layer.js";
import type { AgentAdapter, HookCall } from "./agent.js";
import { refusedFile, withoutRefusedLines } from "./search-results.js";
import { textsIn, withTexts } from "./texts-in-value.js";

/** No model reads more of a result at once. */
const LONGEST = 1 << 20;

export interface JudgedResult {
  readonly action: Action;
  readonly findings: readonly Finding[];
  /** The result in its own shape, without secrets and injected instructions, if there were any. */
  readonly output?: unknown;
  readonly length: number;
}

const { allow } = findings("hooks");

/** Tools whose results are written by outsiders: web pages. MCP results count too. */
const FROM_OUTSIDE = /^(?:WebFetch|WebSearch|web_fetch|google_web_search|web_search)$/;

/**
 * Judges a tool's result before the model reads it. Text from outsiders is scanned for prompt injection. Other results are
 * scanned for secrets only, because a project's own files may legitimately contain such text.
 */
export async function judgeResult(
  call: HookCall,
  agent: AgentAdapter,
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
  // Secrets can be redacted and the rest is safe to read. Injected instructions cannot be separated from the rest.
  const order = found.find((finding) => finding.action === "deny" && finding.layer !== "credentials");
  if (order) return { ...common, findings: found, output: replaced(response, order) };
  const isRefused = agent.tools[tool]?.does === "search" ? refusedFile(call, config) : undefined;
  const clean = withTexts(
    response,
    (one) => redact(isRefused ? withoutRefusedLines(one, isRefused) : one).text,
  );
  if (JSON.stringify(clean) === JSON.stringify(response)) return { ...common, findings: found };
  const left = allow("secret-in-result", "The result contained secrets; HERMES redacted them.");
  return { ...common, findings: [...found, left], output: clean };
}

/** Replaces withheld text with the reason, in the shape of the tool's result. */
function replaced(response: unknown, { reason, rule }: Finding): unknown {
  const words = `HERMES withheld this result: ${reason} (${rule})`;
  let said = false;
  return withTexts(response, (text, key) => {
    if (key === "type" || text === "") return text;
    const answer = said ? "" : words;
    said = true;
    return answer;
  });
}
