import { HermesError } from "../errors.js";
import type { Policy } from "../policy/policy.js";
import { REQUIRABLE } from "../protection.js";
import type { SessionOptions } from "./options.js";

/** A protection that is not there is not silently done without. */
export function checkRequired(options: SessionOptions, policies: readonly Policy[]): void {
  const { door, fence, trace, attach } = options;
  const unfenced = attach ? "the program runs already" : "the run was told to have no fence";
  const fencing = attach && policies.find((policy) => policy.fence);
  if (fencing)
    throw new HermesError("UNAVAILABLE", {
      what: `a fence (policy ${fencing.name} asks for it)`,
      why: "a program that runs already cannot be put behind one",
    });
  const missing: Record<string, string | undefined> = {
    notify: door === "trace" ? "the run was told to use the trace door" : undefined,
    trace: door === "notify" ? "the run was told to use the notify door" : undefined,
    no_new_privs: fence.level === "none" && process.getuid?.() === 0 ? unfenced : undefined,
    fence: fence.level === "none" ? unfenced : undefined,
  };
  if (trace?.stack && door === "notify")
    throw new HermesError("UNAVAILABLE", {
      what: "to follow stacks",
      why: "the run was told to use the notify door, which does not see them",
    });
  const all = [{ name: undefined, requires: fence.requires ?? [] }, ...policies];
  for (const { name, requires = [] } of all)
    for (const what of requires) {
      const by = name === undefined ? "" : ` (policy ${name} requires it)`;
      const why = REQUIRABLE.includes(what) ? missing[what] : "this version does not know it";
      if (why !== undefined) throw new HermesError("UNAVAILABLE", { what: `${what}${by}`, why });
    }
}
