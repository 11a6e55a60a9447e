import type { Command } from "commander";
import { exit } from "./output.js";
import { collectPolicies } from "./policy-word.js";

const collect = (value: string, all: string[] = []) => [...all, value];

/** The commands that people meet HERMES in a browser by: loaded when one is used. */
export function addPageCommands(program: Command): void {
  const add = (parent: Command, name: string, description: string) =>
    parent
      .command(name)
      .description(description)
      .option("--listen <address>", "address of this machine, and port", "127.0.0.1:7655")
      .option("--origin <url>", "https://HOST of a proxy with TLS before it, for those who are elsewhere")
      .option(
        "--user <name:role>",
        "who gets a link: viewer, approver or admin; may be repeated (default: you, as admin)",
        collect,
      )
      .option(
        "--store <url>",
        "sqlite:FILE or postgres://HOST/DATABASE (default: HERMES_STORE, or hermes's own)",
      )
      .option("--json", "links as JSON");
  const console = add(program, "console", "a page to see what agents do, and to answer what they ask")
    .option(
      "-p, --policy <file>",
      "can be edited, though no run has it in force; may be repeated",
      collectPolicies,
    )
    .option("--otlp <url>", "send tool calls as OpenTelemetry spans to this collector (OTLP over HTTP)")
    .option("--log <form>", "on stderr: text (what is wrong), or json (every request, as JSON lines)", "text")
    .addHelpText("after", EXAMPLES)
    .action(async (options) => exit(await (await commands()).consoleCommand(options)));
  add(console, "link", "another link to a console that runs; it works once, for 15 minutes").action(
    async (options) => exit(await (await commands()).linkCommand(options)),
  );
}

const commands = () => import("./console.js");

const EXAMPLES = `
Examples:
  hermes console
  hermes console --user alice:admin --user bob:viewer
  hermes console --listen 127.0.0.1:0 --log json
  hermes console link --user bob:approver

Each link works once, for 15 minutes; who came in by it stays in for 12 hours.`;
