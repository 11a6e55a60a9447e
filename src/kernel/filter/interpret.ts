import { checkProgram } from "./check.js";
import { type Instruction, OP } from "./instruction.js";
import { type SeccompData, wordAt } from "./seccomp-data.js";

/** What running a filter on one call came to. */
export interface Outcome {
  /** The 32-bit SECCOMP_RET_* value. */
  value: number;
  /** Instructions executed, the return included. */
  executed: number;
}

/** The 32-bit value that the kernel would get from the program for this call. */
export function interpretFilter(program: readonly Instruction[], data: SeccompData): number {
  return loadFilter(program)(data).value;
}

/** How many instructions the program executes for this call, the return included. */
export function executedInstructions(program: readonly Instruction[], data: SeccompData): number {
  return loadFilter(program)(data).executed;
}

/**
 * Checks a program once, as the kernel does when it is installed, and gives the function that runs it.
 *
 * @throws InvalidProgram
 */
export function loadFilter(program: readonly Instruction[]): (data: SeccompData) => Outcome {
  checkProgram(program);
  return (data) => run(program, data);
}

function run(program: readonly Instruction[], data: SeccompData): Outcome {
  let accumulator = 0;
  let executed = 0;
  // The check made every jump go forward and inside, so this ends at a return.
  for (let at = 0; ; at++) {
    const { code, jt, jf, k } = program[at]!;
    executed++;
    switch (code) {
      case OP.LOAD_WORD:
        accumulator = wordAt(data, k);
        break;
      case OP.AND:
        accumulator = (accumulator & k) >>> 0;
        break;
      case OP.JUMP:
        at += k;
        break;
      case OP.JEQ:
        at += accumulator === k ? jt : jf;
        break;
      case OP.JGT:
        at += accumulator > k ? jt : jf;
        break;
      case OP.JGE:
        at += accumulator >= k ? jt : jf;
        break;
      case OP.JSET:
        at += (accumulator & k) !== 0 ? jt : jf;
        break;
      default:
        return { value: k, executed };
    }
  }
}
