import type { Command } from "commander";
import { AUDIT_KINDS } from "../../record/audit/records.js";
import { exit } from "../views/output.js";
import { collect, collectPolicies } from "./policy-file.js";

/** The audit commands. Their code is loaded on use. */
export function addAuditCommands(program: Command): void {
  const audit = program
    .command("audit")
    .description("show, verify, export and replay the record of what agents did and what was decided")
    .addHelpText("after", EXAMPLES);
  const add = (name: string, description: string) =>
    audit
      .command(name)
      .description(description)
      .option(
        "--store <url>",
        "sqlite:FILE or postgres://HOST/DATABASE (default: HERMES_STORE, or the user's local store)",
      );
  const choosing = (command: Command) =>
    command
      .option("--session <id>", "only records of this session")
      .option("--since <time>", "only from this time on: 2026-11-15, 2026-11-15T14:00Z, 2h or 30m (ago)")
      .option("--until <time>", "only until this time");

  choosing(add("show", "the newest records"))
    .option("--kind <kind>", `${AUDIT_KINDS.join(", ")}; may be repeated`, collect)
    .option("--grep <pattern>", "only records that match this regular expression (RE2)")
    .option("-n <count>", "number of records, newest first; 0 for all", "50")
    .option("-f, --follow", "keep showing new records")
    .option("--json", "one JSON object per line")
    .action(async (options) => exit(await (await commands()).auditShowCommand(options)));
  add(
    "verify",
    "check that no record is missing or changed; exits 1 and names the first bad record otherwise",
  )
    .option("--file <file>", "verify an export instead of the store; - is stdin")
    .option(
      "--key <file>",
      "a public key for the signatures; may be repeated (default: the one beside the store)",
      collect,
    )
    .option(
      "--head <file>",
      "a copy of the chain's head, to detect removed records (default: the file beside the store)",
    )
    .option("--all", "for a fleet: verify every host's chain, with the key that the host delivered")
    .option("--json", "as JSON")
    .action(async (options) => exit(await (await commands()).auditVerifyCommand(options)));
  add("export", "export all records as JSON lines, which `verify --file` can check anywhere")
    .option("--chain <name>", "only records of this host")
    .option("--csv", "as CSV for spreadsheets; cannot be verified")
    .option("--parquet <file>", "into a Parquet file, for large amounts; cannot be verified")
    .option("-o, --output <file>", "write to a file instead of stdout")
    .action(async (options) => exit(await (await commands()).auditExportCommand(options)));
  add("keygen", "create an ed25519 key beside the store; new records are then signed")
    .option("--json", "as JSON")
    .action(async (options) => exit(await (await commands()).auditKeygenCommand(options)));
  choosing(
    add("replay", "judge the records again with today's guard and policies; exits 3 when a decision differs"),
  )
    .option("-p, --policy <file>", "a policy for system calls; may be repeated", collectPolicies)
    .option("-C, --cwd <folder>", "the workspace (default: the session's)")
    .option("--json", "as JSON")
    .action(async (options) =>
      exit(await (await import("../commands/audit-replay.js")).auditReplayCommand(options)),
    );
}

/** `hermes log`. */
export function addLogCommand(program: Command): void {
  program
    .command("log")
    .description("what agents and runs did and were refused, newest last")
    .option("--denied", "only what was refused, each with what a person types to allow it")
    .option(
      "--since <time>",
      "from this time on: yesterday, today, 2026-11-15, 2026-11-15T14:00Z, 2h or 30m (ago)",
    )
    .option("--until <time>", "until this time")
    .option("-n <count>", "how many lines; 0 for all", "50")
    .option("-f, --follow", "keep showing new ones")
    .option(
      "--store <url>",
      "the records of agents in this store alone (default: HERMES_STORE, or hermes's own)",
    )
    .option("--json", "one JSON object per line")
    .addHelpText(
      "after",
      `
Examples:
  hermes log --denied --since yesterday
  hermes log -f
  hermes allow 3f9a2c                        allow what a line with this id was refused

Runs are recorded when they are refused something; agents with every call (hermes audit shows their whole record).`,
    )
    .action(async (options) => exit(await (await import("../commands/log.js")).logCommand(options)));
}

const commands = () => import("../commands/audit.js");

const EXAMPLES = `
Examples:
  hermes audit show --kind tool-call --since 2h
  hermes audit show -f --grep 'git push|npm publish'
  hermes audit verify
  hermes audit export -o audit.jsonl && hermes audit verify --file audit.jsonl
  hermes audit replay --policy policies/no-secrets.yaml`;
