/** Tools that a delegated agent never gets, and why. */
export const DELEGATE_BLOCKED_TOOLS: Readonly<Record<string, string>> = {
  delegate_task: "A delegate does not delegate further.",
  delegate: "A delegate does not delegate further.",
  clarify: "A delegate does not talk to the user.",
  memory: "A delegate neither reads nor writes the memory.",
  memory_write: "A delegate neither reads nor writes the memory.",
  send_message: "A delegate sends no messages.",
  execute_code: "A delegate has no sandbox to run code in.",
  python_rpc: "A delegate has no sandbox to run code in.",
  skill_install: "A delegate installs nothing that outlives it.",
};

/** The agent itself is at depth 0, its delegate at 1; nobody is at 2. */
export const MAX_DEPTH = 2;

/** Tools that change nothing. Whatever is not listed here may change something. */
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
