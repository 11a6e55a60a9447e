import type { Command } from "commander";
import { exit } from "../views/output.js";
import { collect, collectPolicies } from "./policy-file.js";

/** The commands for the web console. Their code is loaded on use. */
export function addConsoleCommands(program: Command): void {
  const add = (parent: Command, name: string, description: string) =>
    parent
      .command(name)
      .description(description)
      .option(
        "--listen <address>",
        `address and port of the console (default: ${name === "link" ? "where it runs, else " : ""}127.0.0.1:7655)`,
      )
      .option("--origin <url>", "https://HOST of a TLS proxy in front, for access from other machines")
      .option(
        "--user <name:role>",
        "a user who gets a login link: viewer, approver or admin; may be repeated (default: you, as admin)",
        collect,
      )
      .option(
        "--store <url>",
        "sqlite:FILE or postgres://HOST/DATABASE (default: HERMES_STORE, or the user's local store)",
      )
      .option("--json", "links as JSON");
  const console = add(
    program,
    "console",
    "serve a web console: watch agents and answer their approval questions",
  )
    .option(
      "-p, --policy <file>",
      "a policy file that can be edited although no run uses it; may be repeated",
      collectPolicies,
    )
    .option("--otlp <url>", "send tool calls as OpenTelemetry spans to this collector (OTLP over HTTP)")
    .option("--log <form>", "log on stderr: text (errors), or json (every request, as JSON lines)", "text")
    .addHelpText("after", EXAMPLES)
    .action(async (options) => exit(await (await commands()).consoleCommand(options)));
  add(console, "link", "print a new login link for a running console; it works once, for 15 minutes").action(
    async (options) => exit(await (await commands()).consoleLinkCommand(options)),
  );
}

const commands = () => import("../commands/console.js");

const EXAMPLES = `
Examples:
  hermes console
  hermes console --user alice:admin --user bob:viewer
  hermes console --listen 127.0.0.1:0 --log json
  hermes console link --user bob:approver

Each link works once, for 15 minutes; who came in by it stays in for 12 hours.`;
