import * as shape from "../../nouns/yaml/shape.js";
import type { YamlPath, YamlSource } from "../../nouns/yaml/source.js";
import { fenceSchema, type PolicyFile, policySchema, ruleSchema } from "./schema.js";

/** The file's content, when it has the right shape. */
export function checkPolicyShape(source: YamlSource): PolicyFile {
  return shape.checkShape(source, policySchema, { at: keysAt, replaced: REPLACED });
}

/** Former keys, and what to write now. */
const REPLACED: Readonly<Record<string, string>> = {
  whom: "use `target` instead: `target: outside` for `whom: other`, `target: session` for `whom: own`",
};

const NESTED: Readonly<Record<string, readonly string[]>> = {
  when: ["nth", "from", "step", "probability", "seed"],
  examples: ["match", "not_match"],
  process: ["exe", "ancestor", "cwd"],
  fd: ["number", "target", "kind"],
  flags: ["all", "any", "none"],
  fence: Object.keys(fenceSchema.shape),
};

function keysAt(place: YamlPath): readonly string[] {
  if (place.length === 0) return Object.keys(policySchema.shape);
  const last = String(place.at(-1));
  return NESTED[last] ?? Object.keys(ruleSchema.shape);
}
