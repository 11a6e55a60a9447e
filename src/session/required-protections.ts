import { HermesError } from "../nouns/errors.js";
import { REQUIRABLE } from "../nouns/protection.js";
import { checkWorkspace } from "../nouns/workspace.js";
import type { Policy } from "../policy/policy.js";
import type { SessionOptions } from "./options.js";
import { sessionWorkspace } from "./session-workspace.js";

/** Refuses to run without a required protection, or with a workspace that must not be opened to a program. */
export function checkRequired(options: SessionOptions, policies: readonly Policy[]): void {
  const { door, fence, trace, attach } = options;
  const opening = policies.find((policy) => policy.usesWorkspace);
  if (opening) checkWorkspace(sessionWorkspace(options), `policy ${opening.name}`);
  const unfenced = attach ? "the program runs already" : "the run has the option --fence none";
  const fencing = attach && policies.find((policy) => policy.fence);
  if (fencing)
    throw new HermesError("UNAVAILABLE", {
      what: `a fence (policy ${fencing.name} asks for it)`,
      why: "a running program cannot be put behind a fence",
    });
  const missing: Record<string, string | undefined> = {
    notify: door === "trace" ? "the run has the option --door trace" : undefined,
    trace: door === "notify" ? "the run has the option --door notify" : undefined,
    no_new_privs: fence.level === "none" && process.getuid?.() === 0 ? unfenced : undefined,
    fence: fence.level === "none" ? unfenced : undefined,
  };
  if (trace?.stack && door === "notify")
    throw new HermesError("UNAVAILABLE", {
      what: "call stacks",
      why: "the run has the option --door notify, and only the trace door can read them",
    });
  const all = [{ name: undefined, requires: fence.requires ?? [] }, ...policies];
  for (const { name, requires = [] } of all)
    for (const what of requires) {
      const by = name === undefined ? "" : ` (policy ${name} requires it)`;
      const why = REQUIRABLE.includes(what) ? missing[what] : "this version of HERMES does not know it";
      if (why !== undefined) throw new HermesError("UNAVAILABLE", { what: `${what}${by}`, why });
    }
}
