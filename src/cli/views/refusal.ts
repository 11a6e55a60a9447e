import { counted, escapeControl } from "../../nouns/text.js";
import type { Refusal } from "../../session/refusal-log.js";

/** What `--log` takes. */
export const LOGS = ["refused", "refused=json"] as const;
export type LogForm = (typeof LOGS)[number];

/** One line for one refusal. */
export function refusalLine(refusal: Refusal, form: LogForm): string {
  if (form === "refused=json") return `${JSON.stringify({ hermes: "refusal", version: 1, ...refusal })}\n`;
  const { pid, program, call, target, action, policy, rule, reason, allow, leftOut } = refusal;
  const by = [policy, rule].filter(Boolean).join("/");
  const did = action === "kill" ? "killed for" : "refused";
  const line = `${did} ${call}${target === undefined ? "" : ` ${target}`} by ${by}${reason === undefined ? "" : `: ${reason}`} (${program} ${pid})${allow === undefined ? "" : `; to allow it: ${allow}`}`;
  const gap = leftOut === undefined ? "" : `hermes: ${leftOutText(leftOut)}\n`;
  return `${gap}hermes: ${escapeControl(line)}\n`;
}

export function leftOutText(count: number): string {
  return `${counted(count, "refusal")} not shown: too many at once`;
}
