import type { Command } from "commander";
import { exit } from "../views/output.js";

/** `hermes resident`: the process that answers hooks in milliseconds (docs/explanation/resident.md). */
export function addResidentCommand(program: Command): void {
  const resident = program
    .command("resident")
    .description(
      "the process that answers hooks in milliseconds: the first hook starts it, and it ends when idle",
    );
  resident
    .command("status")
    .description("show whether it runs, and what memory it takes; exits 1 if it does not")
    .option("--json", "as JSON")
    .action(async (options) => exit((await import("../commands/resident.js")).residentStatus(options)));
  resident
    .command("start")
    .description("start it, also where hooks do not (CI=1)")
    .option("--idle <seconds>", "end it after so long without a call", "600")
    .action(async (options) => exit(await (await import("../commands/resident.js")).residentStart(options)));
  resident
    .command("stop")
    .description("end it; calls that it is answering are finished first")
    .action(async () => exit(await (await import("../commands/resident.js")).residentStop()));
}
