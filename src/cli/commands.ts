import type { Command } from "commander";
import { KINDS } from "../guard/subject.js";
import type { Thread } from "../session/thread.js";
import { addAgentCommands, addShellCommands } from "./agents.js";
import { addApprovalCommands } from "./approving.js";
import { addAttachCommand } from "./attaching.js";
import { addAuditCommands } from "./auditing.js";
import { addBehaviourCommands } from "./behaviour.js";
import { addFleetCommands } from "./fleets.js";
import { exit } from "./output.js";
import { addPageCommands } from "./pages.js";
import { collectPolicies } from "./policy-word.js";
import { newProgram, runProgram } from "./program.js";
import { addRunCommand } from "./running.js";
import { addServingCommands } from "./serving.js";
import { addSkillCommands } from "./skills.js";
import { addToolCommands } from "./tools.js";

const count = (_: string, before: number) => before + 1;
const collect = (value: string, all: string[] = []) => [...all, value];

/** The command line: each command is a file here, loaded only when it is used. */
function commandLine(thread: Thread | undefined): Command {
  const program = newProgram();
  addRunCommand(program, async (command, options) =>
    (await import("./run-line.js")).runCommand(command, options, thread),
  );

  program
    .command("trace")
    .description("show what a program does while it does it, as strace would")
    .argument("<command...>", "the program and its arguments")
    .option(
      "-e <expression>",
      "what is shown: trace=openat,%network, %file, '!read,write', status=failed; may be repeated",
      collect,
    )
    .option(
      "-l, --functions <pattern>",
      "calls of functions too: 'libc!*', 'libssl!SSL_*', 'app!main'; '!libc!*alloc*' leaves some out; may be repeated",
      collect,
    )
    .option("--prototypes <file>", "what these functions take and return; may be repeated", collect)
    .option("-z", "only calls that succeeded")
    .option("-Z", "only calls that failed")
    .option("-f", "follow children: always done")
    .option("-y", "show what descriptors refer to", count, 0)
    .option("-c", "only a table of calls, errors and time at the end")
    .option("-C", "that table too")
    .option("-o <file>", "write to a file instead of stderr")
    .option("-t", "time of day; -tt with microseconds, -ttt seconds since 1970", count, 0)
    .option("-r", "time since the line before")
    .option("-T", "how long each call took")
    .option("-s <n>", "how much of a string is shown", "32")
    .option("-k, --stack [calls]", "who called whom, below each line; or only of these calls and %classes")
    .option("-p, --policy <file>", "a policy to enforce meanwhile; may be repeated", collectPolicies)
    .option("--json", "records as JSON lines instead of text")
    .option(
      "--fast",
      "what is only observed is recorded by the program itself, where that can be (docs/inside.md)",
    )
    .option("--color <when>", "auto, always or never", "auto")
    .passThroughOptions()
    .addHelpText(
      "after",
      `
Examples:
  hermes trace -e openat,%network -- curl -s http://localhost:8000/
  hermes trace -y -T -e trace=%file -o calls.txt -- make
  hermes trace -c -- git status
  hermes trace -l 'libc!getenv' -l 'libc!fopen*' -- git status
  hermes trace -l 'libc!*' -l '!libc!*alloc*' -e openat -c -- ls
  hermes trace --stack=connect -e %network -- curl -s http://localhost:8000/
  hermes trace -Z -p policies/no-secrets.ts -- python3 app.py`,
    )
    .action(async (command: string[], options) =>
      (await import("./trace.js")).traceCommand(command, options, thread),
    );

  addAttachCommand(program, thread);

  program
    .command("top")
    .description("what running sessions do: processes, calls, bytes, hot files, peers, refusals")
    .argument("[pid]", "only the session of this supervisor or program")
    .option("--once", "show it once and exit")
    .option("--json", "as JSON, one line per update")
    .option("-d, --delay <seconds>", "time between updates", "1")
    .action(async (pid, options) => exit(await (await import("./top.js")).topCommand(pid, options)));

  program
    .command("query")
    .description("ask a trace with SQL: the tables events and processes, the views calls and denials")
    .argument("[trace]", "a trace of any form; - for stdin")
    .argument("[sql]", "a SELECT (default: all events)")
    .option("--csv", "as CSV")
    .option("--json", "as JSON, one object per line")
    .option("--parquet <file>", "into a Parquet file")
    .option("--columns", "show the tables' columns")
    .addHelpText(
      "after",
      `
Examples:
  hermes query t.jsonl "SELECT name, count(*) AS n, sum(elapsed) AS s FROM calls GROUP BY 1 ORDER BY s DESC LIMIT 10"
  hermes query t.jsonl "SELECT DISTINCT address FROM calls WHERE name = 'connect'"
  hermes query t.jsonl "SELECT path, args->>'flags' FROM calls WHERE errno = 'EACCES'"
  hermes query --parquet t.parquet t.jsonl`,
    )
    .action(async (trace, sql, options) =>
      exit(await (await import("./query.js")).queryCommand(trace, sql, options)),
    );

  program
    .command("export")
    .description("a trace in the words of other tools: Perfetto, strace, OpenTelemetry, OCI, syslog, Elastic")
    .argument("<trace>", "a trace of any form; - for stdin")
    .requiredOption("--to <kind>", "chrome, strace, otlp, seccomp, syslog or ecs")
    .option("-o, --output <file>", "write to a file instead of stdout")
    .option("--endpoint <url>", "otlp: send spans to this collector (default: OTEL_EXPORTER_OTLP_ENDPOINT)")
    .option("--header <name:value>", "otlp: a header for the collector; may be repeated", collect)
    .option("--calls <which>", "all, or only decided: those on which a policy had something to say")
    .addHelpText(
      "after",
      `
Examples:
  hermes export t.jsonl --to chrome -o t.json            open it at ui.perfetto.dev
  hermes export t.jsonl --to otlp --endpoint http://localhost:4318
  hermes export t.jsonl --to seccomp -o profile.json     docker run --security-opt seccomp=profile.json …
  hermes export t.jsonl --to syslog | logger --prio-prefix`,
    )
    .action(async (trace, options) =>
      exit(await (await import("./export.js")).exportCommand(trace, options)),
    );

  program
    .command("doctor")
    .description("what this machine can protect, and how")
    .option("--agents", "whether the hooks of agents work, for this folder and for this user, and why not")
    .option("--json", "as JSON")
    .action(async (options) =>
      options.agents
        ? exit(await (await import("./doctor-agents.js")).doctorAgentsCommand(options))
        : (await import("./doctor.js")).doctorCommand(options),
    );

  program
    .command("simulate")
    .description("what policies would decide on recorded or hand-written events; needs no kernel")
    .argument("<events...>", "traces (JSON lines) or lists of events (.yaml)")
    .option("-p, --policy <file>", "a policy; may be repeated", collectPolicies)
    .option(
      "--against <file>",
      "show only what these policies decide otherwise; may be repeated",
      collectPolicies,
    )
    .option(
      "--prototypes <file>",
      "what functions take and return (docs/prototypes.md); may be repeated",
      collect,
    )
    .option("--json", "as JSON")
    .action(async (files, options) =>
      exit(await (await import("./simulate.js")).simulateCommand(files, options)),
    );

  program
    .command("remote", { hidden: true })
    .description("run what another HERMES orders over stdin and stdout")
    .action(async () => exit(await (await import("./remote.js")).remoteCommand()));

  addToolCommands(program);
  addPageCommands(program);
  addAgentCommands(program);
  addShellCommands(program, thread);
  addApprovalCommands(program);
  addAuditCommands(program);
  addBehaviourCommands(program, thread);
  addSkillCommands(program);
  addServingCommands(program);
  addFleetCommands(program);

  const policy = program.command("policy").description("look at policies without running anything");
  policy
    .command("check")
    .description("load policies and say what they are, or what is wrong with them")
    .argument("<files...>", "policy files, or names of policies that come with HERMES", collectPolicies)
    .option(
      "--strict",
      "exit 1 also for what is only suspicious: unreachable rules, patterns that match everything",
    )
    .option("--json", "as JSON")
    .action(async (files, options) => exit(await (await import("./policy.js")).checkCommand(files, options)));
  policy
    .command("test")
    .description("run the tests beside policies: NAME.test.yaml beside NAME.yaml, NAME.lua or NAME.ts")
    .argument("<files...>", "policy files, or names of policies that come with HERMES", collectPolicies)
    .action(async (files) => exit(await (await import("./policy-test.js")).testCommand(files)));
  policy
    .command("explain")
    .description(
      "which calls come through which door, and what the kernel decides alone; with --event, who decides what",
    )
    .argument("<files...>", "policy files, or names of policies that come with HERMES", collectPolicies)
    .option(
      "--event <yaml>",
      "an event, e.g. '{ call: openat, path: /etc/passwd }'; may be repeated",
      collect,
    )
    .option("--filter", "show what compiles to where (the default without --event)")
    .option("--program", "with the filter's instructions")
    .option("--door <door>", "auto, notify or trace", "auto")
    .action(async (files, options) =>
      exit(await (await import("./policy.js")).explainCommand(files, options)),
    );

  const guard = program.command("guard").description("judge what an agent asks for, before it is done");
  guard
    .command("check")
    .description("judge one thing and explain the judgement; exits 0 to allow, 3 to ask, 4 to deny")
    .argument("<input>", "what is to be judged; - reads it from stdin")
    .option("-k, --kind <kind>", `what it is: ${KINDS.join(", ")}`, "command")
    .option("--field <name=value>", "more about it, e.g. access=write of a path; may be repeated", collect)
    .option("--profile <profile>", "standard or strict (default: standard, or what hermes.yaml says)")
    .option("-C, --cwd <folder>", "the workspace", ".")
    .option("--online", "also ask the network: addresses of names, advisories on packages")
    .option("--json", "as JSON")
    .addHelpText("after", GUARD_EXAMPLES)
    .action(async (input, options) => exit(await (await import("./guard.js")).checkCommand(input, options)));
  guard
    .command("batch")
    .description('judge JSON lines from stdin, {"id","kind","input",…}, and answer each with one')
    .option("--profile <profile>", "standard or strict (default: standard, or what hermes.yaml says)")
    .option("-C, --cwd <folder>", "the workspace", ".")
    .option("--online", "also ask the network: addresses of names, advisories on packages")
    .action(async (options) => exit(await (await import("./guard.js")).batchCommand(options)));
  return program;
}

const GUARD_EXAMPLES = `
Examples:
  hermes guard check 'git status && npm test'
  hermes guard check --profile strict 'npm run deploy'
  hermes guard check --kind url http://169.254.169.254/
  hermes guard check --kind path --field access=write ../../etc/passwd`;

export function runCommandLine(thread: Thread | undefined): Promise<void> {
  return runProgram(commandLine(thread));
}
