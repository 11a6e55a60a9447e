import type { Command, Help, Option } from "commander";
import { exit } from "../views/output.js";

/** The commands, by what people come for: those that matter first with a line each, and the names of the others. */
const GROUPS: readonly {
  readonly name: string;
  readonly first: Readonly<Record<string, string>>;
  readonly others: readonly string[];
}[] = [
  {
    name: "Run",
    first: {
      run: "run a program under policies",
      exec: "run one command as an agent's tool would: judged, held, recorded",
    },
    others: ["shell", "attach"],
  },
  {
    name: "Observe",
    first: {
      trace: "show a program's system calls as they happen, like strace",
      analyze: "what a recorded run did: findings, files, peers, secrets, refusals",
      log: "what agents and runs did and were refused",
    },
    others: ["top", "query", "diff", "export", "inspect", "coverage", "prototypes"],
  },
  {
    name: "Policies",
    first: {
      policy: "list, show, check, test and explain policies",
      learn: "run a program and write a policy that allows what it did",
      allow: "allow a file, a command or an address that a rule refuses",
    },
    others: ["simulate"],
  },
  {
    name: "AI agents",
    first: {
      install: "put Claude Code, Codex or Gemini CLI under HERMES",
      approvals: "questions that wait for an answer, and the answers",
      console: "a web page to watch agents and answer them",
    },
    others: ["agents", "guard", "mcp", "mcp-gateway", "skill", "memory", "tirith", "audit", "hook"],
  },
  { name: "Fleet", first: {}, others: ["fleet", "serve"] },
  {
    name: "Machine",
    first: { doctor: "what this machine can protect, and how" },
    others: ["resident", "uninstall", "completion", "man"],
  },
];

const WIDTH = 12;

/** `hermes --help`: twelve commands in groups, and where the others are. */
function rootHelp(program: Command): string {
  const known = new Set(program.commands.map((command) => command.name()));
  const lines = GROUPS.flatMap(({ name, first, others }) => [
    "",
    name,
    ...Object.entries(first).map(([command, text]) => `  ${command.padEnd(WIDTH)}${text}`),
    ...(others.some((one) => known.has(one))
      ? [
          `  ${Object.keys(first).length > 0 ? "also: " : ""}${others.filter((one) => known.has(one)).join(", ")}`,
        ]
      : []),
  ]);
  return [
    "Usage: hermes COMMAND [options]",
    "",
    program.description(),
    ...lines,
    "",
    "hermes COMMAND --help says more, man hermes everything. -V, --version: the version.",
    "",
    "Examples:",
    "  hermes run -p untrusted -- ./program         a strict default for unknown programs",
    "  hermes run -t t.jsonl -- make && hermes analyze t.jsonl",
    "  hermes install claude-code                   its commands are judged and held from now on",
    "",
  ].join("\n");
}

/** Options that `--help` shows of a command with very many; `--help-all` shows all. */
const SHOWN_FIRST: Readonly<Record<string, ReadonlySet<string>>> = {
  run: new Set(
    "--policy --trace --fence --writable --network --timeout --cwd --workspace --env --ask --log --quiet --json".split(
      " ",
    ),
  ),
};

/** Groups on the first page, and a short list of options for commands with very many. */
export function withHelp(program: Command): Command {
  program.configureHelp({
    visibleOptions(this: Help, command: Command): Option[] {
      const options = (Object.getPrototypeOf(this) as Help).visibleOptions.call(this, command);
      const shown = SHOWN_FIRST[command.name()];
      if (!shown || command.parent?.parent || wantsAll(command)) return options;
      return options.filter(
        ({ long = "" }) => shown.has(long!) || long === "--help" || long === "--help-all",
      );
    },
  });
  program.helpInformation = () => rootHelp(program);
  return program;
}

const ALL = "--help-all";

/** For a command with very many options. */
export function addHelpAll(command: Command): Command {
  return command.option(ALL, "show all options").on("option:help-all", () => {
    command.outputHelp();
    exit(0);
  });
}

function wantsAll(command: Command): boolean {
  return command.getOptionValue("helpAll") === true;
}
