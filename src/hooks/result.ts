import { redact } from "../guard/credentials/secrets.js";
import { type Action, type Finding, findings, strictest } from "../guard/finding.js";
import type { Guard } from "../guard/guard.js";
import type { HookCall } from "./agent.js";

/** More of a result is not read by a model at once either. */
const LONGEST = 1 << 20;

export interface JudgedResult {
  readonly action: Action;
  readonly findings: readonly Finding[];
  /** The result without secrets, when there were some. */
  readonly output?: string;
  readonly length: number;
}

const { allow } = findings("hooks");

/** Tools whose results somebody else has written: a page, another program's answer. */
const FROM_OUTSIDE = /^(?:mcp__|WebFetch$|WebSearch$|web_fetch$|google_web_search$|web_search$)/;

/**
 * What a tool has returned, before the model goes on. What outsiders wrote is looked through for orders to the agent; of all
 * the rest only secrets matter, since a project's own files may well speak of such things.
 */
export async function judgeResult({ tool, response }: HookCall, guard: Guard): Promise<JudgedResult> {
  const text = textsIn(response).join("\n");
  const shown = text.slice(0, LONGEST);
  const found = FROM_OUTSIDE.test(tool)
    ? (await guard.judge({ kind: "mcp", input: JSON.stringify({ content: shown }) })).findings
    : [];
  const clean = redact(shown);
  const secrets = clean.text === shown ? [] : [allow("secret-in-result", "The result holds secrets.")];
  return {
    action: found.reduce<Action>((worst, finding) => strictest(worst, finding.action), "allow"),
    findings: [...found, ...secrets],
    ...(secrets.length > 0 && { output: clean.text }),
    length: text.length,
  };
}

/** All text that a model would read of it. */
function textsIn(value: unknown, depth = 0): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null || depth > 16) return [];
  return Object.values(value).flatMap((inner) => textsIn(inner, depth + 1));
}
