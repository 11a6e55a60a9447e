import type { Command } from "commander";
import { exit } from "../views/output.js";

/** The commands that serve tools over MCP. Their code is loaded on use. */
export function addMcpCommands(program: Command): void {
  program
    .command("mcp")
    .description("serve the tools to an agent over MCP: on stdin and stdout, or over HTTP on this machine")
    .option(
      "-w, --workspace <folder>",
      "the folder that the agent may change (default: HERMES_WORKSPACE, else the current folder, unless that is a home or larger)",
    )
    .option("--tools <names>", "only these tools, e.g. read_file,search_files")
    .option("--profile <profile>", "standard, or strict: ask about everything that is not listed as safe")
    .option(
      "--ask <where>",
      "who answers: client (its user, where it can ask; else the queue), or queue (hermes approvals)",
      "client",
    )
    .option("--online", "use the network too: DNS, advisories on packages")
    .option(
      "--store <url>",
      "sqlite:FILE or postgres://HOST/DATABASE (default: HERMES_STORE, or the user's local store)",
    )
    .option("--calls <n>", "maximum number of calls")
    .option(
      "--http [address]",
      "listen on this address, e.g. 127.0.0.1:7420 (default: a free port of 127.0.0.1)",
    )
    .option(
      "--token-file <file>",
      "HTTP: the bearer token's file; created if missing (default: a new token for each start, printed)",
    )
    .addHelpText("after", MCP_EXAMPLES)
    .action(async (options) => exit(await (await import("../commands/mcp.js")).mcpCommand(options)));

  const gateway = program
    .command("mcp-gateway")
    .description("run third-party MCP servers under HERMES: judged, restricted, scanned and recorded")
    .argument("[command...]", "the server and its arguments")
    .option("--config <file>", "several servers from a client's configuration file: mcpServers, or servers")
    .option("--name <name>", "the server's name (default: its package or program)")
    .option(
      "--root <folder>",
      "a folder that the server may change; may be repeated (default: the working directory)",
      collect,
    )
    .option("--network <which>", "public: the internet; none", "public")
    .option(
      "--env <name>",
      "pass this environment variable to the server, even if it is a secret; may be repeated",
      collect,
    )
    .option(
      "--ask-tool <name>",
      "ask before each call of this tool, e.g. 'write_*'; may be repeated",
      collect,
    )
    .option("--deny-tool <name>", "do not offer this tool, e.g. 'delete_*'; may be repeated", collect)
    .option(
      "--ask <where>",
      "who answers: client (its user, where it can ask; and the queue), or queue (hermes approvals)",
      "client",
    )
    .option("--offline", "do not look up advisories on packages")
    .option(
      "--store <url>",
      "sqlite:FILE or postgres://HOST/DATABASE (default: HERMES_STORE, or the user's local store)",
    )
    .passThroughOptions()
    .addHelpText("after", GATEWAY_EXAMPLES)
    .action(async (command: string[], options) =>
      exit(await (await import("../commands/mcp-gateway.js")).gatewayCommand(command, options)),
    );
  gateway
    .command("import")
    .description("route every server of a client's configuration (mcp.json) through the gateway, or undo it")
    .argument("<file>", "the configuration file of Claude Desktop, VS Code, Cursor or another client")
    .option("--undo", "restore the configuration")
    .option("--json", "as JSON")
    .action(async (file, options) =>
      exit((await import("../commands/mcp-gateway.js")).gatewayImportCommand(file, options)),
    );
}

function collect(value: string, all: readonly string[] = []): readonly string[] {
  return [...all, value];
}

const GATEWAY_EXAMPLES = `
Examples:
  hermes mcp-gateway --root ~/notes -- npx -y @modelcontextprotocol/server-filesystem ~/notes
  hermes mcp-gateway --network none --env GITHUB_TOKEN -- ./my-server
  hermes mcp-gateway --config mcp.json
  hermes mcp-gateway import ~/.cursor/mcp.json
  hermes mcp-gateway import --undo ~/.cursor/mcp.json`;

const MCP_EXAMPLES = `
Examples:
  hermes mcp --workspace ~/project
  hermes mcp --tools read_file,list_files,search_files
  hermes mcp --http 127.0.0.1:7420 --token-file ~/.hermes/mcp-token
  claude mcp add hermes -- hermes mcp --workspace .`;
