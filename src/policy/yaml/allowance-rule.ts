import { type Allowance, commandExpression, OWN_RECORDS } from "../../nouns/allowance.js";
import type { RuleSpec } from "./schema.js";

/** An entry of `allow:` in hermes.yaml as a rule that comes before those of a policy. */
export function allowanceRule(allowance: Allowance, index: number): RuleSpec {
  const id = `hermes.yaml-${index + 1}`;
  const { does, what } = allowance;
  if (does === "run") return { id, allow: "exec", argv_matches: commandExpression([what].flat()) };
  if (does === "connect") return { id, allow: "connect", address: what as string };
  const path = [`${what}`, ...OWN_RECORDS.map((records) => `!${records}`)];
  return { id, allow: does === "read" ? READS : [...READS, "write"], path };
}

/** What a rule may refuse where it hides a file. */
const READS = ["read", "getxattr", "readlink"];
