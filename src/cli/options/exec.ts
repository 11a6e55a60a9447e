import type { Command } from "commander";
import type { ExecFlags } from "../commands/exec.js";
import { exit } from "../views/output.js";

/** `hermes exec`: its code is loaded when it is used, unless it is bundled with this. */
export function addExecCommand(
  program: Command,
  act: (command: string, flags: ExecFlags) => Promise<number>,
): void {
  program
    .command("exec")
    .description("run one command like an agent's tool: judged by the guard, approved, restricted, recorded")
    .argument("<command>", "the bash command, as one argument")
    .option(
      "-w, --workspace <folder>",
      "the folder that the command may change and starts in (default: HERMES_WORKSPACE, else the current folder, unless that is a home or larger)",
    )
    .option("-C, --cwd <folder>", "the folder inside the workspace where it starts")
    .option("--here", "start in the current folder, which must be inside the workspace")
    .option("--timeout <seconds>", "then everything that it started is ended (default: 30)")
    .option("--profile <profile>", "standard, or strict: what is not listed as safe is asked about")
    .option(
      "--ask <where>",
      "terminal, queue or no: who answers (default: the terminal where there is one, else the queue); no refuses what needs an answer",
    )
    .option(
      "--store <url>",
      "sqlite:FILE or postgres://HOST/DATABASE (default: HERMES_STORE, or the user's local store)",
    )
    .option(
      "--asked <id>",
      "the question that an agent's hook asked its user about this command (docs/how-to/hooks.md)",
    )
    .option(
      "--pty",
      "run it in its own terminal (default: where stdin and stdout are one, and no question is asked there)",
    )
    .option(
      "--stdin",
      "read all of our stdin first, and judge it with the command (default: the command reads it itself)",
    )
    .option("--json", "the result as one line of JSON, with the beginning and the end of its output")
    .addHelpText(
      "after",
      `
Examples:
  hermes exec 'npm test'
  hermes exec --json 'git status --short'
  hermes exec --workspace ~/project --timeout 90 'make check'
  echo '{"a": 1}' | hermes exec 'jq .a'

Exit status: the command's own (128+n for a signal), 124 after a timeout, 126 when it was refused or not
approved, 125 when HERMES itself failed.`,
    )
    .action(async (command: string, flags: ExecFlags) => exit(await act(command, flags)));
}
