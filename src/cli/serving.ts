import type { Command } from "commander";
import { exit } from "./output.js";

/** The commands by which agents reach the tools over MCP: loaded when one is used. */
export function addServingCommands(program: Command): void {
  program
    .command("mcp")
    .description("serve the tools to an agent over MCP: on stdin and stdout, or over HTTP on this machine")
    .option("-w, --workspace <folder>", "what the agent may change", ".")
    .option("--tools <names>", "only these, e.g. read_file,search_files")
    .option("--profile <profile>", "standard, or strict: whatever is not listed as safe is asked about")
    .option(
      "--ask <where>",
      "who answers: client (its user, where it can ask; else the queue), or queue (hermes approvals)",
      "client",
    )
    .option("--online", "also ask the network: addresses of names, advisories on packages")
    .option(
      "--store <url>",
      "sqlite:FILE or postgres://HOST/DATABASE (default: HERMES_STORE, or hermes's own)",
    )
    .option("--calls <n>", "refuse further calls after so many")
    .option("--http [address]", "listen here, e.g. 127.0.0.1:7420 (default: a free port of 127.0.0.1)")
    .option(
      "--token-file <file>",
      "HTTP: where the bearer token is; made when it is missing (default: a new one for each start, printed)",
    )
    .addHelpText("after", MCP_EXAMPLES)
    .action(async (options) => exit(await (await import("./mcp.js")).mcpCommand(options)));

  const gateway = program
    .command("mcp-gateway")
    .description(
      "run other people's MCP servers under hermes: judged, held by the kernel, looked through, recorded",
    )
    .argument("[command...]", "the server and its arguments")
    .option("--config <file>", "several servers from one file, as clients have it: mcpServers, or servers")
    .option("--name <name>", "what to call the server (default: after its package or program)")
    .option(
      "--root <folder>",
      "what it may change; may be repeated (default: the working directory)",
      collect,
    )
    .option("--network <which>", "public: the internet; none", "public")
    .option(
      "--env <name>",
      "a variable of ours that it gets, although it may be a secret; may be repeated",
      collect,
    )
    .option("--ask-tool <name>", "ask before this tool is called, e.g. 'write_*'; may be repeated", collect)
    .option("--deny-tool <name>", "do not offer this tool, e.g. 'delete_*'; may be repeated", collect)
    .option(
      "--ask <where>",
      "who answers: client (its user, where it can ask; and the queue), or queue (hermes approvals)",
      "client",
    )
    .option("--offline", "do not ask for advisories on packages")
    .option(
      "--store <url>",
      "sqlite:FILE or postgres://HOST/DATABASE (default: HERMES_STORE, or hermes's own)",
    )
    .passThroughOptions()
    .addHelpText("after", GATEWAY_EXAMPLES)
    .action(async (command: string[], options) =>
      exit(await (await import("./mcp-gateway.js")).gatewayCommand(command, options)),
    );
  gateway
    .command("import")
    .description("have every server of a client's configuration (mcp.json) go through the gateway, and back")
    .argument("<file>", "of Claude Desktop, VS Code, Cursor or another client")
    .option("--undo", "put back what was there")
    .option("--json", "as JSON")
    .action(async (file, options) => exit((await import("./mcp-gateway.js")).importCommand(file, options)));
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
