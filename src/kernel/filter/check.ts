import { InvalidProgram } from "./errors.js";
import { BPF_OP, type Instruction, MAX_BRANCH, MAX_INSTRUCTIONS } from "./instruction.js";
import { SECCOMP_DATA_SIZE } from "./seccomp-data.js";

const MAX_WORD = 0xffffffff;

/**
 * The checks of bpf_check_classic() (net/core/filter.c) and seccomp_check_filter() (kernel/seccomp.c), for
 * the instructions in OP. The kernel accepts more instructions; this compiler never emits them.
 */
export function checkProgram(program: readonly Instruction[]): void {
  if (program.length === 0) throw new InvalidProgram(0, "the program is empty");
  if (program.length > MAX_INSTRUCTIONS) {
    throw new InvalidProgram(MAX_INSTRUCTIONS, `more than ${MAX_INSTRUCTIONS} instructions`);
  }
  program.forEach((instruction, at) => {
    const problem = problemOf(instruction, program.length - at - 1);
    if (problem) throw new InvalidProgram(at, problem);
  });
  if (program.at(-1)?.code !== BPF_OP.RETURN) {
    throw new InvalidProgram(program.length - 1, "the last instruction must return");
  }
}

/** `following`: how many instructions come after this one. */
function problemOf({ code, jt, jf, k }: Instruction, following: number): string | undefined {
  if (!isUpTo(k, MAX_WORD)) return `k ${k} is not a 32-bit word`;
  if (!isUpTo(jt, MAX_BRANCH) || !isUpTo(jf, MAX_BRANCH)) return `branch ${jt}/${jf} does not fit in 8 bits`;
  switch (code) {
    case BPF_OP.LOAD_WORD:
      return k % 4 !== 0 || k >= SECCOMP_DATA_SIZE ? `no word of seccomp_data at offset ${k}` : undefined;
    case BPF_OP.AND:
    case BPF_OP.RETURN:
      return undefined;
    case BPF_OP.JUMP:
      return k >= following ? "jump past the end" : undefined;
    case BPF_OP.JEQ:
    case BPF_OP.JGT:
    case BPF_OP.JGE:
    case BPF_OP.JSET:
      return Math.max(jt, jf) >= following ? "branch past the end" : undefined;
    default:
      return `unknown instruction 0x${code.toString(16)}`;
  }
}

function isUpTo(value: number, max: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= max;
}
