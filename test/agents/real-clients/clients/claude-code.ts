import { type Client, OWN_KEY } from "../client.js";

export const claudeCode: Client = {
  agent: "claude-code",
  title: "Claude Code",
  package: "@anthropic-ai/claude-code",
  version: "2.1.325",
  program: ".bin/claude",
  settings: ".claude/settings.local.json",
  ownFiles: ["project/.claude/settings.local.json", "home/.claude/settings.json"],
  prepare() {},
  own: {
    credentials: { file: "home/.claude/.credentials.json", text: JSON.stringify({ other: OWN_KEY }) },
    settings: "home/.claude/settings.json",
  },
  ownRule(place) {
    place.write("home/.claude/settings.json", JSON.stringify({ permissions: { deny: ["Bash(touch:*)"] } }));
  },
  command: ({ url, words = [], free }) => ({
    words: [
      "-p",
      "go",
      ...(free ? ["--permission-mode", "bypassPermissions", "--allowedTools", "Bash,Grep,Glob,Monitor"] : []),
      ...words,
    ],
    env: {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "scripted",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      // It refuses to go on without questions as root otherwise.
      IS_SANDBOX: "1",
    },
  }),
  servers(place, servers) {
    const mcpServers = Object.fromEntries(
      Object.entries(servers).map(([name, [command, ...args]]) => [name, { command, args }]),
    );
    place.write("project/.mcp.json", JSON.stringify({ mcpServers }));
    place.write("home/.claude/settings.json", JSON.stringify({ enableAllProjectMcpServers: true }));
  },
  tools: {
    shell: (command) => ({ tool: "Bash", input: { command, description: "a step" } }),
    otherShells: [
      (command) => ({
        tool: "Monitor",
        input: { command, description: "a step", timeout_ms: 20_000, persistent: false },
      }),
    ],
    read: (file_path) => ({ tool: "Read", input: { file_path } }),
    write: (file_path, content) => ({ tool: "Write", input: { file_path, content } }),
    search: (pattern, path) => ({
      tool: "Grep",
      input: { pattern, output_mode: "content", "-n": true, ...(path !== undefined && { path }) },
    }),
    mcp: (server, tool, input) => ({ tool: `mcp__${server}__${tool}`, input }),
    helper: (prompt) => ({
      tool: "Agent",
      input: { description: "a step", prompt, subagent_type: "general-purpose", run_in_background: false },
    }),
  },
};
