import { Command, CommanderError } from "commander";
import { PACKAGE_VERSION } from "../version.js";
import { exit, fail, say } from "./output.js";
import { commandWords } from "./start-state.js";

/** `hermes` itself, without its commands. */
export function newProgram(): Command {
  return new Command("hermes")
    .description("Run programs under a policy: see, decide and change what they do at the kernel boundary.")
    .version(PACKAGE_VERSION, "-V, --version")
    .enablePositionalOptions()
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({ writeErr: say, outputError: (text) => say(text.replace(/^error: /, "hermes: ")) });
}

/** Does what the command line says. */
export async function runProgram(program: Command): Promise<void> {
  try {
    await program.parseAsync(commandWords(), { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) exit(error.exitCode === 0 ? 0 : 2);
    fail(error);
  }
}
