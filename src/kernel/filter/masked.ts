import type { DecisionGraph, FilterDecision } from "./decision.js";
import { highOffset, lowOffset } from "./seccomp-data.js";
import type { ArgumentTest } from "./spec.js";

/** `(argument & mask) == value`, half by half. */
export function decideMasked(
  graph: DecisionGraph,
  test: ArgumentTest,
  yes: FilterDecision,
  no: FilterDecision,
): FilterDecision {
  const mask = BigInt.asUintN(test.width, test.mask ?? 0n);
  const value = BigInt.asUintN(test.width, test.value as bigint);
  if ((value & ~mask) !== 0n) return no;
  const low = decideWord(graph, lowOffset(test.arg), half(mask), half(value), yes, no);
  if (test.width === 32) return low;
  return decideWord(graph, highOffset(test.arg), half(mask >> 32n), half(value >> 32n), low, no);
}

const half = (value: bigint): number => Number(BigInt.asUintN(32, value));

function decideWord(
  graph: DecisionGraph,
  offset: number,
  mask: number,
  value: number,
  yes: FilterDecision,
  no: FilterDecision,
): FilterDecision {
  if (mask === 0) return yes;
  if (value === 0) return graph.branch(offset, "set", mask, no, yes);
  const oneBit = (mask & (mask - 1)) === 0;
  if (oneBit) return graph.branch(offset, "set", mask, yes, no);
  return graph.branch(offset, "eq", value, yes, no, mask);
}
