import type { Command } from "commander";
import { exit } from "../views/output.js";

/** The commands that answer questions: loaded when one is used. */
export function addApprovalCommands(program: Command): void {
  const approvals = program
    .command("approvals")
    .description("questions of agents and of running programs, and their answers")
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
    .action(async (options) => exit(await (await commands()).approvalsListCommand(options)));
  add("show", "one of them, with everything that helps to decide")
    .argument("<id>", "its id, or the beginning of it")
    .action(async (id, options) => exit(await (await commands()).approvalsShowCommand(id, options)));
  add("next", "the oldest that no other approver looks at; it is yours for two minutes").action(
    async (options) => exit(await (await commands()).approvalsNextCommand(options)),
  );
  add("approve", "let it happen")
    .argument("<id>", "its id, or the beginning of it")
    .option("--scope <scope>", "once, session or always (kept in hermes.yaml)", "once")
    .option("--note <text>", "a word to the agent")
    .action(async (id, options) => exit(await (await commands()).approvalsApproveCommand(id, options)));
  add("deny", "refuse it")
    .argument("<id>", "its id, or the beginning of it")
    .option("--scope <scope>", "once, session or always (kept in hermes.yaml)", "once")
    .option("--note <text>", "a word to the agent: what to do instead")
    .action(async (id, options) => exit(await (await commands()).approvalsDenyCommand(id, options)));
  add("always", "the answers that hold for always, with what each of them covers").action(async (options) =>
    exit(await (await commands()).alwaysCommand(options)),
  );
  add("revoke", "take back an answer for always: it is asked again")
    .argument("<key>", "its key, or the beginning of its digest")
    .action(async (id, options) => exit(await (await commands()).revokeCommand(id, options)));
  add("watch", "show what comes; on a terminal, also ask (y, s, a, n, ns or na)").action(async (options) =>
    exit(await (await commands()).approvalsWatchCommand(options)),
  );
  add("token", "give the answer that a webhook's token stands for")
    .argument("<token>", "- reads it from stdin")
    .option("--note <text>", "a word to the agent")
    .action(async (token, options) => exit(await (await commands()).approvalsTokenCommand(token, options)));
  add("serve", 'take answers by token over HTTP on this machine: POST {"token": …}')
    .option("--listen <address>", "address and port", "127.0.0.1:0")
    .action(async (options) => exit(await (await commands()).approvalsServeCommand(options)));
}

const commands = () => import("../commands/approvals.js");

const EXAMPLES = `
Examples:
  hermes approvals list
  hermes approvals approve 1a2b --scope session
  hermes approvals deny 1a2b --note 'use git stash instead'
  hermes approvals always
  hermes approvals revoke 9f86d081
  hermes approvals watch

Exit status: 0; 1 when the question is answered or over already, or there is no such approval.`;
