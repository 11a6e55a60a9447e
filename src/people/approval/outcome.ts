import type { ApprovalRow, ApprovalScope } from "../../record/store/store.js";
import type { ApprovalOutcome } from "./approvals.js";

const SILENCE = "No approver answered in time.";

export function grantedOutcome(by: string, scope: ApprovalScope): ApprovalOutcome {
  return { granted: true, state: "granted", scope, by };
}

export function refusedOutcome(by: string, note: string): ApprovalOutcome {
  return { granted: false, state: "refused", by, note };
}

export function withdrawnOutcome({ reason }: AbortSignal): ApprovalOutcome {
  const note = reason instanceof Error ? reason.message : String(reason ?? "it was withdrawn");
  return { granted: false, state: "withdrawn", by: "hermes", note };
}

/** What a row says. One that is still pending was waited for until its time was over. */
export function outcomeOf({ id, state, scope, answeredBy, note }: ApprovalRow): ApprovalOutcome {
  const over = state === "pending" || state === "expired";
  const words = note ?? (over ? SILENCE : undefined);
  return {
    granted: state === "granted",
    state: over ? "expired" : state,
    approval: id,
    by: answeredBy ?? "hermes",
    ...(scope !== null && { scope }),
    ...(words !== undefined && { note: words }),
  };
}
