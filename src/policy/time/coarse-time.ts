import type { InstructionEvent } from "../../nouns/event.js";
import { emulate } from "../../nouns/verdict.js";
import type { PolicySpec } from "../define.js";
import { type Moment, momentBytes, readMoment, SECOND, UNIT } from "./moment.js";

export interface CoarseTime {
  readonly name?: string;
  /** Every clock stands still for this long, then jumps. */
  readonly milliseconds?: string | number | undefined;
}

/** Clocks too coarse for timing attacks on caches, branches or keystrokes. */
export function coarseTime({ name = "coarse-time", milliseconds = 1 }: CoarseTime = {}): PolicySpec {
  const step = Number(milliseconds) * 1e6;
  if (!(step >= 1000 && step <= SECOND))
    throw new RangeError(`"${milliseconds}" is not a step: write milliseconds, from 0.001 to 1000`);
  const floor = ([seconds, part]: Moment): Moment => [seconds, Math.floor(part / step) * step];
  let shown: { readonly leap: number; readonly value: bigint } | undefined;
  const counter = (e: InstructionEvent) => {
    const leap = Math.floor((performance.now() * 1e6) / step);
    if (shown?.leap !== leap) shown = { leap, value: e.value! };
    return emulate(shown.value);
  };
  return {
    name,
    on: { "instruction:rdtsc": counter, "instruction:rdtscp": counter },
    returns: {
      clock_gettime(e) {
        const time = e.result === 0 ? readMoment(e.args.tp) : undefined;
        return time && emulate(0, { outputs: { tp: momentBytes([floor(time)]) } });
      },
      gettimeofday(e) {
        const time = e.result === 0 ? readMoment(e.args.tv, 0, UNIT.timeval) : undefined;
        return time && emulate(0, { outputs: { tv: momentBytes([floor(time)], UNIT.timeval) } });
      },
    },
  };
}
