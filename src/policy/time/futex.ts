import type { CallEvent } from "../../event.js";
import { modify, type Verdict } from "../../verdict.js";
import { CLOCK, type Clocks } from "./clocks.js";
import { isZero, momentBytes, readMoment } from "./moment.js";

const COMMAND = 0x7f;
const PRIVATE = 128;
const BY_WALL_CLOCK = 256;
/** futex(2)'s commands that take a time. FUTEX_LOCK_PI goes by the wall clock without saying so. */
const OP = { wait: 0, lock: 6, waitBitset: 9, waitRequeue: 11, lock2: 13 } as const;

const each = (ops: readonly number[], flags: number) =>
  ops.flatMap((op) => [op | flags, op | flags | PRIVATE]);

/** Those whose time is one of the wall clock. */
export const WALL_FUTEXES = [
  ...each([OP.waitBitset, OP.waitRequeue, OP.lock2], BY_WALL_CLOCK),
  ...each([OP.lock], 0),
];
export const TIMED_FUTEXES = [
  ...WALL_FUTEXES,
  ...each([OP.wait, OP.waitBitset, OP.waitRequeue, OP.lock2], 0),
  ...each([OP.wait], BY_WALL_CLOCK),
];

/** A wait for a time of the program's clocks waits by our monotonic clock: nobody sets that. */
export function timedFutex(clocks: Clocks, e: CallEvent<"futex">): Verdict | undefined {
  const { op, utime } = e.args;
  const time = readMoment(e.memory(utime, 16));
  if (!time) return undefined;
  const command = op & COMMAND;
  if (command === OP.wait)
    return isZero(time) ? undefined : modify({ args: { utime: momentBytes([clocks.shorter(time)]) } });
  const byWall = command === OP.lock || (op & BY_WALL_CLOCK) !== 0;
  const as = command === OP.lock ? op - OP.lock + OP.lock2 : op & ~BY_WALL_CLOCK;
  const at = clocks.real(byWall ? CLOCK.wall : CLOCK.monotonic, time);
  return modify({ args: { op: as, utime: momentBytes([at]) } });
}
