import type { Command } from "commander";
import type { Thread } from "../../session/thread.js";
import { exit } from "../views/output.js";
import { collect, collectPolicies } from "./policy-file.js";
import { WORKSPACE } from "./run.js";

/** The commands that analyse programs. Each has its own module, loaded on use. */
export function addAnalysisCommands(program: Command, thread: Thread | undefined): void {
  program
    .command("analyze")
    .description("analyze a trace: processes, files, network peers, secrets, refusals, suspicious findings")
    .argument("<trace>", "a trace in any format; - is stdin")
    .option("--json", "as JSON (docs/how-to/analyze.md)")
    .option("--html <file>", "as one self-contained page with timeline, graphs and searchable events")
    .option("--all", "show full lists")
    .action(async (file, options) =>
      exit(await (await import("../commands/analyze.js")).analyzeCommand(file, options)),
    );

  program
    .command("diff")
    .description("compare the behaviour of two runs: network peers, programs, files, system calls")
    .argument("<before>", "a trace")
    .argument("<after>", "a second trace")
    .option("--json", "as JSON (docs/how-to/analyze.md)")
    .option("--all", "show full lists")
    .addHelpText("after", DIFF_EXAMPLES)
    .action(async (before, after, options) =>
      exit(await (await import("../commands/diff.js")).diffCommand(before, after, options)),
    );

  program
    .command("prototypes")
    .description("show known prototypes of library functions: arguments, results and failures")
    .argument("[patterns...]", "libc!get*, SSL_*; all when absent")
    .option("--from <file>", "read them from the debug information of a program or library")
    .option(
      "--prototypes <file>",
      "also use this prototype file and report its errors; may be repeated",
      collect,
    )
    .option("--json", "as JSON lines")
    .addHelpText("after", PROTOTYPES_EXAMPLES)
    .action(async (patterns, options) =>
      exit(await (await import("../commands/prototypes.js")).prototypesCommand(patterns, options)),
    );

  program
    .command("inspect")
    .description(
      "analyze a program's file without running it: hardening, imports, system calls, functions, control flow",
    )
    .argument("<file>", "an ELF program, library or object file")
    .option("--json", "as JSON (docs/how-to/inspect.md)")
    .option("--all", "show full lists")
    .option("--functions", "list its functions: address, size, name, how they were found")
    .option("--cfg <function>", "the control flow of a function, by name, address (0x…) or entry")
    .option("--format <format>", "of --cfg: dot, svg or json (default: dot)")
    .option("-o, --output <file>", "output file (default: stdout)")
    .option(
      "--suggest-policy <file>",
      "write a policy that refuses system calls which the program cannot make; - is stdout",
    )
    .addHelpText("after", INSPECT_EXAMPLES)
    .action(async (file, options) =>
      exit(await (await import("../commands/inspect.js")).inspectCommand(file, options)),
    );

  program
    .command("learn")
    .description("run a program and write a minimal policy that allows what it did")
    .argument("[command...]", "the program and its arguments; with --repair, a trace")
    .option("-o, --output <file>", "the policy file; a learned policy is extended (default: stdout)")
    .option("--from <trace>", "learn from a trace instead; may be repeated", collect)
    .option("--repair <policy>", "propose the smallest additions for what a policy refused in a trace")
    .option("--name <name>", "the policy's name (default: that of its file)")
    .option("--format <format>", "yaml, landlock or oci", "yaml")
    .option(
      "--contained",
      "behind a strict fence, without network and secrets (default for programs in ~/Downloads, and those that do not belong to root)",
    )
    .option("--no-contained", "with your rights, whatever program it is")
    .option("--force", "overwrite a policy that was not learned, or was edited since")
    .option("-y, --yes", "with --repair: add everything except secrets, without asking")
    .option("-q, --quiet", "no messages")
    .option("--json", "the result or the proposals as JSON")
    .passThroughOptions()
    .addHelpText("after", LEARN_EXAMPLES)
    .action(async (words, options) =>
      exit(await (await import("../commands/learn.js")).learnCommand(words, options)),
    );

  program
    .command("coverage")
    .description("code coverage of a program without its source: functions, blocks and source lines")
    .argument("[command...]", "the program and its arguments")
    .option("--blocks", "every basic block (the default)")
    .option("--functions", "only whether functions are called")
    .option("--count", "how often functions are called")
    .option("--fast", "with --count: count inside the program, without stops (docs/reference/inside.md)")
    .option(
      "-m, --module <glob>",
      "files to cover, e.g. 'libz*'; app is the program itself (the default); may be repeated",
      collect,
    )
    .option("--merge <file>", "add the coverage of an earlier run (its JSON); may be repeated", collect)
    .option("-o, --output <file>", "the report file (default: stderr)")
    .option("--format <format>", "text, json or lcov; default by the file's extension (.json, .info, .lcov)")
    .option("-p, --policy <file>", "a policy to enforce during the run; may be repeated", collectPolicies)
    .option("--workspace <folder>", WORKSPACE)
    .passThroughOptions()
    .addHelpText("after", COVERAGE_EXAMPLES)
    .action(async (words, options) =>
      (await import("../commands/coverage.js")).coverageCommand(words, options, thread),
    );
}

const COVERAGE_EXAMPLES = `
Examples:
  hermes coverage -- ./program --self-test             what of it was run
  hermes coverage -o out.info -- ./program             for genhtml and editors
  hermes coverage --functions -m 'libz*' -- gzip -c f  which functions of a library
  hermes coverage --count --fast -- ./program          how often each function was called
  hermes coverage --merge a.json --merge b.json        two runs as one

Exit status: that of the program.`;

const INSPECT_EXAMPLES = `
Examples:
  hermes inspect /usr/bin/curl
  hermes inspect --cfg main --format svg -o main.svg ./program
  hermes inspect --suggest-policy curl.yaml /usr/bin/curl && hermes policy check curl.yaml

The program is not run. Exit status: 0, or 1 when the file cannot be read or is not an ELF file.`;

const DIFF_EXAMPLES = `
Example: what does a package's install script do that it did not do before?
  hermes run -t old.jsonl -- npm install ./package-1.0.0.tgz
  hermes run -t new.jsonl -- npm install ./package-1.0.1.tgz
  hermes diff old.jsonl new.jsonl

Exit status: 0 without differences, 1 with differences, 125 when a trace cannot be read.`;

const PROTOTYPES_EXAMPLES = `
Examples:
  hermes prototypes 'libc!getenv' 'libssl!SSL_*'
  hermes prototypes --prototypes mine.h 'libmine!*'    is mine.h right, and what does it say?
  hermes prototypes --from ./program > mine.h          a beginning, out of debug information

Exit status: 0 when functions were found, 1 when not, 125 when a file is invalid.`;

const LEARN_EXAMPLES = `
Examples:
  hermes learn -o git.yaml -- git status           learn; again with other arguments: add to it
  hermes run -p git.yaml -t t.jsonl -- git status  enforce it, and record what it refuses
  hermes learn --repair git.yaml t.jsonl           add what was refused and should not have been
  hermes learn --format oci --from t.jsonl         a seccomp profile for containers

Exit status: the program's; with --repair 0 when nothing is left to add, else 1.`;
