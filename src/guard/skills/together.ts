import type { Action } from "../finding.js";
import { type Script, sentTo } from "./scripts.js";

export interface Together {
  readonly rule: string;
  readonly action: Action;
  readonly reason: string;
}

/** What the files of a skill do together: one takes, another sends; one names where to, another does it. */
export function together(scripts: readonly Script[]): Together[] {
  const takes = scripts.find((script) => script.takes);
  const sends = scripts.find((script) => script.sends);
  const leads = scripts.find(({ endpoint }) => endpoint && endpoint.kind !== "address");
  const found: Together[] = [];
  if (takes && sends && takes.path !== sends.path)
    found.push({
      rule: "exfiltrate",
      action: leads ? "deny" : "ask",
      reason: `${takes.path} takes secrets, and ${sends.path} sends data away.`,
    });
  if (leads && sends && leads.path !== sends.path) {
    const { rule, action, reason } = sentTo(leads.endpoint!);
    found.push({ rule, action, reason: `${leads.path}, ${sends.path}: ${reason}` });
  }
  return found;
}
