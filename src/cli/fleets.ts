import type { Command } from "commander";
import { exit } from "./output.js";

const collect = (value: string, all: string[] = []) => [...all, value];
const STORE = "the server, postgres://USER@HOST/DATABASE (default: HERMES_STORE)";

/** The commands for many hosts; what they do is loaded when one is used. */
export function addFleetCommands(program: Command): void {
  program
    .command("agent")
    .description("the end of a fleet on this host: delivers records, has questions answered, takes policies")
    .option("--store <url>", `${STORE}, as hermes fleet enroll printed it`)
    .option("--store-file <file>", "a file that holds it: command lines are not secret")
    .option("--local <file>", "the store of this host's sessions (default: hermes's own)")
    .option("--trust <key>", "take only policies that this key has signed; may be repeated", collect)
    .option("--traces <folder>", "traces of this host, on which new policies are tried before they come")
    .option("--upload <place>", "bring these traces to a folder, or to s3://BUCKET/PREFIX?endpoint=URL")
    .option(
      "--spool <bytes>",
      "what this host's store may grow to, e.g. 1G; then calls are refused, and nothing is lost",
    )
    .option("--keep <n>", "delivered records that stay on this host too (default: all)")
    .addHelpText("after", AGENT_EXAMPLES)
    .action(async (options) => exit(await (await import("./agent.js")).agentCommand(options)));

  program
    .command("serve")
    .description("the console and its API for all hosts of a fleet; takes back policies that go wrong")
    .option("--listen <address>", "address of this machine, and port", "127.0.0.1:7655")
    .option("--origin <url>", "https://HOST of a proxy with TLS before it, for those who are elsewhere")
    .option(
      "--user <name:role>",
      "who gets a link: viewer, approver or admin; may be repeated (default: you, as admin)",
      collect,
    )
    .option("--store <url>", STORE)
    .option("--json", "links as JSON")
    .option("--traces <place>", "where hosts bring their traces, to look at them from here")
    .option("--log <form>", "on stderr: text (what is wrong), or json (every request, as JSON lines)", "text")
    .addHelpText("after", SERVE_EXAMPLES)
    .action(async (options) => exit(await (await import("./console.js")).serveCommand(options)));

  const fleet = program
    .command("fleet")
    .description("hosts that share a PostgreSQL, and the policies that they are given")
    .addHelpText("after", FLEET_EXAMPLES);
  const add = (words: string, description: string) =>
    fleet.command(words).description(description).option("--store <url>", STORE).option("--json", "as JSON");
  const signing = (command: Command) =>
    command.option("--sign <key>", "sign it with this key (hermes fleet keygen)");
  const choosing = (command: Command) =>
    command.option(
      "--to <label=value>",
      "only hosts with this label; may be repeated (default: all)",
      collect,
    );

  add("enroll <name>", "add a host, and print the address with the key that its agent takes")
    .option("-l, --label <label=value>", "what the host is, e.g. role=build; may be repeated", collect)
    .option("-o, --output <file>", "write the address to a file that only you can read")
    .action(async (name, options) => exit(await (await commands()).enrollCommand(name, options)));
  add("hosts", "the hosts: who is there, what they can protect, what runs, which policy they have").action(
    async (options) => exit(await (await commands()).hostsCommand(options)),
  );
  add("label <name> [labels...]", "set labels (role=build) or take them away (role-)").action(
    async (name, labels, options) => exit(await (await commands()).labelCommand(name, labels, options)),
  );
  add("revoke <name>", "shut a host out; what it has written stays").action(async (name, options) =>
    exit(await (await commands()).revokeCommand(name, options)),
  );
  signing(choosing(add("push <file>", "give a policy to hosts; running sessions there take it over")))
    .option("--name <name>", "what it is called (default: the file's name)")
    .option("--rank <n>", "where several mean a host, the smallest rank holds", "100")
    .option("--percent <n>", "to so many of the hosts first; always the same ones", "100")
    .option("--jump <n>", "take it back when so many percent more calls are refused than before", "2")
    .action(async (file, options) => exit(await (await commands()).pushCommand(file, options)));
  add("policies", "what was given out to whom").action(async (options) =>
    exit(await (await commands()).policiesCommand(options)),
  );
  add("rollout <name> <percent>", "to more hosts: a number, finish, or abort to take it back").action(
    async (name, percent, options) => exit(await (await commands()).rolloutCommand(name, percent, options)),
  );
  signing(
    add("pin <host> <policy>", "keep a host at the policy of this number; none to let it go on"),
  ).action(async (host, serial, options) => exit(await (await commands()).pinCommand(host, serial, options)));
  add("diff <name> <file>", "how a file differs from what is in force; exits 1 when it does").action(
    async (name, file, options) => exit(await (await commands()).diffCommand(name, file, options)),
  );
  choosing(
    add("try <file>", "what a policy would decide otherwise, on each host's own traces; exits 3 if anything"),
  )
    .option("--wait <seconds>", "for the hosts' answers", "30")
    .action(async (file, options) => exit(await (await commands()).tryCommand(file, options)));
  add(
    "forget <time>",
    "give up records that came before, e.g. 90d or 2026-01-01; the rest still verifies",
  ).action(async (time, options) => exit(await (await commands()).forgetCommand(time, options)));
  add("traces", "what hosts have recorded and brought").action(async (options) =>
    exit(await (await commands()).tracesCommand(options)),
  );
  add("fetch <trace> <file>", "get one of them, for hermes analyze and others")
    .requiredOption("--from <place>", "the folder or s3://BUCKET/PREFIX where they are")
    .action(async (trace, file, options) =>
      exit(await (await commands()).fetchCommand(trace, file, options)),
    );
  fleet
    .command("keygen <name>")
    .description("make a key that signs policies: NAME.key and NAME.pub")
    .option("--json", "as JSON")
    .action(async (name, options) => exit(await (await commands()).keygenCommand(name, options)));
}

const commands = () => import("./fleet.js");

const AGENT_EXAMPLES = `
Examples:
  hermes agent --store-file /etc/hermes/server
  hermes agent --store-file /etc/hermes/server --trust /etc/hermes/policies.pub --traces /var/lib/hermes/traces

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
