import { errnoName } from "../abi/index.js";
import { errnoValue } from "../abi/named.js";
import type { Mask, MountChange } from "../kernel/binding/fence-plan.js";
import { encodeViewPlan } from "../kernel/binding/launch.js";
import { LAUNCHER, native } from "../kernel/binding/native.js";
import { HermesError } from "../nouns/errors.js";

const EBUSY = errnoValue("EBUSY");

/** Hides and shows files while the program runs, and lets it change others. Throws where that fails: nothing has changed then. */
export function changeView(masks: readonly Mask[], mounts: readonly MountChange[] = []): Uint8Array {
  if (masks.length + mounts.length === 0) return new Uint8Array(0);
  const done = native().changeView(encodeViewPlan(masks, mounts), masks.length, LAUNCHER);
  if (typeof done !== "number") return done;
  throw new HermesError("UNAVAILABLE", { what: "other rules on files", why: whyNot(-done) });
}

function whyNot(errno: number): string {
  return errno === EBUSY
    ? "the program has files open for writing where it may change none any more"
    : `what the running program sees of the files could not be changed (${errnoName(errno) ?? errno})`;
}
