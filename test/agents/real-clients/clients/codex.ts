import { type Client, OWN_KEY } from "../client.js";

export const codex: Client = {
  agent: "codex",
  title: "Codex",
  package: "@openai/codex",
  version: "0.166.0",
  program: ".bin/codex",
  settings: ".codex/hooks.json",
  ownFiles: ["project/.codex/hooks.json", "home/.codex/hooks.json", "home/.codex/config.toml"],
  own: {
    credentials: { file: "home/.codex/auth.json", text: JSON.stringify({ OPENAI_API_KEY: OWN_KEY }) },
    settings: "home/.codex/config.toml",
  },
  ownRule(place) {
    place.write("home/.codex/rules/own.rules", 'prefix_rule(pattern = ["touch"], decision = "forbidden")\n');
  },
  prepare(place) {
    place.write(
      "home/.codex/config.toml",
      [
        'model = "scripted"',
        'model_provider = "scripted"',
        "[model_providers.scripted]",
        'name = "scripted"',
        'base_url = "http://127.0.0.1:1"',
        'wire_api = "responses"',
        "supports_websockets = false",
        `[projects."${place.project}"]`,
        'trust_level = "trusted"',
        "",
      ].join("\n"),
    );
  },
  command: ({ url, words = [], free }) => ({
    words: [
      "exec",
      "-c",
      `model_providers.scripted.base_url="${url}/v1"`,
      "--skip-git-repo-check",
      ...(free ? ["--dangerously-bypass-approvals-and-sandbox"] : []),
      ...words,
      "go",
    ],
    env: {},
  }),
  servers(place, servers) {
    const tables = Object.entries(servers).flatMap(([name, [command, ...args]]) => [
      `[mcp_servers.${name}]`,
      `command = ${JSON.stringify(command)}`,
      `args = ${JSON.stringify(args)}`,
    ]);
    place.append("home/.codex/config.toml", `${tables.join("\n")}\n`);
  },
  tools: {
    shell: (cmd) => ({ tool: "exec_command", input: { cmd } }),
    otherShells: [],
    write: (path, text) => ({
      tool: "apply_patch",
      input: `*** Begin Patch\n*** Add File: ${path}\n${text.replace(/^/gm, "+")}\n*** End Patch`,
    }),
    mcp: (server, tool, input) => ({ tool: `mcp__${server}/${tool}`, input }),
  },
};
