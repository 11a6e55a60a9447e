import { checkProgram } from "./check.js";
import { BPF_OP, type Instruction } from "./instruction.js";
import { type SeccompData, seccompWord } from "./seccomp-data.js";

/** The result of running a filter on one call. */
interface FilterResult {
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
 * Checks a program once, as the kernel does at installation, and returns a function that runs it.
 *
 * @throws InvalidProgram
 */
export function loadFilter(program: readonly Instruction[]): (data: SeccompData) => FilterResult {
  checkProgram(program);
  return (data) => run(program, data);
}

function run(program: readonly Instruction[], data: SeccompData): FilterResult {
  let accumulator = 0;
  let executed = 0;
  // The check ensured that every jump goes forward and stays inside, so this ends at a return.
  for (let at = 0; ; at++) {
    const { code, jt, jf, k } = program[at]!;
    executed++;
    switch (code) {
      case BPF_OP.LOAD_WORD:
        accumulator = seccompWord(data, k);
        break;
      case BPF_OP.AND:
        accumulator = (accumulator & k) >>> 0;
        break;
      case BPF_OP.JUMP:
        at += k;
        break;
      case BPF_OP.JEQ:
        at += accumulator === k ? jt : jf;
        break;
      case BPF_OP.JGT:
        at += accumulator > k ? jt : jf;
        break;
      case BPF_OP.JGE:
        at += accumulator >= k ? jt : jf;
        break;
      case BPF_OP.JSET:
        at += (accumulator & k) !== 0 ? jt : jf;
        break;
      default:
        return { value: k, executed };
    }
  }
}
