import { flagsValue } from "../../abi/named.js";
import { FROZEN } from "./date.js";
import { between, later, type Moment, momentOf, SECOND } from "./moment.js";

/** clock_gettime(2)'s clocks that show time, not CPU usage. */
export const CLOCK = {
  wall: flagsValue("clock", "CLOCK_REALTIME"),
  monotonic: flagsValue("clock", "CLOCK_MONOTONIC"),
  raw: flagsValue("clock", "CLOCK_MONOTONIC_RAW"),
  wallCoarse: flagsValue("clock", "CLOCK_REALTIME_COARSE"),
  monotonicCoarse: flagsValue("clock", "CLOCK_MONOTONIC_COARSE"),
  boot: flagsValue("clock", "CLOCK_BOOTTIME"),
  wallAlarm: flagsValue("clock", "CLOCK_REALTIME_ALARM"),
  bootAlarm: flagsValue("clock", "CLOCK_BOOTTIME_ALARM"),
  tai: flagsValue("clock", "CLOCK_TAI"),
};

export const WALL_CLOCKS: readonly number[] = [CLOCK.wall, CLOCK.wallCoarse, CLOCK.wallAlarm, CLOCK.tai];
export const OTHER_CLOCKS: readonly number[] = [
  CLOCK.monotonic,
  CLOCK.raw,
  CLOCK.monotonicCoarse,
  CLOCK.boot,
  CLOCK.bootAlarm,
];

/** Nanoseconds that a number of milliseconds since 1970 cannot tell apart. */
const SLACK = 1_000;

/**
 * The clocks of a program with virtual time. All derive from our monotonic clock, which cannot be set. So
 * they advance together and never go back.
 */
export class Clocks {
  /** Seconds that pass for the program in one real second. */
  readonly speed: number;
  /** Our monotonic clock at the start. */
  readonly #begin: Moment = process.hrtime();
  /** What each clock showed at that moment. */
  readonly #shown = new Map<number, Moment>();
  readonly #isFrozen: boolean;
  #counter: bigint | undefined;

  /** `speed` 0: the wall clock stands still, and the others go on as they are. */
  constructor(date: number, speed: number) {
    this.#isFrozen = speed === FROZEN;
    this.speed = this.#isFrozen ? 1 : speed;
    this.setWall(momentOf(date));
    this.#shown.set(CLOCK.monotonic, this.#begin).set(CLOCK.monotonicCoarse, this.#begin);
  }

  get #elapsed(): number {
    return between(this.#begin, process.hrtime()) * this.speed;
  }

  /** Sets the wall clock. */
  setWall(moment: Moment): void {
    const begin = later(moment, -this.#passed(CLOCK.wall));
    const tai = this.#shown.get(CLOCK.tai);
    if (tai) this.#shown.set(CLOCK.tai, later(begin, between(this.#shown.get(CLOCK.wall)!, tai)));
    for (const clock of [CLOCK.wall, CLOCK.wallCoarse, CLOCK.wallAlarm]) this.#shown.set(clock, begin);
  }

  knows(clock: number): boolean {
    return this.#shown.has(clock);
  }

  now(clock: number): Moment {
    return later(this.#shown.get(clock)!, this.#passed(clock));
  }

  /** What a clock has advanced since the start. */
  #passed(clock: number): number {
    return this.#isFrozen && WALL_CLOCKS.includes(clock) ? 0 : this.#elapsed;
  }

  /**
   * Clocks that only the kernel can read are known from their first reading on; `wall` is the machine's wall
   * clock at that time.
   */
  learn(clock: number, reading: Moment, wall: number): void {
    const ahead = Math.round(between(momentOf(wall), reading) / SECOND) * SECOND;
    const begin =
      clock === CLOCK.tai
        ? later(this.#shown.get(CLOCK.wall)!, ahead)
        : later(reading, -this.#elapsed / this.speed);
    this.#shown.set(clock, begin);
  }

  /** The time on our monotonic clock at which the program's clock shows `moment`. */
  real(clock: number, moment: Moment): Moment {
    if (this.#isFrozen && WALL_CLOCKS.includes(clock))
      return later(process.hrtime() as [number, number], between(this.now(clock), moment));
    return later(this.#begin, Math.ceil(between(this.#shown.get(clock)!, moment) / this.speed));
  }

  /** The same on the machine's wall clock. That is read last, so that the wait may end late, but never early. */
  realWall(clock: number, moment: Moment): Moment {
    const left = Math.ceil(between(this.now(clock), moment) / this.speed);
    return later(machineWall(), left + SLACK);
  }

  /**
   * The call that sets a timer does not name its clock: choose the clock whose time is nearest to the
   * requested one.
   */
  nearest(moment: Moment): number {
    const away = (clock: number) => Math.abs(between(this.now(clock), moment));
    return away(CLOCK.wall) < away(CLOCK.monotonic) ? CLOCK.wall : CLOCK.monotonic;
  }

  /** The real duration of a program's wait. */
  shorter([seconds, nanoseconds]: Moment): Moment {
    return later([0, 0], Math.ceil((seconds * SECOND + nanoseconds) / this.speed));
  }

  /** The duration of a real wait in the program's time. */
  longer([seconds, nanoseconds]: Moment): Moment {
    return later([0, 0], Math.floor((seconds * SECOND + nanoseconds) * this.speed));
  }

  /** The time stamp counter, from its first reading on. */
  counter(reading: bigint): bigint {
    this.#counter ??= reading;
    return this.#counter + BigInt(Math.floor(Number(reading - this.#counter) * this.speed));
  }

  /** A count since the machine's start, with `perSecond` ticks a second. */
  count(reading: number, perSecond: number): number {
    const passed = (this.#elapsed / SECOND) * perSecond;
    return Math.floor(reading - passed / this.speed + passed);
  }
}

/** Date.now() is whole milliseconds. Node's finer clock goes wrong when the machine's is set: then it is rounded up. */
function machineWall(): Moment {
  const fine = performance.timeOrigin + performance.now();
  const whole = Date.now();
  return momentOf((fine >= whole && fine < whole + 1 ? fine : whole + 1) / 1000);
}
