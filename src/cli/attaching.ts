import { type Command, Option } from "commander";
import type { Thread } from "../session/thread.js";
import { collectPolicies } from "./policy-word.js";

/** `hermes attach`: its file is loaded when it is used. */
export function addAttachCommand(program: Command, thread: Thread | undefined): void {
  program
    .command("attach")
    .description("watch over a process that runs already; leave it as it was")
    .argument("<pid>", "the process; its threads and the children that it will have come with it")
    .option(
      "-p, --policy <file>",
      "a policy file, or the name of one that comes with HERMES (agent); of several the strictest answer holds",
      collectPolicies,
    )
    .option("-t, --trace <file>", "record calls: JSON lines, compressed (.gz) or binary (.htrace)")
    .option("-e, --events <list>", "what --trace records: system calls and %classes (default: all)")
    .option("--trace-bytes <n>", "how many bytes of a buffer go into a trace record", "64")
    .option("--trace-format <form>", "lines, gzip or binary, whatever the file is called")
    .option("--trace-size <bytes>", "begin a new file when one has become so large, e.g. 64M")
    .option("--trace-keep <n>", "keep only the last n of these files")
    .option("--trace-overflow <what>", "when the trace is a pipe and its reader slow: wait or drop", "wait")
    .option("--on-trace-error <what>", "when the trace cannot be written: stop (leave) or continue", "stop")
    .option(
      "--door <door>",
      "auto; notify: a filter or nothing (traces without results); trace: stop at every call",
      "auto",
    )
    .option(
      "--filter",
      "put a filter into it also where it has one, or must give up new privileges (setuid) for good",
    )
    .option("--no-reload", "do not load policies anew when their files change")
    .option("--live [calls]", "stop these calls from the start, so that policies to come can decide on them")
    .option("--ask <where>", "who answers what policies ask: terminal, or no for nobody", "terminal")
    .option("--ask-timeout <time>", "silence for so long is a no, e.g. 30s or 5m", "60s")
    .option("--approvals <file>", "answers for always: a policy file, written when somebody answers so")
    .option("-q, --quiet", "no summary")
    .option("--json", "the summary as one line of JSON on stderr")
    .addOption(new Option("--fence <level>").hideHelp())
    .addHelpText("after", EXAMPLES)
    .action(async (pid, options) => (await import("./attach.js")).attachCommand(pid, options, thread));
}

const EXAMPLES = `
Examples:
  hermes attach 1234                                     watch what HERMES itself must watch, nothing else
  hermes attach --policy policies/no-secrets.ts 1234
  hermes attach --trace t.jsonl -e openat,%network 1234
  hermes attach -p watch.yaml "$(pidof -s redis-server)"

Ctrl-C or SIGTERM leaves the process; it runs on. Exit status: 0 when HERMES left it, else that of the program
where the kernel tells; 125 when it cannot be attached to, 126 when that is forbidden, 127 when there is no such
process, 2 for wrong usage.`;
