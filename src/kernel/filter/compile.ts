import { returnValue } from "./action.js";
import { assemble } from "./assemble.js";
import { type Decision, DecisionGraph } from "./decision.js";
import type { Instruction } from "./instruction.js";
import { decideCall } from "./rules.js";
import { searchWord, type WordPiece } from "./search.js";
import { ARCH_OFFSET, AUDIT_ARCH_X86_64, NR_OFFSET, X32_SYSCALL_BIT } from "./seccomp-data.js";
import type { FilterSpec } from "./spec.js";
import { validateSpec } from "./validate.js";

/**
 * The number -1 is never a call: the kernel runs nothing for it (do_syscall_64 passes it by and leaves rax alone;
 * a program that asks for it gets ENOSYS). It does have bit 30, but it is how a tracer says "skip this call", and
 * the filter runs after the tracer's syscall-entry stop. Any answer but allow would kill the process that the
 * tracer meant to spare, or overwrite the result it chose: so allow it is, whatever `otherwise` and `foreign` say.
 */
const SKIPPED = 0xffffffff;

/**
 * Compiles a specification to a seccomp program.
 *
 * Calls allowed by their number alone read nothing but `arch` and `nr`, so kernels since 5.11 notice at load time
 * that they are always allowed and do not run the program for them (seccomp_cache_prepare_bitmap).
 *
 * No filter sees uretprobe (335, since 6.14) and uprobe (336, since 6.18), whatever the specification says of them:
 * the kernel's own trampolines issue them, and anyone else gets SIGILL or ENXIO (seccomp_uprobe_exception).
 *
 * @throws InvalidFilterSpec, FilterTooLarge
 */
export function compileFilter(spec: FilterSpec): Instruction[] {
  validateSpec(spec);
  const graph = new DecisionGraph();
  const foreign = graph.return(returnValue(spec.foreign));
  const native = searchWord(graph, NR_OFFSET, numberPieces(graph, spec, foreign));
  return assemble(graph.branch(ARCH_OFFSET, "eq", AUDIT_ARCH_X86_64, native, foreign));
}

/**
 * The treatment of every 32-bit number. Everything from the x32 bit up is foreign, also where the bit is not set
 * (0x80000000 and more): no x86_64 call is there. As pieces of the same search they cost no test of their own.
 */
function numberPieces(graph: DecisionGraph, spec: FilterSpec, foreign: Decision): WordPiece[] {
  const otherwise = graph.return(returnValue(spec.otherwise));
  const pieces: WordPiece[] = [];
  let next = 0;
  for (const [nr, call] of [...spec.calls].sort(([a], [b]) => a - b)) {
    if (nr > next) pieces.push({ from: next, decision: otherwise });
    pieces.push({ from: nr, decision: decideCall(graph, call) });
    next = nr + 1;
  }
  if (next < X32_SYSCALL_BIT) pieces.push({ from: next, decision: otherwise });
  pieces.push({ from: X32_SYSCALL_BIT, decision: foreign });
  pieces.push({ from: SKIPPED, decision: graph.return(returnValue({ do: "allow" })) });
  return pieces;
}
