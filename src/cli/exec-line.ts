import type { Thread } from "../session/thread.js";
import { execCommand } from "./commands/exec.js";
import { addExecCommand } from "./options/exec.js";
import { newProgram, runProgram } from "./options/program.js";

export { execCommand } from "./commands/exec.js";

/** The command line of `hermes exec` alone: agents wait for it before every command. */
export function execLine(thread: Thread): Promise<void> {
  const program = newProgram();
  addExecCommand(program, (command, flags) => execCommand(command, flags, thread));
  return runProgram(program);
}
