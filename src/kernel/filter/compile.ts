import { returnValue } from "./action.js";
import { assemble } from "./assemble.js";
import { DecisionGraph, type FilterDecision } from "./decision.js";
import type { Instruction } from "./instruction.js";
import { decideCall } from "./rules.js";
import { searchWord, type WordPiece } from "./search.js";
import { ARCH_OFFSET, AUDIT_ARCH_X86_64, NR_OFFSET, X32_SYSCALL_BIT } from "./seccomp-data.js";
import type { FilterSpec } from "./spec.js";
import { validateSpec } from "./validate.js";

/**
 * The number -1 is never a call: the kernel runs nothing for it (do_syscall_64 skips it and leaves rax alone;
 * a program that asks for it gets ENOSYS). The number has bit 30 set, but a tracer uses it to say "skip this
 * call", and the filter runs after the tracer's syscall-entry stop. Any action but allow would kill the
 * process that the tracer meant to spare, or overwrite the result that the tracer chose. So the filter allows
 * it, regardless of `otherwise` and `foreign`.
 */
const SKIPPED = 0xffffffff;

/**
 * Compiles a specification to a seccomp program.
 *
 * Calls allowed by their number alone read nothing but `arch` and `nr`. Kernels since 5.11 notice this at
 * load time and skip the program for them (seccomp_cache_prepare_bitmap).
 *
 * No filter sees uretprobe (since 6.14) and uprobe (since 6.18), regardless of the specification: the
 * kernel's own trampolines issue them, and all other callers get SIGILL or ENXIO (seccomp_uprobe_exception).
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
 * The treatment of every 32-bit number. All numbers from the x32 bit up are foreign, also where the bit is
 * not set (0x80000000 and more): x86_64 has no calls there. As pieces of the same search they cost no extra
 * test.
 */
function numberPieces(graph: DecisionGraph, spec: FilterSpec, foreign: FilterDecision): WordPiece[] {
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
