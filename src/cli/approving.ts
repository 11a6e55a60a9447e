import type { Command } from "commander";
import { exit } from "./output.js";

/** The commands that answer what waits for an answer: loaded when one is used. */
export function addApprovalCommands(program: Command): void {
  const approvals = program
    .command("approvals")
    .description("what agents want to do and somebody must answer first")
    .addHelpText("after", EXAMPLES);
  const add = (name: string, description: string) =>
    approvals
      .command(name)
      .description(description)
      .option(
        "--store <url>",
        "sqlite:FILE or postgres://HOST/DATABASE (default: HERMES_STORE, or hermes's own)",
      )
      .option("--json", "as JSON");

  add("list", "what waits for an answer, oldest first")
    .option("--all", "also what was answered, has expired or was withdrawn")
    .option("--session <id>", "only of this session")
    .action(async (options) => exit(await (await commands()).listCommand(options)));
  add("show", "one of them, with everything that helps to decide")
    .argument("<id>", "its id, or the beginning of it")
    .action(async (id, options) => exit(await (await commands()).showCommand(id, options)));
  add("next", "the oldest that nobody else looks at; it is yours for two minutes").action(async (options) =>
    exit(await (await commands()).nextCommand(options)),
  );
  add("approve", "let it happen")
    .argument("<id>", "its id, or the beginning of it")
    .option("--scope <scope>", "once, session or always (kept in hermes.yaml)", "once")
    .option("--note <text>", "a word to the agent")
    .action(async (id, options) => exit(await (await commands()).approveCommand(id, options)));
  add("deny", "refuse it")
    .argument("<id>", "its id, or the beginning of it")
    .option("--note <text>", "a word to the agent: what to do instead")
    .action(async (id, options) => exit(await (await commands()).denyCommand(id, options)));
  add("watch", "show what comes; on a terminal, also ask (y, s, a or n)").action(async (options) =>
    exit(await (await commands()).watchCommand(options)),
  );
  add("token", "give the answer that a webhook's token stands for")
    .argument("<token>", "- reads it from stdin")
    .option("--note <text>", "a word to the agent")
    .action(async (token, options) => exit(await (await commands()).tokenCommand(token, options)));
  add("serve", 'take answers by token over HTTP on this machine: POST {"token": …}')
    .option("--listen <address>", "address and port", "127.0.0.1:0")
    .action(async (options) => exit(await (await commands()).serveCommand(options)));
}

const commands = () => import("./approvals.js");

const EXAMPLES = `
Examples:
  hermes approvals list
  hermes approvals approve 1a2b --scope session
  hermes approvals deny 1a2b --note 'use git stash instead'
  hermes approvals watch

Exit status: 0; 1 when somebody else has answered already, or there is no such approval.`;
