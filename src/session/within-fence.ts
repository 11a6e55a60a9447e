import type { DecodedCall } from "../decode/call.js";
import { hasAct } from "../doors/act.js";
import type { Mirror } from "../fence/mirror.js";
import { native } from "../kernel/native.js";
import { type Decision, deny } from "../verdict.js";

/** What we do in the program's place must not go further than the fence lets the program go. */
export function withinFence(event: DecodedCall, decision: Decision, mirror: Mirror | undefined): Decision {
  const { action, change } = decision;
  const happens =
    action === "allow" || action === "fault" || (action === "modify" && change?.to === undefined);
  if (!mirror || !happens || !event.looked || !hasAct(event.call)) return decision;
  if (event.unreachable !== 0) return decision; // the kernel says so first
  if (!mirror.forbids(event, () => native().socketType(event.tid, event.stop.int(0)))) return decision;
  return { ...deny("it lies beyond the fence"), rule: "fence", policy: "hermes", version: "" };
}
