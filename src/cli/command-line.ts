import type { Command } from "commander";
import { KINDS } from "../intent/guard/subject.js";
import type { Thread } from "../session/thread.js";
import { addAgentCommands, addShellCommands } from "./options/agents.js";
import { addAllowCommand } from "./options/allow.js";
import { addAnalysisCommands } from "./options/analysis.js";
import { addApprovalCommands } from "./options/approvals.js";
import { addAttachCommand } from "./options/attach.js";
import { addAuditCommands, addLogCommand } from "./options/audit.js";
import { addConsoleCommands } from "./options/console.js";
import { addExecCommand } from "./options/exec.js";
import { addFleetCommands } from "./options/fleet.js";
import { addMcpCommands } from "./options/mcp.js";
import { addMemoryCommands } from "./options/memory.js";
import { collect, collectPolicies } from "./options/policy-file.js";
import { newProgram, runProgram } from "./options/program.js";
import { addResidentCommand } from "./options/resident.js";
import { ASK, ASK_TIMEOUT, addRunCommand, WORKSPACE } from "./options/run.js";
import { addSkillCommands } from "./options/skill.js";
import { addTirithCommands } from "./options/tirith.js";
import { exit } from "./views/output.js";

const count = (_: string, before: number) => before + 1;

/** The command line. Each command has its own module, loaded on use. */
function commandLine(thread: Thread | undefined): Command {
  const program = newProgram();
  addRunCommand(program, async (command, options) =>
    (await import("./run-line.js")).runCommand(command, options, thread),
  );

  program
    .command("trace")
    .description("show a program's system calls as they happen, like strace")
    .argument("<command...>", "the program and its arguments")
    .option(
      "-e <expression>",
      "calls to show: trace=openat,%network, %file, '!read,write', status=failed; may be repeated",
      collect,
    )
    .option(
      "-l, --functions <pattern>",
      "also function calls: 'libc!*', 'libssl!SSL_*', 'app!main'; '!libc!*alloc*' excludes; may be repeated",
      collect,
    )
    .option("--prototypes <file>", "prototypes of these functions; may be repeated", collect)
    .option("-z", "only calls that succeeded")
    .option("-Z", "only calls that failed")
    .option("-f", "follow children (always on)")
    .option("-y", "show what descriptors refer to", count, 0)
    .option("-c", "only a summary table of calls, errors and time")
    .option("-C", "the summary table too")
    .option("-o <file>", "write to a file instead of stderr")
    .option("-t", "time of day; -tt with microseconds, -ttt seconds since 1970", count, 0)
    .option("-r", "time since the previous line")
    .option("-T", "how long each call took")
    .option("-s <n>", "maximum length of shown strings", "32")
    .option("-k, --stack [calls]", "the stack below each line; or only for these calls and %classes")
    .option("-p, --policy <file>", "a policy to enforce meanwhile; may be repeated", collectPolicies)
    .option("--workspace <folder>", WORKSPACE)
    .option("--ask <where>", ASK)
    .option("--ask-timeout <time>", ASK_TIMEOUT)
    .option("--json", "records as JSON lines instead of text")
    .option(
      "--fast",
      "where possible, the program itself records calls that no policy decides (docs/reference/inside.md)",
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
      (await import("./commands/trace.js")).traceCommand(command, options, thread),
    );

  addAttachCommand(program, thread);

  program
    .command("top")
    .description("live view of running sessions: processes, calls, bytes, hot files, peers, refusals")
    .argument("[pid]", "only the session of this supervisor or program")
    .option("--once", "show it once and exit")
    .option("--json", "as JSON, one line per update")
    .option("-d, --delay <seconds>", "time between updates", "1")
    .action(async (pid, options) => exit(await (await import("./commands/top.js")).topCommand(pid, options)));

  program
    .command("query")
    .description("query a trace with SQL: the tables events and processes, the views calls and denials")
    .argument("[trace]", "a trace in any format; - is stdin")
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
      exit(await (await import("./commands/query.js")).queryCommand(trace, sql, options)),
    );

  program
    .command("export")
    .description("convert a trace for other tools: Perfetto, strace, OpenTelemetry, OCI, syslog, Elastic")
    .argument("<trace>", "a trace in any format; - is stdin")
    .requiredOption("--to <kind>", "chrome, strace, otlp, seccomp, syslog or ecs")
    .option("-o, --output <file>", "write to a file instead of stdout")
    .option("--endpoint <url>", "otlp: send spans to this collector (default: OTEL_EXPORTER_OTLP_ENDPOINT)")
    .option("--header <name:value>", "otlp: a header for the collector; may be repeated", collect)
    .option("--calls <which>", "all, or only decided: calls on which a policy decided")
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
      exit(await (await import("./commands/export.js")).exportCommand(trace, options)),
    );

  program
    .command("doctor")
    .description("check which protections this machine supports")
    .option("--agents", "check the hooks of agents, for this folder and this user")
    .option("--json", "as JSON")
    .action(async (options) =>
      options.agents
        ? exit(await (await import("./commands/doctor-agents.js")).doctorAgentsCommand(options))
        : (await import("./commands/doctor.js")).doctorCommand(options),
    );

  program
    .command("simulate")
    .description(
      "show what policies would decide on recorded or hand-written events, without running anything",
    )
    .argument("<events...>", "traces (JSON lines) or lists of events (.yaml)")
    .option("-p, --policy <file>", "a policy; may be repeated", collectPolicies)
    .option(
      "--against <file>",
      "show only decisions that differ under these policies; may be repeated",
      collectPolicies,
    )
    .option(
      "--prototypes <file>",
      "prototypes of functions (docs/reference/prototypes.md); may be repeated",
      collect,
    )
    .option("--json", "as JSON")
    .action(async (files, options) =>
      exit(await (await import("./commands/simulate.js")).simulateCommand(files, options)),
    );

  program
    .command("remote", { hidden: true })
    .description("run commands for another HERMES, over stdin and stdout")
    .action(async () => exit(await (await import("./commands/remote.js")).remoteCommand()));

  addExecCommand(program, async (command, flags) =>
    (await import("./exec-line.js")).execCommand(command, flags),
  );
  addConsoleCommands(program);
  addAgentCommands(program);
  addShellCommands(program, thread);
  addApprovalCommands(program);
  addAllowCommand(program);
  addLogCommand(program);
  addAuditCommands(program);
  addAnalysisCommands(program, thread);
  addSkillCommands(program);
  addMemoryCommands(program);
  addTirithCommands(program);
  addMcpCommands(program);
  addFleetCommands(program);
  addResidentCommand(program);

  const policy = program
    .command("policy")
    .description("list, show, check, test and explain policies without running a program");
  policy
    .command("list")
    .description("the policies that come with HERMES, which -p takes by name")
    .option("--json", "as JSON")
    .action(async (options) => exit((await import("./commands/policy-list.js")).policyListCommand(options)));
  policy
    .command("show")
    .description("print a policy that comes with HERMES")
    .argument("<name>", "its name")
    .action(async (name) => exit((await import("./commands/policy-list.js")).policyShowCommand(name)));
  policy
    .command("check")
    .description("load policies and report their rules or errors")
    .argument("<files...>", "policy files, or names of policies that come with HERMES", collectPolicies)
    .option("--strict", "exit 1 also for warnings: unreachable rules, patterns that match everything")
    .option("--json", "as JSON")
    .action(async (files, options) =>
      exit(await (await import("./commands/policy.js")).policyCheckCommand(files, options)),
    );
  policy
    .command("test")
    .description("run the tests beside policies: NAME.test.yaml beside NAME.yaml, NAME.lua or NAME.ts")
    .argument("<files...>", "policy files, or names of policies that come with HERMES", collectPolicies)
    .action(async (files) =>
      exit(await (await import("./commands/policy-test.js")).policyTestCommand(files)),
    );
  policy
    .command("explain")
    .description(
      "show which door stops which calls, and what the kernel decides alone; with --event, which rule decides",
    )
    .argument("<files...>", "policy files, or names of policies that come with HERMES", collectPolicies)
    .option(
      "--event <yaml>",
      "an event, e.g. '{ call: openat, path: /etc/passwd }'; may be repeated",
      collect,
    )
    .option("--filter", "show what compiles to which door (the default without --event)")
    .option("--program", "also print the filter's instructions")
    .option("--tiers", "which rule is held where: by the kernel's filter, by mounts, or by stops")
    .option("--json", "with --tiers: as JSON")
    .option("--door <door>", "auto, notify or trace", "auto")
    .action(async (files, options) =>
      exit(await (await import("./commands/policy.js")).policyExplainCommand(files, options)),
    );

  const guard = program.command("guard").description("judge what an agent wants to do, before it does it");
  guard
    .command("check")
    .description("judge one input and explain the judgement; exits 0 for allow, 3 for ask, 4 for deny")
    .argument("<input>", "the input to judge; - is stdin")
    .option("-k, --kind <kind>", `the kind of input: ${KINDS.join(", ")}`, "command")
    .option("--field <name=value>", "an extra field, e.g. access=write for a path; may be repeated", collect)
    .option("--profile <profile>", "standard or strict (default: hermes.yaml's, or standard)")
    .option("-C, --cwd <folder>", "the workspace", ".")
    .option("--online", "use the network too: DNS, advisories on packages")
    .option("--json", "as JSON")
    .addHelpText("after", GUARD_EXAMPLES)
    .action(async (input, options) =>
      exit(await (await import("./commands/guard.js")).guardCheckCommand(input, options)),
    );
  guard
    .command("batch")
    .description('judge JSON lines from stdin, {"id","kind","input",…}; one answer line for each')
    .option("--profile <profile>", "standard or strict (default: hermes.yaml's, or standard)")
    .option("-C, --cwd <folder>", "the workspace", ".")
    .option("--online", "use the network too: DNS, advisories on packages")
    .action(async (options) => exit(await (await import("./commands/guard.js")).guardBatchCommand(options)));
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
