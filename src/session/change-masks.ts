import { errnoName } from "../abi/index.js";
import type { Mask } from "../kernel/binding/fence-plan.js";
import { encodeViewPlan } from "../kernel/binding/launch.js";
import { LAUNCHER, native } from "../kernel/binding/native.js";
import { HermesError } from "../nouns/errors.js";

/** Hides and shows files while the program runs. Throws where that fails: nothing has changed then. */
export function changeMasks(masks: readonly Mask[]): Uint8Array {
  if (masks.length === 0) return new Uint8Array(0);
  const done = native().changeView(encodeViewPlan(masks), masks.length, LAUNCHER);
  if (typeof done !== "number") return done;
  throw new HermesError("UNAVAILABLE", {
    what: "other rules on reading files",
    why: `the files could not be hidden from the running program (${errnoName(-done) ?? done})`,
  });
}
