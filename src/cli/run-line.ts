import { runCommand } from "./commands/run.js";
import { newProgram, runProgram } from "./options/program.js";
import { addRunCommand } from "./options/run.js";

export { runCommand } from "./commands/run.js";

/** The command line of `hermes run` alone: it loads faster than all commands, and users wait for it most often. */
export function runLine(): Promise<void> {
  const program = newProgram();
  addRunCommand(program, (words, flags) => runCommand(words, flags));
  return runProgram(program);
}
