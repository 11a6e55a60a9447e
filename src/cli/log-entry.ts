import { createHash } from "node:crypto";
import type { AllowEntry } from "../intent/guard/config/allow.js";
import { entryAgainst } from "../intent/guard/entry-against.js";
import type { Kind } from "../intent/guard/subject.js";
import { allowCommand, entryAgainstRefusal } from "../people/approval/how-to-allow.js";
import type { DecidedCall } from "../record/audit/decided-call.js";
import type { AuditBodies } from "../record/audit/records.js";
import type { RunRecord } from "../record/audit/run-log.js";
import type { AuditRow } from "../record/store/store.js";

/** One line of `hermes log`: something that an agent or a run did, asked for, or was refused. Plain data, also for --json. */
export interface LogEntry {
  /** Equal refusals have equal ids. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly source: "agent" | "run";
  /** The agent's session, or the run's command. */
  readonly run: string;
  readonly action: string;
  readonly denied: boolean;
  readonly what: string;
  /** The policy and rule, or who answered. */
  readonly by: string;
  readonly reason?: string;
  readonly times: number;
  /** The entry of hermes.yaml that would lift it, and what a person types for that. */
  readonly entry?: AllowEntry;
  readonly allow?: string;
}

export function ofRun({ time, command, workspace, refused }: RunRecord): LogEntry[] {
  return refused.map(({ action, what, policy, rule, reason, count, ...refusal }) => {
    const by = [policy, rule].filter(Boolean).join("/");
    return {
      ...{ id: idOf(by, what, workspace), time, source: "run", run: command.join(" ") },
      ...{ action, denied: true, what, by, ...(reason !== undefined && { reason }), times: count },
      ...(action !== "ask" && wayOut(entryAgainstRefusal({ ...refusal, policy, rule }), workspace)),
    };
  });
}

/** A record that this version cannot read shows nothing. */
export function ofAudit(row: AuditRow, workspace: string | undefined): LogEntry[] {
  try {
    const body: unknown = JSON.parse(row.body);
    if (row.kind === "tool-call") return [ofToolCall(row, body as AuditBodies["tool-call"], workspace)];
    if (row.kind === "deed") return [ofDeed(row, body as AuditBodies["deed"], workspace)];
    if (row.kind === "approval-answered") return [ofAnswer(row, body as AuditBodies["approval-answered"])];
    return [];
  } catch {
    return [];
  }
}

function ofToolCall(
  row: AuditRow,
  { tool, input, kind, fields, action, findings }: AuditBodies["tool-call"],
  workspace: string | undefined,
): LogEntry {
  const deciding = findings.find((finding) => finding.action === action);
  const by = deciding ? `${deciding.layer}/${deciding.rule}` : "";
  const denied = action === "deny";
  const subject = { kind: kind as Kind, input, ...(fields && { fields }) };
  return {
    ...common(row),
    id: idOf(by, input, workspace),
    ...{ action, denied, what: `${tool}: ${input}`, by, times: 1 },
    ...(deciding && { reason: deciding.reason }),
    ...(denied && deciding && kind && wayOut(entryAgainst(deciding, subject), workspace)),
  };
}

function ofDeed(
  row: AuditRow,
  { action, what, policy = "", rule, reason, call, times = 1 }: AuditBodies["deed"],
  workspace: string | undefined,
): LogEntry {
  const by = [policy, rule].filter(Boolean).join("/");
  const denied = action === "deny" || action === "kill";
  const refusal = call && { call: call.name, about: call as DecidedCall, policy, rule };
  return {
    ...common(row),
    id: idOf(by, what, workspace),
    ...{ action, denied, what, by, times, ...(reason !== undefined && { reason }) },
    ...(denied && refusal && wayOut(entryAgainstRefusal(refusal), workspace)),
  };
}

function ofAnswer(row: AuditRow, { state, by, what, note }: AuditBodies["approval-answered"]): LogEntry {
  return {
    ...common(row),
    id: idOf(by, what, undefined),
    ...{ action: state, denied: state !== "granted", what, by, times: 1 },
    ...(note !== undefined && { reason: note }),
  };
}

function common({ time, session }: AuditRow) {
  return { time, source: "agent" as const, run: session ?? "" };
}

function wayOut(entry: AllowEntry | undefined, workspace: string | undefined) {
  if (!entry) return {};
  const placed = entry.run !== undefined && workspace !== undefined ? { ...entry, in: workspace } : entry;
  return { entry: placed, allow: allowCommand(entry, workspace) };
}

function idOf(by: string, what: string, workspace: string | undefined): string {
  return createHash("sha256")
    .update(JSON.stringify([by, what, workspace]))
    .digest("hex")
    .slice(0, 8);
}
