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
}

const MCP_EXAMPLES = `
Examples:
  hermes mcp --workspace ~/project
  hermes mcp --tools read_file,list_files,search_files
  hermes mcp --http 127.0.0.1:7420 --token-file ~/.hermes/mcp-token
  claude mcp add hermes -- hermes mcp --workspace .`;
