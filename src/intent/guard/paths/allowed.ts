import { type Allowance, isPattern, allowsPath as lets } from "../../../nouns/allowance.js";
import type { Context } from "../layer.js";

/** Rules on files that make other programs run code later: only an entry that names the file lifts them. */
const RUNS_LATER: ReadonlySet<string> = new Set([
  "persistence",
  "startup-file",
  "agent-instructions",
  "build-pipeline",
]);

/** Whether hermes.yaml lifts a rule for an access to a path, which is absolute and has no `..`. */
export function allowsPath(
  { allowed }: Pick<Context, "allowed">,
  access: "read" | "write",
  path: string,
  rule: string,
): boolean {
  const mayLift = ({ what }: Allowance) => !RUNS_LATER.has(rule) || !isPattern(String(what));
  return allowed.some((one) => mayLift(one) && lets(one, access, path));
}
