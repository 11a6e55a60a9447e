import { describeReturn } from "./action.js";
import { checkProgram } from "./check.js";
import { BPF_OP, type Instruction } from "./instruction.js";
import { ARCH_OFFSET, AUDIT_ARCH_X86_64, NR_OFFSET, wordName } from "./seccomp-data.js";

/** Syscall names, where the reader has a table of them. */
type NameOfCall = (nr: number) => string | undefined;

const COMPARISON = new Map<number, string>([
  [BPF_OP.JEQ, "=="],
  [BPF_OP.JGT, ">"],
  [BPF_OP.JGE, ">="],
  [BPF_OP.JSET, "&"],
]);

/** The program as text, one line per instruction: `  3  if nr >= 59 (execve) goto 8 else 4`. */
export function disassemble(
  program: readonly Instruction[],
  nameOfCall: NameOfCall = () => undefined,
): string {
  checkProgram(program);
  const contents = accumulatorContents(program);
  const margin = String(program.length - 1).length;
  return program
    .map((instruction, at) => {
      const text = describe(instruction, at, contents[at], nameOfCall);
      return `${String(at).padStart(margin)}  ${text}\n`;
    })
    .join("");
}

/** The accumulator's content: which word it holds, and which bits a mask kept. */
interface Contents {
  offset: number;
  mask?: number;
}

function describe(
  { code, jt, jf, k }: Instruction,
  at: number,
  contents: Contents | undefined,
  nameOfCall: NameOfCall,
): string {
  switch (code) {
    case BPF_OP.LOAD_WORD:
      return `load ${wordName(k)}`;
    case BPF_OP.AND:
      return `and ${hex(k)}`;
    case BPF_OP.JUMP:
      return `goto ${at + 1 + k}`;
    case BPF_OP.RETURN:
      return `return ${describeReturn(k)}`;
    default: {
      const test = `${subject(contents)} ${COMPARISON.get(code)} ${constant(k, contents, nameOfCall)}`;
      return `if ${test} goto ${at + 1 + jt} else ${at + 1 + jf}`;
    }
  }
}

function subject(contents: Contents | undefined): string {
  if (!contents) return "accumulator";
  const name = wordName(contents.offset);
  return contents.mask === undefined ? name : `(${name} & ${hex(contents.mask)})`;
}

function constant(k: number, contents: Contents | undefined, nameOfCall: NameOfCall): string {
  if (contents?.offset === ARCH_OFFSET && k === AUDIT_ARCH_X86_64) return "x86_64";
  if (contents?.offset !== NR_OFFSET) return hex(k);
  const name = nameOfCall(k);
  if (name !== undefined) return `${k} (${name})`;
  return k < 0x10000 ? String(k) : hex(k);
}

const hex = (value: number): string => `0x${value.toString(16)}`;

/** The word that each instruction finds in the accumulator, where all paths to it agree. */
function accumulatorContents(program: readonly Instruction[]): (Contents | undefined)[] {
  const found: (Contents | undefined)[] = new Array(program.length).fill(undefined);
  const reached = new Set<number>();
  const flow = (to: number, contents: Contents | undefined): void => {
    const agree = !reached.has(to) || isSame(found[to], contents);
    found[to] = agree ? contents : undefined;
    reached.add(to);
  };
  program.forEach(({ code, jt, jf, k }, at) => {
    if (code === BPF_OP.RETURN) return;
    if (code === BPF_OP.LOAD_WORD) flow(at + 1, { offset: k });
    else if (code === BPF_OP.AND) flow(at + 1, masked(found[at], k));
    else if (code === BPF_OP.JUMP) flow(at + 1 + k, found[at]);
    else for (const offset of [jt, jf]) flow(at + 1 + offset, found[at]);
  });
  return found;
}

function masked(contents: Contents | undefined, k: number): Contents | undefined {
  if (!contents) return undefined;
  return { offset: contents.offset, mask: ((contents.mask ?? 0xffffffff) & k) >>> 0 };
}

function isSame(a: Contents | undefined, b: Contents | undefined): boolean {
  return a?.offset === b?.offset && a?.mask === b?.mask;
}
