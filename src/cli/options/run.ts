import type { Command } from "commander";
import type { RunFlags } from "../commands/run.js";
import { addHelpAll } from "./help.js";
import { collect, collectPolicies } from "./policy-file.js";

/** What `--ask` takes, wherever a program runs under policies. */
export const ASK =
  "terminal, queue or no: who answers what policies ask (default: the terminal where there is one, else the queue); no refuses it";
export const ASK_TIMEOUT =
  "no answer for so long is a refusal, e.g. 30s or 5m (default, and at most: approvals.timeout of hermes.yaml)";

/** What `--workspace` takes, wherever policies may open the workspace to a program. */
export const WORKSPACE =
  "the folder that policies and a strict fence open to the program (default: HERMES_WORKSPACE, else the working directory, unless that is a home or larger)";

/** What `--log` takes. */
export const LOG =
  "refused, or refused=json: a line on stderr for each refusal while the program runs, at most 20 a second";

/** `hermes run`. The caller gives what it does. */
export function addRunCommand(
  program: Command,
  run: (words: string[], flags: RunFlags) => Promise<never>,
): void {
  addHelpAll(program.command("run"))
    .description("run a program under policies")
    .argument("[command...]", "the program and its arguments")
    .option(
      "-p, --policy <file>",
      "a policy file, or the name of one that comes with HERMES (agent); of several policies the strictest verdict wins",
      collectPolicies,
    )
    .option("-t, --trace <file>", "record calls: JSON lines, compressed (.gz) or binary (.htrace)")
    .option("-e, --events <list>", "system calls and %classes to record, separated by commas (default: all)")
    .option(
      "--functions <pattern>",
      "also record functions: 'libc!get*', '!libc!*alloc*'; may be repeated",
      collect,
    )
    .option(
      "--prototypes <file>",
      "prototypes of functions (docs/reference/prototypes.md); may be repeated",
      collect,
    )
    .option("--stack [calls]", "record stacks, for these recorded calls and %classes (default: all)")
    .option("--trace-bytes <n>", "bytes of each buffer in a trace record", "64")
    .option("--trace-format <form>", "lines, gzip or binary (default: by the file's name)")
    .option("--trace-size <bytes>", "start a new file at this size, e.g. 64M")
    .option("--trace-keep <n>", "keep only the last n of these files")
    .option(
      "--trace-overflow <what>",
      "when the trace is a pipe with a slow reader: wait, or drop records of observed calls",
      "wait",
    )
    .option(
      "--fast",
      "where possible, the program itself records calls that no policy decides (docs/reference/inside.md)",
    )
    .option("--on-trace-error <what>", "when the trace cannot be written: stop or continue", "stop")
    .option("--target <file>", "the program file, if it differs from the first word of the command")
    .option("--fence <level>", "none, standard or strict: the protections that need no policy", "standard")
    .option("--writable <path>", "the only paths that may be changed (Landlock); may be repeated", collect)
    .option(
      "--readable <path>",
      "the only paths that may be read, besides the system's; may be repeated",
      collect,
    )
    .option("--hide <path>", "a path to hide (needs the strict fence); may be repeated", collect)
    .option("--connect-port <n>", "the only TCP ports to connect to (Landlock); may be repeated", collect)
    .option("--bind-port <n>", "the only TCP ports to listen on (Landlock); may be repeated", collect)
    .option("--network <which>", "with the strict fence: own (a private loopback, the default) or host")
    .option("--memory <size>", "memory limit of the whole run, e.g. 512M (cgroup)")
    .option("--processes <n>", "limit of processes and threads in the run (cgroup)")
    .option("--cpus <n>", "CPU limit of the whole run, e.g. 1.5 (cgroup)")
    .option("--timeout <time>", "end the run after this time, e.g. 30s, with exit status 124")
    .option(
      "--require <names>",
      "refuse to start without these protections, e.g. namespaces,landlock",
      collect,
    )
    .option("--door <door>", "auto, notify or trace", "auto")
    .option(
      "--view <when>",
      "auto: mounts hold rules on reading files where they can; off: decide at each call",
      "auto",
    )
    .option("-C, --cwd <folder>", "working directory of the program")
    .option("-w, --workspace <folder>", WORKSPACE)
    .option(
      "--env <name=value>",
      "set an environment variable (name alone removes it); may be repeated",
      collect,
    )
    .option("--clear-env", "start with an empty environment")
    .option("--clean-env", "keep only harmless environment variables (strict does this too)")
    .option("--keep-env <names>", "also keep these variables, e.g. GIT_*,NODE_ENV; may be repeated", collect)
    .option("--fd <n>", "pass this open descriptor to the program; may be repeated", collect)
    .option("--limit <name=soft[:hard]>", "a resource limit, e.g. nofile=1024; may be repeated", collect)
    .option("--no-reload", "do not reload policies when their files change")
    .option(
      "--live [calls]",
      "stop these calls from the start, so that reloaded policies can decide on them with any answer (default: all calls that rules can name, reading and writing data included, which costs a stop for each)",
    )
    .option(
      "--orphans <what>",
      "when the program has ended but its children run on: wait for them, or kill them",
      "wait",
    )
    .option("--ask <where>", ASK)
    .option("--ask-timeout <time>", ASK_TIMEOUT)
    .option("--approvals <file>", "a policy file whose rules answer in advance")
    .option("--log <what>", LOG)
    .option(
      "--require-hit",
      "fail with exit status 125 if a rule that changes what happens (fault, emulate, redirect, modify) never applied",
    )
    .option("-q, --quiet", "no summary")
    .option("--json", "the summary as one line of JSON on stderr")
    .passThroughOptions()
    .addHelpText("after", EXAMPLES)
    .action(run);
}

const EXAMPLES = `
Examples:
  hermes run -p untrusted -- ./program                    a strict default for unknown programs
  hermes run -p agent -- npm test                         as an agent's commands are held
  hermes run -p mine.yaml -- python3 app.py               your own rules; a saved file is reloaded
  hermes run --trace t.jsonl -- git status                record every system call
  hermes run -t t.jsonl -e openat,%network -- curl http://localhost:8000/
  hermes run --fence strict --timeout 1m -- make          its own processes, /tmp and network; writes here only
  hermes run --writable out --connect-port 443 -- ./fetch

Exit status: the program's (128+n when signal n ended it); 124 after a timeout,
125 when HERMES itself failed, 126 when the program cannot be executed, 127 when it is not found, 2 for wrong usage.`;
