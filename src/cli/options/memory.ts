import type { Command } from "commander";
import { exit } from "../views/output.js";

const STORE = [
  "--store <store>",
  "the store with the sessions (default: $HERMES_STORE or the user's)",
] as const;

/** The memory commands. Their code is loaded on use. */
export function addMemoryCommands(program: Command): void {
  const memory = program
    .command("memory")
    .description("what agents remember, where it comes from, and how to forget it");
  memory
    .command("list")
    .description("every entry with its source, its warnings and the agent that wrote it")
    .option(...STORE)
    .option("--json", "as JSON")
    .addHelpText("after", EXAMPLES)
    .action(async (options) =>
      exit(await (await import("../commands/memory.js")).memoryListCommand(options)),
    );
  memory
    .command("show")
    .description("one entry in full, with the session and the workspace that it comes from")
    .argument("<id>", "its id, or the beginning of it")
    .option(...STORE)
    .option("--json", "as JSON")
    .action(async (id, options) =>
      exit(await (await import("../commands/memory.js")).memoryShowCommand(id, options)),
    );
  memory
    .command("remove")
    .description("forget one entry; the audit records it")
    .argument("<id>", "its id, or the beginning of it")
    .option(...STORE)
    .action(async (id, options) =>
      exit(await (await import("../commands/memory.js")).memoryRemoveCommand(id, options)),
    );
}

const EXAMPLES = `
Examples:
  hermes memory list
  hermes memory show 1a2b
  hermes memory remove 1a2b`;
