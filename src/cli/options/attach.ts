import { type Command, Option } from "commander";
import type { Thread } from "../../session/thread.js";
import { collectPolicies } from "./policy-file.js";
import { ASK, ASK_TIMEOUT, LOG, WORKSPACE } from "./run.js";

/** `hermes attach`. Its code is loaded on use. */
export function addAttachCommand(program: Command, thread: Thread | undefined): void {
  program
    .command("attach")
    .description("supervise a running process; on leaving, restore it as it was")
    .argument("<pid>", "the process; its threads and future children are included")
    .option(
      "-p, --policy <file>",
      "a policy file, or the name of one that comes with HERMES (agent); of several policies the strictest verdict wins",
      collectPolicies,
    )
    .option("-w, --workspace <folder>", WORKSPACE)
    .option("-t, --trace <file>", "record calls: JSON lines, compressed (.gz) or binary (.htrace)")
    .option("-e, --events <list>", "system calls and %classes to record (default: all)")
    .option("--trace-bytes <n>", "bytes of each buffer in a trace record", "64")
    .option("--trace-format <form>", "lines, gzip or binary (default: by the file's name)")
    .option("--trace-size <bytes>", "start a new file at this size, e.g. 64M")
    .option("--trace-keep <n>", "keep only the last n of these files")
    .option("--trace-overflow <what>", "when the trace is a pipe and its reader slow: wait or drop", "wait")
    .option("--on-trace-error <what>", "when the trace cannot be written: stop (detach) or continue", "stop")
    .option(
      "--door <door>",
      "auto; notify: needs a filter (traces have no results); trace: stop at every call",
      "auto",
    )
    .option(
      "--filter",
      "install a filter even if the process has one, or would lose setuid programs permanently",
    )
    .option("--no-reload", "do not reload policies when their files change")
    .option("--live [calls]", "stop these calls from the start, so that policies to come can decide on them")
    .option("--ask <where>", ASK)
    .option("--ask-timeout <time>", ASK_TIMEOUT)
    .option("--approvals <file>", "a policy file whose rules answer in advance")
    .option("--log <what>", LOG)
    .option("-q, --quiet", "no summary")
    .option("--json", "the summary as one line of JSON on stderr")
    .addOption(new Option("--fence <level>").hideHelp())
    .addHelpText("after", EXAMPLES)
    .action(async (pid, options) =>
      (await import("../commands/attach.js")).attachCommand(pid, options, thread),
    );
}

const EXAMPLES = `
Examples:
  hermes attach 1234                                     watch what HERMES itself must watch, nothing else
  hermes attach --policy policies/no-secrets.ts 1234
  hermes attach --trace t.jsonl -e openat,%network 1234
  hermes attach -p watch.yaml "$(pidof -s redis-server)"

Ctrl-C or SIGTERM detaches; the process runs on. Exit status: 0 after detaching, else the program's status
if the kernel reports it; 125 when attaching failed, 126 when it is forbidden, 127 when there is no such
process, 2 for wrong usage.`;
