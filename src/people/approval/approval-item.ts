import { approvalKeys } from "../../intent/guard/command/rules.js";
import { redact } from "../../intent/guard/credentials/secrets.js";
import type { Action } from "../../intent/guard/finding.js";
import type { ApprovalRow, NewApproval } from "../../record/store/store.js";
import type { ApprovalRequest } from "./approvals.js";
import { whyRunsAnything } from "./interpreters.js";
import { LONGEST_QUESTION } from "./limits.js";

/** An approval as approvers see it: a row with its texts parsed. All of it is hostile text. */
export interface ApprovalItem extends Omit<ApprovalRow, "keys" | "detail"> {
  readonly keys: readonly string[];
  readonly findings: readonly AskedFinding[];
  /** Why it cannot be approved for always. */
  readonly notAlways?: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

interface AskedFinding {
  readonly rule: string;
  readonly action: Action;
  readonly reason: string;
  readonly instead?: string;
}

/** Of what goes with a question: a diff, what is typed, an explanation. */
const LONGEST_DETAIL = 200_000;

/** Why a request cannot be asked: an approver must be able to read all of it, so nothing of it is cut. */
export function whyTooLong({ what, detail = {} }: ApprovalRequest): string | undefined {
  const most = Math.max(0, ...Object.values(detail).map((value) => (JSON.stringify(value) ?? "").length));
  if (what.length <= LONGEST_QUESTION && most <= LONGEST_DETAIL) return undefined;
  const letters = Math.max(what.length, most);
  return `It needs approval, and is too long to be read by a person (${letters} letters): do it in smaller steps.`;
}

/** The row of a request, without secrets. */
export function approvalOf(
  request: ApprovalRequest,
  id: string,
  created: number,
  expires: number,
): NewApproval {
  const { kind, session, toolCall, what, digest, findings, parts, detail } = request;
  const asking = findings.filter(({ action }) => action !== "allow");
  const notAlways = whyNotForAlways(request);
  return {
    id,
    kind,
    session,
    toolCall: toolCall ?? null,
    created,
    expires,
    digest,
    keys: JSON.stringify([...new Set(asking.map(({ rule }) => approvalKeys(rule)[0]!))]),
    what: cut(redact(what).text, LONGEST_QUESTION),
    detail: JSON.stringify(
      withoutSecrets({
        ...detail,
        findings: asking.map(({ rule, action, reason, instead }) => ({ rule, action, reason, instead })),
        ...(parts?.length && { parts: parts.map((part) => part.what) }),
        ...(notAlways && { notAlways }),
      }),
    ),
  };
}

function whyNotForAlways({ argv, programs = [], notAlways }: ApprovalRequest): string | undefined {
  for (const words of [...(argv ? [argv] : []), ...programs]) {
    const why = whyRunsAnything(words);
    if (why) return why;
  }
  return notAlways;
}

/** What an answer for the session, or for always, covers: one sentence, the same for every approver. */
export function coverageOf({ kind, detail }: Pick<ApprovalItem, "kind" | "detail">): string {
  if (kind === "TOOL_CALL") return "exactly this, in this folder, with its scripts as they are now";
  const { policy, rule, program, cwd } = detail;
  const where = program === undefined ? "" : `, with ${program} as it is now, in ${cwd}`;
  return `exactly this${where}, wherever ${[policy, rule].filter(Boolean).join("/")} asks`;
}

export function itemOf({ keys, detail, ...row }: ApprovalRow): ApprovalItem {
  const { findings, notAlways, ...rest } = JSON.parse(detail) as Record<string, unknown>;
  return {
    ...row,
    keys: JSON.parse(keys) as string[],
    findings: (findings ?? []) as AskedFinding[],
    detail: rest,
    ...(typeof notAlways === "string" && { notAlways }),
  };
}

function withoutSecrets(value: unknown): unknown {
  if (typeof value === "string") return cut(redact(value).text, LONGEST_DETAIL);
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutSecrets(inner)]));
}

/** Cuts only what no approver is asked: an answer in advance and a refusal are recorded too. */
function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}
