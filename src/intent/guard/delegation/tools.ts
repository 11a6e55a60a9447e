/** Tools that a delegate never gets, and why. */
export const DELEGATE_BLOCKED_TOOLS: Readonly<Record<string, string>> = {
  delegate_task: "A delegate may not delegate.",
  delegate: "A delegate may not delegate.",
  clarify: "A delegate may not talk to the user.",
  memory: "A delegate may not read or write the memory.",
  memory_write: "A delegate may not read or write the memory.",
  send_message: "A delegate may not send messages.",
  execute_code: "A delegate has no sandbox to run code in.",
  python_rpc: "A delegate has no sandbox to run code in.",
  skill_use: "A delegate has no credentials of skills.",
  skill_install: "A delegate may not install anything that outlives it.",
};

/** The main agent is at depth 0, its delegate at 1; there is no depth 2. */
export const MAX_DEPTH = 2;

/** Tools that change nothing. All others may change something. */
export const READ_ONLY_TOOLS: ReadonlySet<string> = new Set([
  "read_file",
  "list_files",
  "list_directory",
  "search_files",
  "glob",
  "grep",
  "view",
  "web_search",
  "web_extract",
  "fetch",
  "session_search",
  "skill_view",
  "skills_list",
  "vision_analyze",
  "todo",
]);

/** One name per tool: `DelegateTask`, `delegate-task` and `mcp__x__delegate_task` are the same. */
export function toolName(name: string): string {
  return name
    .normalize("NFKC")
    .replace(/^.*__/, "")
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replace(/[\s.-]+/g, "_")
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "");
}
