import { flagsValue } from "../../abi/named.js";
import type { ReturnEvent } from "../../nouns/event.js";
import { emulate, modify, type Verdict } from "../../nouns/verdict.js";
import { CLOCK, type Clocks } from "./clocks.js";
import { isZero, type Moment, momentBytes, readMoment, UNIT, ZERO } from "./moment.js";

type Bytes = Uint8Array | undefined;
/** Rounds remaining times up, so that none becomes zero too early. */
const UP = Math.ceil;
const SOON: Moment = [0, 1];
const LONGEST_MS = 2 ** 31 - 1;
const ABSOLUTE = flagsValue("timer", "TIMER_ABSTIME");

/** A program's waits, in its time and in real time. Arguments are named, for the verdict. */
export class Waits {
  readonly #clocks: Clocks;

  constructor(clocks: Clocks) {
    this.#clocks = clocks;
  }

  /** A wait for a duration. */
  relative(name: string, bytes: Bytes, unit: number = UNIT.timespec): Verdict | undefined {
    const time = readMoment(bytes, 0, unit);
    if (!time || isZero(time)) return undefined;
    return modify({ args: { [name]: momentBytes([this.#clocks.shorter(time)], unit, UP) } });
  }

  milliseconds(name: string, timeout: number): Verdict | undefined {
    if (timeout <= 0) return undefined;
    return modify({ args: { [name]: Math.min(Math.ceil(timeout / this.#clocks.speed), LONGEST_MS) } });
  }

  seconds(name: string, seconds: number): Verdict {
    return modify({ args: { [name]: Math.ceil(seconds / this.#clocks.speed) } });
  }

  /** A wait until a time of the clock that the call names: uses our monotonic clock instead. */
  until(clock: { name: string; is: number }, name: string, bytes: Bytes): Verdict | undefined {
    const time = readMoment(bytes);
    if (!time || !this.#clocks.knows(clock.is)) return undefined;
    const at = this.#clocks.real(clock.is, time);
    return modify({ args: { [clock.name]: CLOCK.monotonic, [name]: momentBytes([at]) } });
  }

  /** A wait until a wall-clock time, by a call that supports no other clock. */
  untilWall(name: string, bytes: Bytes): Verdict | undefined {
    const time = readMoment(bytes);
    return time && modify({ args: { [name]: momentBytes([this.#clocks.realWall(CLOCK.wall, time)]) } });
  }

  /** A timer's interval and first expiry. */
  timer(name: string, flags: number, bytes: Bytes): Verdict | undefined {
    const clocks = this.#clocks;
    const [interval, first] = [readMoment(bytes, 0), readMoment(bytes, 1)];
    if (!interval || !first || isZero(first)) return undefined;
    const at = (flags & ABSOLUTE) === 0 ? clocks.shorter(first) : this.#absolute(first);
    return modify({
      args: { [name]: momentBytes([clocks.shorter(interval), isZero(at) ? SOON : at]) },
    });
  }

  #absolute(time: Moment): Moment {
    const clocks = this.#clocks;
    const clock = clocks.nearest(time);
    return clock === CLOCK.wall ? clocks.realWall(clock, time) : clocks.real(clock, time);
  }

  /** Interval timers: in microseconds. */
  itimer(name: string, bytes: Bytes): Verdict | undefined {
    const [interval, first] = [readMoment(bytes, 0, UNIT.timeval), readMoment(bytes, 1, UNIT.timeval)];
    if (!interval || !first) return undefined;
    const both = [interval, first].map((time) => this.#clocks.shorter(time));
    return modify({ args: { [name]: momentBytes(both, UNIT.timeval, UP) } });
  }

  /** The rest of a wait, in the program's time: one duration, or a timer's two. */
  left(
    e: ReturnEvent,
    name: string,
    bytes: Bytes,
    count: 1 | 2 = 1,
    unit: number = UNIT.timespec,
  ): Verdict | undefined {
    const times = Array.from({ length: count }, (_, i) => readMoment(bytes, i, unit) ?? ZERO);
    if (!bytes || bytes.length < count * 16) return undefined;
    const told = times.map((time) => this.#clocks.longer(time));
    return emulate(e.resultExact, { outputs: { [name]: momentBytes(told, unit, UP) } });
  }
}
