import { Command, CommanderError } from "commander";
import { PACKAGE_VERSION } from "../../nouns/version.js";
import { commandWords } from "../run/start-state.js";
import { exit, fail, say } from "../views/output.js";
import { withHelp } from "./help.js";

/** `hermes` itself, without its commands. */
export function newProgram(): Command {
  const program = new Command("hermes")
    .description("Run programs under a policy: observe, allow, refuse and change their system calls.")
    .version(PACKAGE_VERSION, "-V, --version")
    .enablePositionalOptions()
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({ writeErr: say, outputError: (text) => say(text.replace(/^error: /, "hermes: ")) });
  return withHelp(program);
}

/** Runs the command line. */
export async function runProgram(program: Command): Promise<void> {
  try {
    await program.parseAsync(commandWords(), { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) exit(error.exitCode === 0 ? 0 : 2);
    fail(error);
  }
}
