import * as shape from "../../yaml/shape.js";
import type { Place, Source } from "../../yaml/source.js";
import { fenceSchema, type PolicyFile, policySchema, ruleSchema } from "./schema.js";

/** The file's content, when it has the right shape. */
export function checkShape(source: Source): PolicyFile {
  return shape.checkShape(source, policySchema, { at: keysAt, replaced: REPLACED });
}

/** Keys that there were, and what is written today. */
const REPLACED: Readonly<Record<string, string>> = {
  whom: "`target` says it: `target: outside` for `whom: other`, `target: session` for `whom: own`",
};

const NESTED: Readonly<Record<string, readonly string[]>> = {
  when: ["nth", "from", "step", "probability", "seed"],
  examples: ["match", "not_match"],
  process: ["exe", "ancestor", "cwd"],
  fd: ["number", "target", "kind"],
  flags: ["all", "any", "none"],
  fence: Object.keys(fenceSchema.shape),
};

function keysAt(place: Place): readonly string[] {
  if (place.length === 0) return Object.keys(policySchema.shape);
  const last = String(place.at(-1));
  return NESTED[last] ?? Object.keys(ruleSchema.shape);
}
