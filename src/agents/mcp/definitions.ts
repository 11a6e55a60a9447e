import type { Tool as ToolDefinition } from "@modelcontextprotocol/server";
import { functionDefinition } from "../tools/definition.js";
import type { Tool } from "../tools/tool.js";
import { OUTPUT_SCHEMA } from "./result.js";

interface About {
  readonly title: string;
  readonly examples: readonly object[];
  /** It reaches outside this machine: the internet, servers of other programs. */
  readonly open?: true;
  /** It only adds and removes nothing. */
  readonly adds?: true;
  /** Idempotent. */
  readonly idempotent?: true;
}

/** What a client shows of a tool, and examples of its input, besides the tool's own description. */
export const ABOUT: Readonly<Record<string, About>> = {
  terminal_exec: {
    title: "Run a command",
    examples: [{ command: "npm test", timeout: 90 }, { command: "git diff --stat" }],
    open: true,
  },
  terminal_process: {
    title: "Manage a background command",
    examples: [{ action: "list" }, { action: "poll", id: "6f1c…", wait: 5 }],
  },
  read_file: { title: "Read a file", examples: [{ path: "src/index.ts", offset: 1, limit: 200 }] },
  write_file: {
    title: "Write a file",
    examples: [{ path: "notes.md", content: "# Notes\n" }],
    idempotent: true,
  },
  patch: {
    title: "Change a file",
    examples: [{ path: "src/index.ts", edits: [{ old: "const a = 1;", new: "const a = 2;" }] }],
  },
  list_files: { title: "List files", examples: [{ path: "src", depth: 2, glob: "**/*.ts" }] },
  search_files: {
    title: "Search in files",
    examples: [{ pattern: "listen\\(|bind\\(", path: "src", context: 2 }],
  },
  fetch_url: { title: "Fetch a page", examples: [{ url: "https://example.com/" }], open: true },
  python_rpc: {
    title: "Run Python",
    examples: [{ code: "print(sum(range(10)))" }],
    open: true,
  },
  memory_write: {
    title: "Remember something",
    examples: [{ text: "The tests run with npm test.", source: "user" }],
    adds: true,
  },
  skill_install: {
    title: "Install a skill",
    examples: [{ folder: "skills/pdf-tools", source: "github.com/someone/skills" }],
    idempotent: true,
  },
  skill_use: {
    title: "Open a skill",
    examples: [{ name: "pdf-tools" }],
    idempotent: true,
  },
  delegate: {
    title: "Hand a task to another agent",
    examples: [{ task: "Find where the port is configured.", readOnly: true }],
    adds: true,
  },
};

export function toolDefinition(tool: Tool): ToolDefinition {
  const { name, description, parameters } = functionDefinition(tool).function;
  const { title = name, examples = [], open, adds, idempotent } = ABOUT[name] ?? {};
  return {
    name,
    title,
    description,
    inputSchema: { ...parameters, type: "object", ...(examples.length > 0 && { examples }) },
    outputSchema: OUTPUT_SCHEMA as unknown as NonNullable<ToolDefinition["outputSchema"]>,
    annotations: {
      title,
      readOnlyHint: tool.readOnly,
      destructiveHint: !tool.readOnly && !adds,
      idempotentHint: tool.readOnly || idempotent === true,
      openWorldHint: open === true,
    },
  };
}
