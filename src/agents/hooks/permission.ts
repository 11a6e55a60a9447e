import type { HookCall, HookDecision } from "./agent.js";

/**
 * The agent is about to ask its user. A refusal stays a refusal; on everything else the user decides, as without this hook.
 * The answer never carries an input: Codex treats one as a refusal.
 */
export function permission({ event }: HookCall, { action, reason }: HookDecision): object | undefined {
  if (action !== "deny") return undefined;
  return { hookSpecificOutput: { hookEventName: event, decision: { behavior: "deny", message: reason } } };
}
