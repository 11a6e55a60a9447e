import type { ArgumentTest } from "./spec.js";

/** Both ends are included. */
interface Interval {
  low: bigint;
  high: bigint;
}

/** Disjoint, ascending, over the unsigned numbers of some width. */
export type IntervalSet = readonly Interval[];

type Width = 32 | 64;

export const lastOf = (width: Width): bigint => (1n << BigInt(width)) - 1n;

/**
 * The register values, read as unsigned numbers, for which a test holds. Every operation except `masked` is
 * such a set. So one search over sets serves them all.
 */
export function valuesOf(test: ArgumentTest): IntervalSet {
  const { width, op, value } = test;
  if (Array.isArray(value)) return points(value, width);
  const smallest = test.signed ? -(1n << BigInt(width - 1)) : 0n;
  const largest = smallest + lastOf(width);
  switch (op) {
    case "eq":
      return points([value], width);
    case "ne":
      return complement(points([value], width), width);
    case "lt":
      return unsigned(smallest, value - 1n, width);
    case "le":
      return unsigned(smallest, value, width);
    case "gt":
      return unsigned(value + 1n, largest, width);
    case "ge":
      return unsigned(value, largest, width);
    default:
      throw new TypeError(`${op} is not a set of intervals`);
  }
}

export function intersect(left: IntervalSet, right: IntervalSet): IntervalSet {
  const both: Interval[] = [];
  for (let l = 0, r = 0; l < left.length && r < right.length; ) {
    const a = left[l]!;
    const b = right[r]!;
    const low = a.low > b.low ? a.low : b.low;
    const high = a.high < b.high ? a.high : b.high;
    if (low <= high) both.push({ low, high });
    if (a.high < b.high) l++;
    else r++;
  }
  return both;
}

export function isEverything(set: IntervalSet, width: Width): boolean {
  return set.length === 1 && set[0]!.low === 0n && set[0]!.high === lastOf(width);
}

/** Single values in two's complement, neighbours joined. */
function points(values: readonly bigint[], width: Width): IntervalSet {
  const ascending = values.map((value) => BigInt.asUintN(width, value)).sort((a, b) => (a < b ? -1 : 1));
  const joined: Interval[] = [];
  for (const value of ascending) {
    const last = joined.at(-1);
    if (last && value <= last.high + 1n) last.high = value;
    else joined.push({ low: value, high: value });
  }
  return joined;
}

function complement(set: IntervalSet, width: Width): IntervalSet {
  const gaps: Interval[] = [];
  let next = 0n;
  for (const { low, high } of set) {
    if (next < low) gaps.push({ low: next, high: low - 1n });
    next = high + 1n;
  }
  if (next <= lastOf(width)) gaps.push({ low: next, high: lastOf(width) });
  return gaps;
}

/** A range of possibly negative numbers as register values: negative numbers become large ones. */
function unsigned(from: bigint, to: bigint, width: Width): IntervalSet {
  if (from > to) return [];
  const wrap = 1n << BigInt(width);
  if (from >= 0n) return [{ low: from, high: to }];
  if (to < 0n) return [{ low: from + wrap, high: to + wrap }];
  if (from + wrap === to + 1n) return [{ low: 0n, high: lastOf(width) }];
  return [
    { low: 0n, high: to },
    { low: from + wrap, high: lastOf(width) },
  ];
}
