import { newProgram, runProgram } from "./program.js";
import { runCommand } from "./run.js";
import { addRunCommand } from "./running.js";

export { runCommand } from "./run.js";

/** The command line of `hermes run`, without what the other commands take: it is waited for more often than they are. */
export function runLine(): Promise<void> {
  const program = newProgram();
  addRunCommand(program, (words, flags) => runCommand(words, flags));
  return runProgram(program);
}
