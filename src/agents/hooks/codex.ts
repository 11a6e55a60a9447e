import type { AgentAdapter, HookCall, HookDecision } from "./agent.js";
import { permission } from "./permission.js";
import { textsIn } from "./texts-in-value.js";

/**
 * https://developers.openai.com/codex/hooks. It uses the format of Claude Code but supports less: `ask`, `allow` without an
 * input, and an input without `allow` are errors. After an error Codex runs the tool as if the hook had not answered.
 */
export const codex: AgentAdapter = {
  name: "codex",
  events: { PreToolUse: "before", PermissionRequest: "permission", PostToolUse: "after" },
  servers: /^mcp__/,
  tools: {
    Bash: { does: "command", field: "command" },
    apply_patch: { does: "patch", field: ["command", "input", "patch"] },
    Edit: { does: "patch", field: ["command", "input", "patch"] },
    Write: { does: "patch", field: ["command", "input", "patch"] },
    view_image: { does: "path", field: "path", access: "read" },
    read_file: { does: "path", field: "file_path", access: "read" },
    list_dir: { does: "path", field: "dir_path", access: "read" },
    grep_files: { does: "search", field: "path", otherwise: "." },
    update_plan: { does: "nothing" },
    web_search: { does: "nothing" },
  },
  asks: () => false,
  timeout: ({ timeout_ms: timeout }) =>
    typeof timeout === "number" && timeout > 0 ? Math.ceil(timeout / 1000) : 3600,
  answer(call, decision) {
    if (call.moment === "permission") return permission(call, decision);
    return call.moment === "before" ? before(decision) : after(call, decision);
  },
};

function before({ action, reason, input }: HookDecision): object | undefined {
  const hookEventName = "PreToolUse";
  if (action !== "allow")
    return {
      hookSpecificOutput: {
        hookEventName,
        permissionDecision: "deny",
        permissionDecisionReason: reason,
      },
    };
  return input && { hookSpecificOutput: { hookEventName, permissionDecision: "allow", updatedInput: input } };
}

/** The reason replaces the tool's result. `updatedMCPToolOutput` is in the schema, but Codex rejects it. */
function after({ event }: HookCall, { action, reason, output }: HookDecision): object | undefined {
  if (action === "deny") return { decision: "block", reason };
  if (output !== undefined) return { decision: "block", reason: textsIn(output).join("\n") || reason };
  if (action === "ask") return { hookSpecificOutput: { hookEventName: event, additionalContext: reason } };
  return undefined;
}
