import type { AgentAdapter, HookCall, HookDecision } from "./agent.js";
import { permission } from "./permission.js";

/** `0` in headless mode: `claude -p`. */
const ATTENDED = "CLAUDE_CODE_SESSION_ATTENDED";

/** https://code.claude.com/docs/en/hooks */
export const claudeCode: AgentAdapter = {
  name: "claude-code",
  events: { PreToolUse: "before", PermissionRequest: "permission", PostToolUse: "after" },
  project: "CLAUDE_PROJECT_DIR",
  variables: [ATTENDED],
  servers: /^mcp__/,
  tools: {
    Bash: { does: "command", field: "command" },
    Monitor: { does: "command", field: "command", optional: true },
    Read: { does: "path", field: "file_path", access: "read" },
    NotebookRead: { does: "path", field: "notebook_path", access: "read" },
    Write: { does: "path", field: "file_path", access: "write" },
    Edit: { does: "path", field: "file_path", access: "write" },
    MultiEdit: { does: "path", field: "file_path", access: "write" },
    NotebookEdit: { does: "path", field: "notebook_path", access: "write" },
    Glob: { does: "path", field: "path", access: "read", otherwise: "." },
    Grep: { does: "search", field: "path", otherwise: ".", globs: "glob" },
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
  /** In these modes the agent answers its own questions: some tools then run, others do not. */
  asks: ({ permission_mode: mode }, { [ATTENDED]: attended }) =>
    attended !== "0" && mode !== "bypassPermissions" && mode !== "dontAsk",
  /** The agent's unit is milliseconds. A background command may run as long as the session. */
  timeout: ({ timeout, timeout_ms: watched, run_in_background: background, persistent }) => {
    if (background === true || persistent === true) return 86_400;
    const given = watched ?? timeout;
    return typeof given === "number" && given > 0 ? Math.ceil(given / 1000) : 600;
  },
  answer(call, decision) {
    if (call.moment === "permission") return permission(call, decision);
    return call.moment === "before" ? before(decision) : after(call, decision);
  },
};

function before({ action, reason, input, silent }: HookDecision): object | undefined {
  const hookEventName = "PreToolUse";
  // No objection: the agent's own permission rules decide, also on a replaced input.
  if (action === "allow" && silent)
    return input && { hookSpecificOutput: { hookEventName, updatedInput: input } };
  return {
    hookSpecificOutput: {
      hookEventName,
      permissionDecision: action,
      permissionDecisionReason: reason,
      ...(input && { updatedInput: input }),
    },
  };
}

/**
 * A replaced result must have the shape of the original. Otherwise the agent ignores it and the model reads the original.
 */
function after({ event }: HookCall, { action, reason, output }: HookDecision): object | undefined {
  if (action === "allow" && output === undefined) return undefined;
  return {
    ...(action === "deny" && { decision: "block", reason }),
    hookSpecificOutput: {
      hookEventName: event,
      additionalContext: reason,
      ...(output !== undefined && { updatedToolOutput: output }),
    },
  };
}
