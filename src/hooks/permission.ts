import type { Decision, HookCall } from "./agent.js";

/**
 * The agent is about to ask its user. What is refused is refused; all else is the user's to decide, as it would be without
 * this hook. An input in this answer makes Codex refuse it: there never is one.
 */
export function permission({ event }: HookCall, { action, reason }: Decision): object | undefined {
  if (action !== "deny") return undefined;
  return { hookSpecificOutput: { hookEventName: event, decision: { behavior: "deny", message: reason } } };
}
