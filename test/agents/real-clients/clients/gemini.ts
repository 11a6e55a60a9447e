import { type Client, OWN_KEY } from "../client.js";

export const gemini: Client = {
  agent: "gemini",
  title: "Gemini CLI",
  package: "@google/gemini-cli",
  version: "0.61.0",
  program: "@google/gemini-cli/bundle/gemini.js",
  node: true,
  settings: ".gemini/settings.json",
  ownFiles: ["project/.gemini/settings.json", "home/.gemini/settings.json"],
  own: {
    credentials: { file: "home/.gemini/oauth_creds.json", text: JSON.stringify({ access_token: OWN_KEY }) },
    settings: "home/.gemini/settings.json",
  },
  ownRule(place) {
    place.write(
      "home/.gemini/policies/own.toml",
      '[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "touch"\ndecision = "deny"\npriority = 900\n',
    );
  },
  prepare(place) {
    place.write(
      "home/.gemini/settings.json",
      JSON.stringify({
        security: { auth: { selectedType: "gemini-api-key" } },
        general: { enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
      }),
    );
  },
  command: ({ url, words = [], free }) => ({
    words: [...(free ? ["--yolo"] : []), "-m", "gemini-2.5-flash", ...words, "-p", "go"],
    env: { GEMINI_API_KEY: "scripted", GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_TRUST_WORKSPACE: "true" },
  }),
  servers(place, servers) {
    const mcpServers = Object.fromEntries(
      Object.entries(servers).map(([name, [command, ...args]]) => [name, { command, args, trust: true }]),
    );
    place.merge("home/.gemini/settings.json", { mcpServers });
  },
  tools: {
    shell: (command) => ({ tool: "run_shell_command", input: { command, description: "a step" } }),
    otherShells: [],
    read: (file_path) => ({ tool: "read_file", input: { file_path } }),
    write: (file_path, content) => ({ tool: "write_file", input: { file_path, content } }),
    search: (pattern, dir_path) => ({
      tool: "grep_search",
      input: { pattern, ...(dir_path !== undefined && { dir_path }) },
    }),
    mcp: (server, tool, input) => ({ tool: `mcp_${server}_${tool}`, input }),
    helper: (task) => ({ tool: "invoke_agent", input: { agent_name: "generalist", prompt: task } }),
  },
};
