import { Guard, type GuardOptions } from "../../../../src/intent/guard/guard.js";
import { LAYERS } from "../../../../src/intent/guard/layers.js";

/** Judges commands in a workspace that does not exist. */
export function judged(options: GuardOptions = {}) {
  const guard = new Guard(LAYERS, { workspace: "/home/ann/work/app", home: "/home/ann", ...options });
  const check = (input: string, fields = {}) => guard.check({ kind: "command", input, fields });
  return {
    check,
    action: (input: string) => check(input).action,
    rules: (input: string) => [...new Set(check(input).findings.map(({ rule }) => rule))],
    explain: (input: string) => guard.explain({ kind: "command", input }),
    explainLater: (input: string) => guard.explainLater({ kind: "command", input }),
  };
}
