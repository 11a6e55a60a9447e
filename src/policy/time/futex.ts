import { flagsValue } from "../../abi/named.js";
import type { CallEvent } from "../../nouns/event.js";
import { modify, type Verdict } from "../../nouns/verdict.js";
import { CLOCK, type Clocks } from "./clocks.js";
import { isZero, momentBytes, readMoment } from "./moment.js";

const COMMAND = 0x7f;
const PRIVATE = flagsValue("futex", "FUTEX_PRIVATE_FLAG");
const BY_WALL_CLOCK = flagsValue("futex", "FUTEX_CLOCK_REALTIME");
/** futex(2)'s commands with a timeout. FUTEX_LOCK_PI always uses the wall clock. */
const OP = {
  wait: flagsValue("futex", "FUTEX_WAIT"),
  lock: flagsValue("futex", "FUTEX_LOCK_PI"),
  waitBitset: flagsValue("futex", "FUTEX_WAIT_BITSET"),
  waitRequeue: flagsValue("futex", "FUTEX_WAIT_REQUEUE_PI"),
  lock2: flagsValue("futex", "FUTEX_LOCK_PI2"),
};

const each = (ops: readonly number[], flags: number) =>
  ops.flatMap((op) => [op | flags, op | flags | PRIVATE]);

/** Those that use the wall clock. */
export const WALL_FUTEXES = [
  ...each([OP.waitBitset, OP.waitRequeue, OP.lock2], BY_WALL_CLOCK),
  ...each([OP.lock], 0),
];
export const TIMED_FUTEXES = [
  ...WALL_FUTEXES,
  ...each([OP.wait, OP.waitBitset, OP.waitRequeue, OP.lock2], 0),
  ...each([OP.wait], BY_WALL_CLOCK),
];

/** A wait until a time of the program's clocks uses our monotonic clock, which cannot be set. */
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
