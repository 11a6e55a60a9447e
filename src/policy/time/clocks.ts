import { between, later, type Moment, momentOf, SECOND } from "./moment.js";

/** clock_gettime(2)'s clocks that show time, not the use of a CPU. */
export const CLOCK = {
  wall: 0,
  monotonic: 1,
  raw: 4,
  wallCoarse: 5,
  monotonicCoarse: 6,
  boot: 7,
  wallAlarm: 8,
  bootAlarm: 9,
  tai: 11,
} as const;

export const WALL_CLOCKS: readonly number[] = [CLOCK.wall, CLOCK.wallCoarse, CLOCK.wallAlarm, CLOCK.tai];
export const OTHER_CLOCKS: readonly number[] = [
  CLOCK.monotonic,
  CLOCK.raw,
  CLOCK.monotonicCoarse,
  CLOCK.boot,
  CLOCK.bootAlarm,
];

/** It was read a moment ago: rather later than sooner. */
const SLACK = 50_000;

/**
 * The clocks of a program that lives in a time of its own. All are counted from our monotonic clock, which nobody can
 * set, so that they go together and never back.
 */
export class Clocks {
  /** Seconds that pass for the program in one of ours. */
  readonly speed: number;
  /** Our monotonic clock when it all began. */
  readonly #begin: Moment = process.hrtime();
  /** What each clock showed the program at that moment. */
  readonly #shown = new Map<number, Moment>();
  #counter: bigint | undefined;

  constructor(date: number, speed: number) {
    this.speed = speed;
    this.setWall(momentOf(date));
    this.#shown.set(CLOCK.monotonic, this.#begin).set(CLOCK.monotonicCoarse, this.#begin);
  }

  get #elapsed(): number {
    return between(this.#begin, process.hrtime()) * this.speed;
  }

  /** The wall clock shows this now. */
  setWall(moment: Moment): void {
    const begin = later(moment, -this.#elapsed);
    const tai = this.#shown.get(CLOCK.tai);
    if (tai) this.#shown.set(CLOCK.tai, later(begin, between(this.#shown.get(CLOCK.wall)!, tai)));
    for (const clock of [CLOCK.wall, CLOCK.wallCoarse, CLOCK.wallAlarm]) this.#shown.set(clock, begin);
  }

  knows(clock: number): boolean {
    return this.#shown.has(clock);
  }

  now(clock: number): Moment {
    return later(this.#shown.get(clock)!, this.#elapsed);
  }

  /** Clocks that only the kernel can read are known from their first reading on; `wall` is the machine's at that time. */
  learn(clock: number, reading: Moment, wall: number): void {
    const ahead = Math.round(between(momentOf(wall), reading) / SECOND) * SECOND;
    const begin =
      clock === CLOCK.tai
        ? later(this.#shown.get(CLOCK.wall)!, ahead)
        : later(reading, -this.#elapsed / this.speed);
    this.#shown.set(clock, begin);
  }

  /** When our monotonic clock will be where the program's clock is to be. */
  real(clock: number, moment: Moment): Moment {
    return later(this.#begin, Math.ceil(between(this.#shown.get(clock)!, moment) / this.speed));
  }

  /** The same by the machine's wall clock, which shows `wall` now. */
  realWall(clock: number, moment: Moment, wall: number): Moment {
    return later(momentOf(wall), Math.ceil(between(this.now(clock), moment) / this.speed) + SLACK);
  }

  /** By which clock a timer goes is not in the call that sets it: the one whose time is nearer to what was asked for. */
  nearest(moment: Moment): number {
    const away = (clock: number) => Math.abs(between(this.now(clock), moment));
    return away(CLOCK.wall) < away(CLOCK.monotonic) ? CLOCK.wall : CLOCK.monotonic;
  }

  /** How long the program's wait really takes. */
  shorter([seconds, nanoseconds]: Moment): Moment {
    return later([0, 0], Math.ceil((seconds * SECOND + nanoseconds) / this.speed));
  }

  /** How long a real wait is for the program. */
  longer([seconds, nanoseconds]: Moment): Moment {
    return later([0, 0], Math.floor((seconds * SECOND + nanoseconds) * this.speed));
  }

  /** The time stamp counter, from its first reading on. */
  counter(reading: bigint): bigint {
    this.#counter ??= reading;
    return this.#counter + BigInt(Math.floor(Number(reading - this.#counter) * this.speed));
  }

  /** Something that the machine counts since it was started, so many in a second. */
  count(reading: number, perSecond: number): number {
    const passed = (this.#elapsed / SECOND) * perSecond;
    return Math.floor(reading - passed / this.speed + passed);
  }
}
