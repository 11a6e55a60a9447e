import type { Command } from "commander";
import { exit } from "../views/output.js";
import { collect } from "./policy-file.js";

/** `hermes allow`: loaded when it is used. */
export function addAllowCommand(program: Command): void {
  const allow = program
    .command("allow")
    .description("allow a file, a command or an address that a rule refuses; list and revoke what is allowed")
    .enablePositionalOptions()
    .addHelpText("after", EXAMPLES);
  const add = (name: string, description: string) =>
    allow
      .command(name)
      .description(description)
      .option(
        "--policy <name>",
        "the policy whose rules it lifts; may be repeated (default: agent, tools and the guard)",
        collect,
      )
      .option("--dry-run", "show what would be allowed, and change nothing")
      .option("--json", "as JSON");

  for (const [deed, what] of [
    ["read", "files may be read"],
    ["write", "files may be made, changed, deleted and read"],
    ["connect", "addresses may be reached: localhost:5432, 10.1.0.0/16, unix:/run/x.sock"],
  ] as const)
    add(deed, `${what}`)
      .argument(
        "<what...>",
        deed === "connect" ? "addresses" : "files, folders with all below them, or patterns",
      )
      .option("--in <folder>", "only where this folder is the workspace")
      .action(async (what, options) => exit(await (await commands()).allowCommand(deed, what, options)));
  add("run", "a command may run, with these words; * is part of a word, ** any number of words")
    .argument("<command...>", "the program and its arguments")
    .option("--in <folder>", "only where this folder is the workspace (default: the current folder)")
    .option("--everywhere", "in every workspace")
    .passThroughOptions()
    .action(async (words, options) => exit(await (await commands()).allowCommand("run", words, options)));
  allow
    .command("refusal", { isDefault: true })
    .description("what `hermes log --denied` shows with this id; the word refusal may be left out")
    .argument("[id...]", "the id, or the beginning of it; without one, what is allowed is listed")
    .option(
      "--policy <name>",
      "the policy whose rules it lifts; may be repeated (default: the one that refused)",
      collect,
    )
    .option("--dry-run", "show what would be allowed, and change nothing")
    .option("--store <url>", "look in the records of agents in this store alone")
    .option("--json", "as JSON")
    .action(async (words, options) => exit(await (await commands()).allowRefusalCommand(words, options)));
  allow
    .command("list")
    .description("what hermes.yaml allows, with numbers")
    .option("--json", "as JSON")
    .action(async (options) => exit((await commands()).allowListCommand(options)));
  allow
    .command("revoke")
    .description("take an entry back: rules decide again")
    .argument("<number>", "its number in `hermes allow list`")
    .option("--json", "as JSON")
    .action(async (number, options) => exit(await (await commands()).allowRevokeCommand(number, options)));
}

const commands = () => import("../commands/allow.js");

const EXAMPLES = `
Examples:
  hermes allow read .env
  hermes allow write ~/notes
  hermes allow run -- git push origin '**'
  hermes allow connect localhost:5432 --policy untrusted
  hermes allow 3f9a2c                        what hermes log shows with this id
  hermes allow list
  hermes allow revoke 2

It changes your hermes.yaml, and holds from the next command or run on. What hermes.yaml or a fleet refuses stays
refused, and so does what concerns HERMES itself.`;
