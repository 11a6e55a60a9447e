import type { Action } from "../finding.js";
import { type ScriptFacts, sentTo } from "./scripts.js";

interface CombinedBehaviour {
  readonly rule: string;
  readonly action: Action;
  readonly reason: string;
}

/**
 * What the files of a skill do together: one reads secrets and another sends; one names the target and another uses
 * it.
 */
export function combinedBehaviour(scripts: readonly ScriptFacts[]): CombinedBehaviour[] {
  const takes = scripts.find((script) => script.takes);
  const sends = scripts.find((script) => script.sends);
  const leads = scripts.find(({ endpoint }) => endpoint && endpoint.kind !== "address");
  const found: CombinedBehaviour[] = [];
  if (takes && sends && takes.path !== sends.path)
    found.push({
      rule: "exfiltrate",
      action: leads ? "deny" : "ask",
      reason: `${takes.path} reads secrets, and ${sends.path} sends data away.`,
    });
  if (leads && sends && leads.path !== sends.path) {
    const { rule, action, reason } = sentTo(leads.endpoint!);
    found.push({ rule, action, reason: `${leads.path}, ${sends.path}: ${reason}` });
  }
  return found;
}
