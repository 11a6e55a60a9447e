import { type Allowance, commandExpression, isPattern, OWN_RECORDS } from "../../nouns/allowance.js";
import type { RuleSpec } from "./schema.js";

/** What a rule may refuse where it hides a file. */
const READS = ["read", "getxattr", "readlink"];
const RECORDS = OWN_RECORDS.map((records) => `!${records}`);
/** Files that make other programs run code later are not taken along by a pattern: an entry must name them. */
const RUNS_LATER = ["always", "folder", "project"].map((kind) => `!\${later_code_${kind}}`);

/** An entry of `allow:` in hermes.yaml as rules that come before those of a policy. */
export function allowanceRules(allowance: Allowance, index: number): RuleSpec[] {
  const id = `hermes.yaml-${index + 1}`;
  const { does, what } = allowance;
  if (does === "run") return [{ id, allow: "exec", argv_matches: commandExpression([what].flat()) }];
  if (does === "connect") return [{ id, allow: "connect", address: what as string }];
  const path = String(what);
  const reads: RuleSpec = { id, allow: READS, path: [path, ...RECORDS] };
  if (does === "read") return [reads];
  const later = isPattern(path) ? RUNS_LATER : [];
  return [reads, { id: `${id}-write`, allow: "write", path: [path, ...RECORDS, ...later] }];
}
