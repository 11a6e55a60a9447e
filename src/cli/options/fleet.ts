import type { Command } from "commander";
import { exit } from "../views/output.js";
import { collect } from "./policy-file.js";

const STORE = "the server, postgres://USER@HOST/DATABASE (default: HERMES_STORE)";

/** What runs on each host of a fleet. */
function addDaemon(command: Command): void {
  command
    .description(
      "connect this host to a fleet: deliver audit records, forward approval questions, apply assigned policies",
    )
    .option("--store <url>", `${STORE}, as printed by hermes fleet enroll`)
    .option("--store-file <file>", "a file with that address: other users can read command lines")
    .option("--local <file>", "the store of this host's sessions (default: the user's local store)")
    .option("--trust <key>", "accept only policies signed by this key; may be repeated", collect)
    .option("--traces <folder>", "this host's traces, for trials of new policies")
    .option("--upload <place>", "upload these traces to a folder, or to s3://BUCKET/PREFIX?endpoint=URL")
    .option(
      "--spool <bytes>",
      "maximum size of this host's store, e.g. 1G; when it is full, tool calls are refused and no record is lost",
    )
    .option("--keep <n>", "number of delivered records to keep on this host (default: all)")
    .addHelpText("after", AGENT_EXAMPLES)
    .action(async (options) => exit(await (await import("../commands/agent.js")).agentCommand(options)));
}

/** The fleet commands. Their code is loaded on use. */
export function addFleetCommands(program: Command): void {
  // Its name before it was called what it is: units and manifests have it.
  addDaemon(program.command("agent", { hidden: true }));

  program
    .command("serve")
    .description("serve the console and its API for all hosts of a fleet; roll back failing policies")
    .option("--listen <address>", "listening address and port", "127.0.0.1:7655")
    .option("--origin <url>", "https://HOST of a TLS proxy in front, for access from other machines")
    .option(
      "--user <name:role>",
      "a user who gets a login link: viewer, approver or admin; may be repeated (default: you, as admin)",
      collect,
    )
    .option("--store <url>", STORE)
    .option("--json", "links as JSON")
    .option("--traces <place>", "where hosts upload their traces, to show them here")
    .option("--log <form>", "log on stderr: text (errors), or json (every request, as JSON lines)", "text")
    .addHelpText("after", SERVE_EXAMPLES)
    .action(async (options) =>
      exit(await (await import("../commands/console.js")).serveFleetCommand(options)),
    );

  const fleet = program
    .command("fleet")
    .description("manage hosts that share a PostgreSQL, and their policies")
    .addHelpText("after", FLEET_EXAMPLES);
  addDaemon(fleet.command("daemon"));
  const add = (words: string, description: string) =>
    fleet.command(words).description(description).option("--store <url>", STORE).option("--json", "as JSON");
  const signing = (command: Command) =>
    command.option("--sign <key>", "sign it with this key (hermes fleet keygen)");
  const choosing = (command: Command) =>
    command.option(
      "--to <label=value>",
      "only hosts with this label; may be repeated (default: all hosts)",
      collect,
    );

  add("enroll <name>", "add a host and print the server address, with key, for its agent")
    .option("-l, --label <label=value>", "a label of the host, e.g. role=build; may be repeated", collect)
    .option("-o, --output <file>", "write the address to a file that only you can read")
    .action(async (name, options) => exit(await (await commands()).fleetEnrollCommand(name, options)));
  add("hosts", "list the hosts: online state, protections, running sessions, policy").action(
    async (options) => exit(await (await commands()).fleetHostsCommand(options)),
  );
  add("label <name> [labels...]", "set labels (role=build) or remove them (role-)").action(
    async (name, labels, options) => exit(await (await commands()).fleetLabelCommand(name, labels, options)),
  );
  add("revoke <name>", "revoke a host's access; its records stay").action(async (name, options) =>
    exit(await (await commands()).fleetRevokeCommand(name, options)),
  );
  signing(choosing(add("push <file>", "release a policy to hosts; their running sessions reload it")))
    .option("--name <name>", "the policy's name (default: the file's name)")
    .option("--rank <n>", "if several policies select a host, the one with the lowest rank applies", "100")
    .option("--percent <n>", "percentage of hosts to start with; always the same ones", "100")
    .option("--jump <n>", "roll back when refused calls increase by this many percentage points", "2")
    .action(async (file, options) => exit(await (await commands()).fleetPushCommand(file, options)));
  add("policies", "list policies and the hosts that they are for").action(async (options) =>
    exit(await (await commands()).fleetPoliciesCommand(options)),
  );
  add("rollout <name> <percent>", "continue a rollout: a percentage, finish, or abort to roll back").action(
    async (name, percent, options) =>
      exit(await (await commands()).fleetRolloutCommand(name, percent, options)),
  );
  signing(add("pin <host> <policy>", "pin a host to the policy of this number; none to unpin")).action(
    async (host, serial, options) => exit(await (await commands()).fleetPinCommand(host, serial, options)),
  );
  add("diff <name> <file>", "compare a file with the active policy; exits 1 when they differ").action(
    async (name, file, options) => exit(await (await commands()).fleetDiffCommand(name, file, options)),
  );
  choosing(add("try <file>", "simulate a policy on each host's own traces; exits 3 when a decision differs"))
    .option("--wait <seconds>", "how long to wait for the hosts' answers", "30")
    .action(async (file, options) => exit(await (await commands()).fleetTryCommand(file, options)));
  add("forget <time>", "delete records older than, e.g. 90d or 2026-01-01; the rest still verifies").action(
    async (time, options) => exit(await (await commands()).fleetForgetCommand(time, options)),
  );
  add("traces", "list the traces that hosts have uploaded").action(async (options) =>
    exit(await (await commands()).fleetTracesCommand(options)),
  );
  add("fetch <trace> <file>", "download a trace, for hermes analyze and others")
    .requiredOption("--from <place>", "the folder or s3://BUCKET/PREFIX of the traces")
    .action(async (trace, file, options) =>
      exit(await (await commands()).fleetFetchCommand(trace, file, options)),
    );
  fleet
    .command("keygen <name>")
    .description("create a key pair that signs policies: NAME.key and NAME.pub")
    .option("--json", "as JSON")
    .action(async (name, options) => exit(await (await commands()).fleetKeygenCommand(name, options)));
}

const commands = () => import("../commands/fleet.js");

const AGENT_EXAMPLES = `
Examples:
  hermes fleet daemon --store-file /etc/hermes/server
  hermes fleet daemon --store-file /etc/hermes/server --trust /etc/hermes/policies.pub --traces /var/lib/hermes/traces

Sessions of this host go on, under the policy that it had, when the server cannot be reached.`;

const SERVE_EXAMPLES = `
Examples:
  HERMES_STORE=postgres://hermes@db.example.org/hermes hermes serve
  hermes serve --store postgres://hermes@localhost/hermes --user alice:admin --user bob:approver`;

const FLEET_EXAMPLES = `
Examples (HERMES_STORE names the server):
  hermes fleet enroll build-1 --label role=build -o build-1.server
  hermes fleet hosts
  hermes fleet try strict.yaml --to role=build
  hermes fleet push strict.yaml --to role=build --percent 10
  hermes fleet rollout strict finish
  hermes fleet pin build-1 3`;
