import type { Command } from "commander";
import type { Thread } from "../session/thread.js";
import { exit } from "./output.js";
import { collectPolicies } from "./policy-word.js";

const collect = (value: string, all: string[] = []) => [...all, value];

/** The commands that say what programs do: each is a file here, loaded when it is used. */
export function addBehaviourCommands(program: Command, thread: Thread | undefined): void {
  program
    .command("analyze")
    .description(
      "what a trace tells: processes, files, peers, secrets, refusals, and what is worth a second look",
    )
    .argument("<trace>", "a trace of any form; - is stdin")
    .option("--json", "as JSON (docs/analyze.md)")
    .option("--html <file>", "as one self-contained page with timeline, graphs and searchable events")
    .option("--all", "lists to their end")
    .action(async (file, options) =>
      exit(await (await import("./analyze.js")).analyzeCommand(file, options)),
    );

  program
    .command("diff")
    .description("how the behaviour of two runs differs: peers, programs, files, system calls")
    .argument("<before>", "a trace")
    .argument("<after>", "another one")
    .option("--json", "as JSON (docs/analyze.md)")
    .option("--all", "lists to their end")
    .addHelpText("after", DIFF_EXAMPLES)
    .action(async (before, after, options) =>
      exit(await (await import("./diff.js")).diffCommand(before, after, options)),
    );

  program
    .command("prototypes")
    .description("what is known of the functions of libraries: their arguments, results and failures")
    .argument("[patterns...]", "libc!get*, SSL_*; all when absent")
    .option("--from <file>", "out of the debug information of a program or library")
    .option("--prototypes <file>", "a file of your own too; its errors are told; may be repeated", collect)
    .option("--json", "as JSON lines")
    .addHelpText("after", PROTOTYPES_EXAMPLES)
    .action(async (patterns, options) =>
      exit(await (await import("./prototypes.js")).prototypesCommand(patterns, options)),
    );

  program
    .command("inspect")
    .description(
      "what a program is and could do, told from its file: hardening, imports, system calls, functions, control flow",
    )
    .argument("<file>", "an ELF program, library or object file")
    .option("--json", "as JSON (docs/inspect.md)")
    .option("--all", "lists to their end")
    .option("--functions", "list its functions: address, size, name, how they were found")
    .option("--cfg <function>", "the control flow of a function, by name, address (0x…) or entry")
    .option("--format <format>", "of --cfg: dot, svg or json (default: dot)")
    .option("-o, --output <file>", "where it goes (default: stdout)")
    .option("--suggest-policy <file>", "write a policy that refuses what it has no means for; - is stdout")
    .addHelpText("after", INSPECT_EXAMPLES)
    .action(async (file, options) =>
      exit(await (await import("./inspect.js")).inspectCommand(file, options)),
    );

  program
    .command("learn")
    .description("run a program and write the narrowest readable policy that lets it do what it did")
    .argument("[command...]", "the program and its arguments; with --repair, a trace")
    .option(
      "-o, --output <file>",
      "where the policy goes; one that was learned before is added to (default: stdout)",
    )
    .option("--from <trace>", "learn from a trace instead; may be repeated", collect)
    .option("--repair <policy>", "propose the smallest additions for what a policy refused in a trace")
    .option("--name <name>", "the policy's name (default: that of its file)")
    .option("--format <format>", "yaml, landlock or oci", "yaml")
    .option("--force", "write over a policy that was not learned, or was changed since")
    .option("-y, --yes", "with --repair: add all but secrets, without asking")
    .option("-q, --quiet", "say nothing about it")
    .option("--json", "what was written, or is proposed, as JSON")
    .passThroughOptions()
    .addHelpText("after", LEARN_EXAMPLES)
    .action(async (words, options) => exit(await (await import("./learn.js")).learnCommand(words, options)));

  program
    .command("coverage")
    .description("which functions, blocks and source lines of a program are run, without its source")
    .argument("[command...]", "the program and its arguments")
    .option("--blocks", "every basic block (the default)")
    .option("--functions", "only whether functions are called")
    .option("--count", "how often functions are called")
    .option("--fast", "with --count: counted by the program itself, without a stop (docs/inside.md)")
    .option(
      "-m, --module <glob>",
      "the files that are looked at, e.g. 'libz*'; app is the program itself, the default; may be repeated",
      collect,
    )
    .option("--merge <file>", "add what an earlier run covered (its JSON); may be repeated", collect)
    .option("-o, --output <file>", "where the report goes (default: stderr)")
    .option("--format <format>", "text, json or lcov; by default as the file is called (.json, .info, .lcov)")
    .option("-p, --policy <file>", "a policy to enforce meanwhile; may be repeated", collectPolicies)
    .passThroughOptions()
    .addHelpText("after", COVERAGE_EXAMPLES)
    .action(async (words, options) =>
      (await import("./coverage.js")).coverageCommand(words, options, thread),
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

Nothing is run. Exit status: 0, or 1 when the file cannot be read or is no ELF file.`;

const DIFF_EXAMPLES = `
Example: what does a package's install script do that it did not do before?
  hermes run -t old.jsonl -- npm install ./package-1.0.0.tgz
  hermes run -t new.jsonl -- npm install ./package-1.0.1.tgz
  hermes diff old.jsonl new.jsonl

Exit status: 0 when nothing differs, 1 when something does, 125 when a trace cannot be read.`;

const PROTOTYPES_EXAMPLES = `
Examples:
  hermes prototypes 'libc!getenv' 'libssl!SSL_*'
  hermes prototypes --prototypes mine.h 'libmine!*'    is mine.h right, and what does it say?
  hermes prototypes --from ./program > mine.h          a beginning, out of debug information

Exit status: 0 when there are such functions, 1 when there are none, 125 when a file is wrong.`;

const LEARN_EXAMPLES = `
Examples:
  hermes learn -o git.yaml -- git status           learn; again with other arguments: add to it
  hermes run -p git.yaml -t t.jsonl -- git status  enforce it, and record what it refuses
  hermes learn --repair git.yaml t.jsonl           add what was refused and should not have been
  hermes learn --format oci --from t.jsonl         a seccomp profile for containers

Exit status: that of the program; with --repair 0 when nothing is left to add, 1 when something is.`;
