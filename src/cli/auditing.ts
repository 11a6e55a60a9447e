import type { Command } from "commander";
import { AUDIT_KINDS } from "../audit/records.js";
import { exit } from "./output.js";
import { collectPolicies } from "./policy-word.js";

const collect = (value: string, all: string[] = []) => [...all, value];

/** The commands for the audit; what they do is loaded when one is used. */
export function addAuditCommands(program: Command): void {
  const audit = program
    .command("audit")
    .description("what agents did, what was decided about it, and whether the record of it is whole")
    .addHelpText("after", EXAMPLES);
  const add = (name: string, description: string) =>
    audit
      .command(name)
      .description(description)
      .option(
        "--store <url>",
        "sqlite:FILE or postgres://HOST/DATABASE (default: HERMES_STORE, or hermes's own)",
      );
  const choosing = (command: Command) =>
    command
      .option("--session <id>", "only of this session")
      .option("--since <time>", "not before, e.g. 2026-11-15, 2026-11-15T14:00Z, 2h or 30m ago")
      .option("--until <time>", "not after");

  choosing(add("show", "the newest records"))
    .option("--kind <kind>", `${AUDIT_KINDS.join(", ")}; may be repeated`, collect)
    .option("--grep <pattern>", "only records in which this regular expression (RE2) is found")
    .option("-n <count>", "so many of the newest; 0 for all", "50")
    .option("-f, --follow", "go on with those that come")
    .option("--json", "one JSON object per line")
    .action(async (options) => exit(await (await commands()).showCommand(options)));
  add("verify", "whether every record is there, as it was written; exits 1 when one is not, and names it")
    .option("--file <file>", "an export instead of the store; - for stdin")
    .option(
      "--key <file>",
      "a public key that signs; may be repeated (default: the one beside the store)",
      collect,
    )
    .option(
      "--head <file>",
      "how far the chain had come, kept elsewhere (default: the file beside the store)",
    )
    .option("--all", "of a fleet: every host's, as far and by the key that the host delivered it with")
    .option("--json", "as JSON")
    .action(async (options) => exit(await (await commands()).verifyCommand(options)));
  add("export", "all records as JSON lines, which `verify --file` checks anywhere")
    .option("--chain <name>", "only of this host")
    .option("--csv", "as CSV, for spreadsheets; it cannot be verified")
    .option("--parquet <file>", "into a Parquet file, for large amounts; it cannot be verified")
    .option("-o, --output <file>", "write to a file instead of stdout")
    .action(async (options) => exit(await (await commands()).exportCommand(options)));
  add("keygen", "make an ed25519 key beside the store; from then on records are signed")
    .option("--json", "as JSON")
    .action(async (options) => exit(await (await commands()).keygenCommand(options)));
  choosing(
    add("replay", "what today's guard and policies would decide otherwise; exits 3 when there is something"),
  )
    .option("-p, --policy <file>", "for what was decided at system calls; may be repeated", collectPolicies)
    .option("-C, --cwd <folder>", "the workspace (default: that of the session)")
    .option("--json", "as JSON")
    .action(async (options) => exit(await (await import("./audit-replay.js")).replayCommand(options)));
}

const commands = () => import("./audit.js");

const EXAMPLES = `
Examples:
  hermes audit show --kind tool-call --since 2h
  hermes audit show -f --grep 'git push|npm publish'
  hermes audit verify
  hermes audit export -o audit.jsonl && hermes audit verify --file audit.jsonl
  hermes audit replay --policy policies/no-secrets.yaml`;
