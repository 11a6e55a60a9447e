import type { Argument, ArgumentKind } from "../../abi/index.js";
import type { Stop } from "../binding/stop.js";

const SIGNED: ReadonlySet<ArgumentKind> = new Set(["int", "offset"]);
const INTS: ReadonlySet<ArgumentKind> = new Set(["fd", "dirfd", "pid", "signal"]);
const UNSIGNED: ReadonlySet<ArgumentKind> = new Set(["uint", "size", "flags", "mode", "uid", "gid"]);

/** An argument that the register holds itself; undefined for a pointer. */
export function scalar(stop: Stop, { kind, width }: Argument, i: number): number | bigint | undefined {
  if (INTS.has(kind)) return stop.int(i);
  if (SIGNED.has(kind)) return width === 32 ? stop.int(i) : stop.long(i);
  if (UNSIGNED.has(kind)) return width === 32 ? stop.uint(i) : stop.ulong(i);
  return kind === "address" ? stop.exact(i) : undefined;
}
