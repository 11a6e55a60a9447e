import type { DecodedCall } from "../decode/call.js";
import type { PolicyStack } from "../policy/stack.js";
import { type Decision, deny } from "../verdict.js";

/** Decisions on memory that the kernel reads again: see abi/reread.ts. */

/** A call that is decided on, and that has an older one to fall back to, is not there. */
export function isAbsent({ shape, nr }: DecodedCall, stack: PolicyStack): boolean {
  return shape.reread === "absent" && stack.wantsEntry(nr);
}

/** A call that would be refused if only its memory were another is refused; so is one that a person would be shown. */
export function held({ call, shape }: DecodedCall, decision: Decision, stack: PolicyStack): Decision {
  const { action } = decision;
  if (shape.reread !== "refused" || action === "deny" || action === "kill" || action === "emulate")
    return decision;
  if (action !== "ask" && !stack.restsOnMemory(call.nr)) return decision;
  const reason = `the kernel reads the arguments of ${call.name} again: rules on them cannot hold it`;
  return { ...deny(reason, "EPERM"), rule: "reread", policy: "hermes", version: "" };
}
