import { type Client, OWN_KEY } from "../client.js";

export const opencode: Client = {
  agent: "opencode",
  title: "OpenCode",
  wholeOnly: true,
  package: "opencode-ai",
  version: "1.18.33",
  program: ".bin/opencode",
  settings: "opencode.json",
  ownFiles: [],
  own: {
    credentials: {
      file: "home/.local/share/opencode/auth.json",
      text: JSON.stringify({ other: { type: "api", key: OWN_KEY } }),
    },
    settings: "home/.config/opencode/opencode.json",
  },
  ownRule() {},
  prepare(place) {
    // A user that has used it before: behind a strict fence it cannot make these folders.
    for (const folder of [".config", ".local/share", ".local/state", ".cache"])
      place.write(`home/${folder}/opencode/.keep`, "");
  },
  command: ({ url, words = [], free }) => ({
    words: ["run", "--model", "anthropic/claude-sonnet-4-5", ...words, "go"],
    env: {
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        provider: { anthropic: { options: { baseURL: `${url}/v1`, apiKey: "scripted" } } },
        autoupdate: false,
        share: "disabled",
        ...(free && {
          permission: { edit: "allow", bash: "allow", webfetch: "allow", external_directory: "allow" },
        }),
      }),
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    },
  }),
  servers() {},
  tools: {
    shell: (command) => ({ tool: "bash", input: { command, description: "a step" } }),
    otherShells: [],
    read: (filePath) => ({ tool: "read", input: { filePath } }),
    write: (filePath, content) => ({ tool: "write", input: { filePath, content } }),
    search: (pattern, path) => ({ tool: "grep", input: { pattern, ...(path !== undefined && { path }) } }),
    mcp: (server, tool, input) => ({ tool: `${server}_${tool}`, input }),
  },
};
