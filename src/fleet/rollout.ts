import { counted } from "../nouns/counted.js";
import type { Operation } from "../record/store/sql.js";
import { type Assignment, assignments, type DenialRate, rateOf, rollBack } from "./releases.js";

/** What was rolled back, and why. */
export interface RolledBack {
  readonly name: string;
  readonly serial: number;
  readonly why: string;
}

/** Checks every rollout, and rolls back those that refuse far more calls than the policy before. */
export function* watchRollouts(): Operation<readonly RolledBack[]> {
  const taken: RolledBack[] = [];
  for (const one of yield* assignments()) {
    if (one.next === null) continue;
    const why = denialsJumped(one, yield* rateOf(one.next), yield* rateOf(one.release));
    if (why === undefined) continue;
    yield* rollBack(one.name);
    taken.push({ name: one.name, serial: one.next, why });
  }
  return taken;
}

/** Compared with the hosts that still have the old policy, and with the counts before the rollout. */
function denialsJumped(
  { limits, baseline }: Assignment,
  now: DenialRate,
  others: DenialRate,
): string | undefined {
  const before = {
    calls: others.calls + (baseline?.calls ?? 0),
    denied: others.denied + (baseline?.denied ?? 0),
  };
  if (now.calls === 0 || now.denied < limits.atLeast) return undefined;
  const share = (rate: DenialRate) => (rate.calls === 0 ? 0 : rate.denied / rate.calls);
  if (share(now) - share(before) <= limits.jump) return undefined;
  const percent = (rate: DenialRate) => `${(share(rate) * 100).toFixed(1)} %`;
  return `${now.denied} of ${counted(now.calls, "call")} refused (${percent(now)}; before the rollout ${percent(before)})`;
}
