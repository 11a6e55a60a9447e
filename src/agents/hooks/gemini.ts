import type { AgentAdapter, HookCall, HookDecision } from "./agent.js";
import { textsIn } from "./texts-in-value.js";

/** https://geminicli.com/docs/hooks/reference. It has no "ask": a call that is not refused runs. */
export const gemini: AgentAdapter = {
  name: "gemini",
  events: { BeforeTool: "before", AfterTool: "after" },
  project: "GEMINI_PROJECT_DIR",
  servers: /^mcp_/,
  tools: {
    run_shell_command: { does: "command", field: "command" },
    read_file: { does: "path", field: ["file_path", "absolute_path", "path"], access: "read" },
    read_many_files: { does: "search", field: ["include", "paths"], otherwise: "." },
    write_file: { does: "path", field: ["file_path", "absolute_path"], access: "write" },
    replace: { does: "path", field: ["file_path", "absolute_path"], access: "write" },
    list_directory: { does: "path", field: ["dir_path", "path"], access: "read", otherwise: "." },
    glob: { does: "path", field: ["dir_path", "path"], access: "read", otherwise: "." },
    grep_search: { does: "search", field: ["dir_path", "path"], otherwise: "." },
    search_file_content: { does: "search", field: ["dir_path", "path"], otherwise: "." },
    web_fetch: { does: "urls", field: "prompt" },
    google_web_search: { does: "nothing" },
    save_memory: { does: "memory", field: "fact" },
    write_todos: { does: "nothing" },
    ask_user: { does: "nothing" },
    activate_skill: { does: "nothing" },
    enter_plan_mode: { does: "nothing" },
    exit_plan_mode: { does: "nothing" },
    invoke_agent: { does: "nothing" },
    update_topic: { does: "nothing" },
    list_background_processes: { does: "nothing" },
    read_background_output: { does: "nothing" },
  },
  asks: () => false,
  timeout: ({ is_background: background }) => (background === true ? 86_400 : 3600),
  answer: (call, decision) => (call.moment === "before" ? before(decision) : after(call, decision)),
};

function before({ action, reason, input }: HookDecision): object | undefined {
  if (action !== "allow") return { decision: "deny", reason };
  return (
    input && { decision: "allow", hookSpecificOutput: { hookEventName: "BeforeTool", tool_input: input } }
  );
}

/** The reason of a refusal replaces the tool's result. */
function after({ event }: HookCall, { action, reason, output }: HookDecision): object | undefined {
  if (action === "deny") return { decision: "deny", reason };
  if (output !== undefined) return { decision: "deny", reason: shown(output) };
  return action === "ask"
    ? { hookSpecificOutput: { hookEventName: event, additionalContext: reason } }
    : undefined;
}

/** The part of a result that the model reads; the rest is for the terminal. */
function shown(result: unknown): string {
  const { llmContent = result } = (result ?? {}) as { llmContent?: unknown };
  return textsIn(llmContent).join("\n") || "(nothing)";
}
