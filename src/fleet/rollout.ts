import type { Operation } from "../store/sql.js";
import { type Assignment, assignments, type Rate, rateOf, takeBack } from "./releases.js";

/** What was taken back, and why. */
export interface TakenBack {
  readonly name: string;
  readonly serial: number;
  readonly why: string;
}

/** Looks at everything that is being rolled out, and takes back what refuses far more than what was there before. */
export function* watchRollouts(): Operation<readonly TakenBack[]> {
  const taken: TakenBack[] = [];
  for (const one of yield* assignments()) {
    if (one.next === null) continue;
    const why = jumped(one, yield* rateOf(one.next), yield* rateOf(one.release));
    if (why === undefined) continue;
    yield* takeBack(one.name);
    taken.push({ name: one.name, serial: one.next, why });
  }
  return taken;
}

/** Compared with the hosts that still have the old one, and with what all of them had before. */
export function jumped({ limits, baseline }: Assignment, now: Rate, others: Rate): string | undefined {
  const before = {
    calls: others.calls + (baseline?.calls ?? 0),
    denied: others.denied + (baseline?.denied ?? 0),
  };
  if (now.calls === 0 || now.denied < limits.atLeast) return undefined;
  const share = (rate: Rate) => (rate.calls === 0 ? 0 : rate.denied / rate.calls);
  if (share(now) - share(before) <= limits.jump) return undefined;
  const percent = (rate: Rate) => `${(share(rate) * 100).toFixed(1)} %`;
  return `${now.denied} of ${now.calls} calls were refused (${percent(now)}, before ${percent(before)})`;
}
