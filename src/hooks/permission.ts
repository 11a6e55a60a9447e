import type { Decision, HookCall } from "./agent.js";

/**
 * The agent is about to ask its user. What is refused is refused; what this hook has allowed and rewritten before needs no
 * second answer; all else is the user's to decide. An input in this answer makes Codex refuse it: there never is one.
 */
export function permission({ event }: HookCall, { action, reason, ours }: Decision): object | undefined {
  if (action === "deny")
    return {
      hookSpecificOutput: { hookEventName: event, decision: { behavior: "deny", message: reason } },
    };
  return action === "allow" && ours
    ? { hookSpecificOutput: { hookEventName: event, decision: { behavior: "allow" } } }
    : undefined;
}
