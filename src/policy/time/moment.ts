/** A time on a clock, or a duration, in the kernel's form: seconds and nanoseconds. */
export type Moment = readonly [seconds: number, nanoseconds: number];

export const SECOND = 1e9;
export const ZERO: Moment = [0, 0];
/** Approximately the end of the kernel's own time. */
const NEVER = 9e9;
const SIZE = 16;

/** Nanoseconds between two: exact for a hundred days, approximate beyond. */
export function between(from: Moment, to: Moment): number {
  return (to[0] - from[0]) * SECOND + (to[1] - from[1]);
}

/** The moment that many nanoseconds later, within the kernel's range. */
export function later([seconds, nanoseconds]: Moment, by: number): Moment {
  const whole = Math.floor((nanoseconds + by) / SECOND);
  const at = seconds + whole;
  if (at < 0) return ZERO;
  return at > NEVER ? [NEVER, 0] : [at, Math.floor(nanoseconds + by - whole * SECOND)];
}

export function isZero([seconds, nanoseconds]: Moment): boolean {
  return seconds === 0 && nanoseconds === 0;
}

export function momentOf(seconds: number): Moment {
  return later([Math.floor(seconds), 0], (seconds - Math.floor(seconds)) * SECOND);
}

/** The units of a struct: `timespec` has nanoseconds, `timeval` microseconds. */
export const UNIT = { timespec: 1, timeval: 1000 } as const;

/** The n-th moment in a struct; undefined when it was not read or the kernel would refuse it. */
export function readMoment(
  bytes: Uint8Array | undefined,
  n = 0,
  unit: number = UNIT.timespec,
): Moment | undefined {
  const at = n * SIZE;
  if (!bytes || bytes.length < at + SIZE) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const seconds = Number(view.getBigInt64(at, true));
  const part = Number(view.getBigInt64(at + 8, true)) * unit;
  return seconds < 0 || part < 0 || part >= SECOND ? undefined : [seconds, part];
}

/** `round` handles fractions of a microsecond: waits round up, clocks round down. */
export function momentBytes(
  moments: readonly Moment[],
  unit: number = UNIT.timespec,
  round: (part: number) => number = Math.floor,
): Buffer {
  const bytes = Buffer.alloc(moments.length * SIZE);
  for (const [i, [seconds, part]] of moments.entries()) {
    const parts = round(part / unit);
    const over = parts * unit >= SECOND; // rounded up to the next second
    bytes.writeBigInt64LE(BigInt(seconds + (over ? 1 : 0)), i * SIZE);
    bytes.writeBigInt64LE(BigInt(over ? 0 : parts), i * SIZE + 8);
  }
  return bytes;
}
