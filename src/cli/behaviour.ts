import type { Command } from "commander";
import { exit } from "./output.js";

/** The commands that say what programs do: each is a file here, loaded when it is used. */
export function addBehaviourCommands(program: Command): void {
  program
    .command("analyze")
    .description(
      "what a trace tells: processes, files, peers, secrets, refusals, and what is worth a second look",
    )
    .argument("<trace>", "a trace of any form; - is stdin")
    .option("--json", "as JSON (docs/analyze.md)")
    .option("--all", "lists to their end")
    .action(async (file, options) =>
      exit(await (await import("./analyze.js")).analyzeCommand(file, options)),
    );
}
