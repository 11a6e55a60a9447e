import type { Command } from "commander";
import { collectPolicies } from "./policy-word.js";
import type { RunFlags } from "./run.js";

const collect = (value: string, all: string[] = []) => [...all, value];

/** `hermes run`. What it does is given by whoever has it at hand. */
export function addRunCommand(
  program: Command,
  run: (words: string[], flags: RunFlags) => Promise<never>,
): void {
  program
    .command("run")
    .description("run a program under policies")
    .argument("[command...]", "the program and its arguments")
    .option(
      "-p, --policy <file>",
      "a policy file, or the name of one that comes with HERMES (agent); of several the strictest answer holds",
      collectPolicies,
    )
    .option("-t, --trace <file>", "record calls: JSON lines, compressed (.gz) or binary (.htrace)")
    .option(
      "-e, --events <list>",
      "what --trace records: system calls and %classes, separated by commas (default: all)",
    )
    .option("--functions <pattern>", "and functions: 'libc!get*', '!libc!*alloc*'; may be repeated", collect)
    .option(
      "--prototypes <file>",
      "what functions take and return (docs/prototypes.md); may be repeated",
      collect,
    )
    .option(
      "--stack [calls]",
      "record who called whom, of these recorded calls and %classes (default: of all)",
    )
    .option("--trace-bytes <n>", "how many bytes of a buffer go into a trace record", "64")
    .option("--trace-format <form>", "lines, gzip or binary, whatever the file is called")
    .option("--trace-size <bytes>", "begin a new file when one has become so large, e.g. 64M")
    .option("--trace-keep <n>", "keep only the last n of these files")
    .option(
      "--trace-overflow <what>",
      "when the trace is a pipe and its reader slow: wait, or drop what is merely observed",
      "wait",
    )
    .option(
      "--fast",
      "what is only recorded is recorded by the program itself, where that can be (docs/inside.md)",
    )
    .option("--on-trace-error <what>", "when the trace cannot be written: stop or continue", "stop")
    .option("--target <file>", "the program to run, when it is not the first word of the command")
    .option("--fence <level>", "none, standard or strict: what holds without a policy", "standard")
    .option("--writable <path>", "nothing else may be changed (Landlock); may be repeated", collect)
    .option("--readable <path>", "nothing else may be read, but the system; may be repeated", collect)
    .option("--hide <path>", "not to be seen at all (strict); may be repeated", collect)
    .option("--connect-port <n>", "the only TCP ports to connect to (Landlock); may be repeated", collect)
    .option("--bind-port <n>", "the only TCP ports to listen on (Landlock); may be repeated", collect)
    .option("--network <which>", "strict: own (a private loopback, the default) or host")
    .option("--memory <size>", "limit of memory for all its processes together, e.g. 512M (cgroup)")
    .option("--processes <n>", "limit of processes and threads (cgroup)")
    .option("--cpus <n>", "limit of CPU time, e.g. 1.5 CPUs (cgroup)")
    .option("--timeout <time>", "end the run after this time, e.g. 30s, with exit status 124")
    .option("--require <names>", "do not start without these protections, e.g. namespaces,landlock", collect)
    .option("--door <door>", "auto, notify or trace", "auto")
    .option("-C, --cwd <folder>", "working directory of the program")
    .option(
      "--env <name=value>",
      "set a variable of the program (name alone removes it); may be repeated",
      collect,
    )
    .option("--clear-env", "start with an empty environment")
    .option("--clean-env", "keep only variables that any program may know (strict does)")
    .option("--keep-env <names>", "keep these too, e.g. GIT_*,NODE_ENV; may be repeated", collect)
    .option("--fd <n>", "a further open descriptor that the program gets; may be repeated", collect)
    .option("--limit <name=soft[:hard]>", "a resource limit, e.g. nofile=1024; may be repeated", collect)
    .option("--no-reload", "do not load policies anew when their files change")
    .option(
      "--live [calls]",
      "stop these calls from the start, so that policies to come can decide on them (default: all that rules on effects can be about, but for reading, writing and syncing data)",
    )
    .option(
      "--orphans <what>",
      "processes left when the program has ended: wait for them, or kill them",
      "wait",
    )
    .option("--ask <where>", "who answers what policies ask: terminal, or no for nobody", "terminal")
    .option("--ask-timeout <time>", "silence for so long is a no, e.g. 30s or 5m", "60s")
    .option("--approvals <file>", "answers for always: a policy file, written when somebody answers so")
    .option("-q, --quiet", "no summary")
    .option("--json", "the summary as one line of JSON on stderr")
    .passThroughOptions()
    .addHelpText("after", EXAMPLES)
    .action(run);
}

const EXAMPLES = `
Examples:
  hermes run -- ls -l                                     watch nothing, only supervise
  hermes run --policy policies/no-secrets.ts -- python3 app.py
  hermes run --trace t.jsonl -- git status                record every system call
  hermes run -t t.jsonl -e openat,%network -- curl http://localhost:8000/
  hermes run --fence strict --timeout 1m -- make          its own processes, /tmp and network; writes here only
  hermes run --writable out --connect-port 443 -- ./fetch

Exit status: that of the program (128+n when signal n ended it); 124 when it ran out of time,
125 when HERMES itself failed, 126 when the program cannot be executed, 127 when it is not found, 2 for wrong usage.`;
