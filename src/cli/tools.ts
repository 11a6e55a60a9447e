import type { Command } from "commander";
import { exit } from "./output.js";

/** The commands by which an agent's tools are used from a shell: loaded when one is used. */
export function addToolCommands(program: Command): void {
  program
    .command("exec")
    .description("run one command as an agent's tool does: judged, asked about, held by the kernel, recorded")
    .argument("<command>", "what bash is to run, as one word")
    .option("-w, --workspace <folder>", "what the command may change, and where it starts", ".")
    .option("-C, --cwd <folder>", "where it starts, inside the workspace")
    .option("--here", "it starts in this folder, which lies in the workspace")
    .option("--timeout <seconds>", "then everything that it started is ended (default: 30)")
    .option("--profile <profile>", "standard, or strict: whatever is not listed as safe is asked about")
    .option("--ask <where>", "who answers: terminal, or queue (hermes approvals)", "terminal")
    .option(
      "--store <url>",
      "sqlite:FILE or postgres://HOST/DATABASE (default: HERMES_STORE, or hermes's own)",
    )
    .option("--asked <id>", "an agent's hook has asked its user about this command (docs/hooks.md)")
    .option("--pty", "give it a terminal of its own")
    .option("--stdin", "it reads what comes on our stdin")
    .option("--json", "the result as one line of JSON, with the beginning and the end of its output")
    .addHelpText(
      "after",
      `
Examples:
  hermes exec 'npm test'
  hermes exec --json 'git status --short'
  hermes exec --workspace ~/project --timeout 90 'make check'
  echo '{"a": 1}' | hermes exec --stdin 'jq .a'

Exit status: the command's own (128+n for a signal), 124 when its time was over, 126 when it was refused or nobody
approved it, 125 when hermes itself failed.`,
    )
    .action(async (command: string, options) =>
      exit(await (await import("./exec.js")).execCommand(command, options)),
    );
}
