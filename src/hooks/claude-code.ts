import type { Agent, Decision, HookCall } from "./agent.js";
import { permission } from "./permission.js";

/** https://code.claude.com/docs/en/hooks */
export const claudeCode: Agent = {
  name: "claude-code",
  events: { PreToolUse: "before", PermissionRequest: "permission", PostToolUse: "after" },
  project: "CLAUDE_PROJECT_DIR",
  tools: {
    Bash: { does: "command", field: "command" },
    Read: { does: "path", field: "file_path", access: "read" },
    NotebookRead: { does: "path", field: "notebook_path", access: "read" },
    Write: { does: "path", field: "file_path", access: "write" },
    Edit: { does: "path", field: "file_path", access: "write" },
    MultiEdit: { does: "path", field: "file_path", access: "write" },
    NotebookEdit: { does: "path", field: "notebook_path", access: "write" },
    Glob: { does: "path", field: "path", access: "read", otherwise: "." },
    Grep: { does: "path", field: "path", access: "read", otherwise: "." },
    LS: { does: "path", field: "path", access: "read", otherwise: "." },
    WebFetch: { does: "url", field: "url" },
    WebSearch: { does: "nothing" },
    Task: { does: "nothing" },
    Agent: { does: "nothing" },
    TodoWrite: { does: "nothing" },
    BashOutput: { does: "nothing" },
    KillShell: { does: "nothing" },
    KillBash: { does: "nothing" },
    TaskOutput: { does: "nothing" },
    TaskStop: { does: "nothing" },
    ExitPlanMode: { does: "nothing" },
    EnterPlanMode: { does: "nothing" },
    AskUserQuestion: { does: "nothing" },
    Skill: { does: "nothing" },
    SlashCommand: { does: "nothing" },
    ToolSearch: { does: "nothing" },
  },
  asks: true,
  /** Milliseconds there; a command in the background may run for as long as the session. */
  timeout: ({ timeout, run_in_background: background }) =>
    background === true
      ? 86_400
      : typeof timeout === "number" && timeout > 0
        ? Math.ceil(timeout / 1000)
        : 600,
  answer(call, decision) {
    if (call.moment === "permission") return permission(call, decision);
    return call.moment === "before" ? before(decision) : after(call, decision);
  },
};

function before({ action, reason, input }: Decision): object | undefined {
  // Nothing to run otherwise, and nothing against it: the user's own permissions of the agent decide.
  if (action === "allow" && !input) return undefined;
  return {
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision: action,
      permissionDecisionReason: reason,
      ...(input && { updatedInput: input }),
    },
  };
}

function after({ event, tool }: HookCall, { action, reason, output }: Decision): object | undefined {
  if (action === "allow" && output === undefined) return undefined;
  return {
    ...(action === "deny" && { decision: "block", reason }),
    hookSpecificOutput: {
      hookEventName: event,
      additionalContext: reason,
      // Only what MCP servers return can be replaced.
      ...(output !== undefined && tool.startsWith("mcp__") && { updatedMCPToolOutput: output }),
    },
  };
}
