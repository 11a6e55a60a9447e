import type { CallToolResult } from "@modelcontextprotocol/server";
import { escapeControl } from "../../nouns/text.js";
import type { ApprovalItem } from "../../people/approval/approval-item.js";
import type { ToolResult } from "../tools/options.js";

/** Fields of every result besides its text. */
export const OUTPUT_SCHEMA = {
  type: "object",
  properties: {
    id: { type: "string", description: "id of the call in the audit" },
    status: { type: "string", enum: ["DONE", "REFUSED", "FAILED", "CANCELLED", "BLOCKED"] },
    output: { type: "object", description: "what the tool returned" },
    reason: { type: "string", description: "why it was refused, failed or waits" },
    rule: { type: "string" },
    instead: { type: "string", description: "what to do instead" },
    approval: { type: "string", description: "id of the approval that was answered or is open" },
    approvedBy: { type: "string" },
  },
  required: ["status"],
} as const;

export function callResult(result: ToolResult): CallToolResult {
  return {
    content: [{ type: "text", text: wordsOf(result) }],
    structuredContent: { ...result },
    ...(result.status !== "DONE" && { isError: true }),
  };
}

/** The call has not run: an approver is asked elsewhere. */
export function waitingResult({ id, toolCall, findings }: ApprovalItem): CallToolResult {
  const why = findings.map(({ reason }) => escapeControl(reason)).join(" ");
  const reason = `Waiting for a person's approval (approval ${id}): ${why}`;
  const instead = `Tell the user to run "hermes approvals show ${id}". Call this tool again with the same input to get the result; it will not run twice.`;
  return {
    content: [{ type: "text", text: `${reason}\n${instead}` }],
    structuredContent: {
      status: "BLOCKED",
      approval: id,
      reason,
      instead,
      ...(toolCall !== null && { id: toolCall }),
    },
    isError: true,
  };
}

const REFUSED =
  "Do not try to achieve the same in another way. If it is necessary, tell the user, who can allow it.";

function wordsOf({ status, output, reason, instead }: ToolResult): string {
  if (status === "DONE") return outputText(output ?? {});
  const why = `${status.toLowerCase()}: ${reason ?? "no reason given"}`;
  const next = instead ?? (status === "REFUSED" ? REFUSED : undefined);
  const printed = output ? [outputText(output)] : [];
  return [why, ...(next === undefined ? [] : [`instead: ${next}`]), ...printed].join("\n");
}

interface Shown {
  readonly stdout?: unknown;
  readonly stderr?: unknown;
  readonly exitCode?: unknown;
  readonly refused?: readonly { what: string; reason: string; times: number }[];
  readonly content?: unknown;
  readonly notes?: readonly string[];
}

/** The text for the model: files and command output verbatim, everything else as JSON. */
function outputText(output: object): string {
  const { stdout, stderr, exitCode, refused = [], content, notes = [] } = output as Shown;
  if (typeof stdout === "string")
    return [
      ...(stdout === "" ? [] : [stdout.trimEnd()]),
      ...(stderr ? [`[stderr]\n${String(stderr).trimEnd()}`] : []),
      ...refused.map(({ what, reason, times }) => `[refused ${times} ×] ${what}: ${reason}`),
      ...(exitCode === undefined ? ["[still running]"] : [`[exit status ${exitCode}]`]),
    ].join("\n");
  if (typeof content === "string") return [content, ...notes.map((note) => `[note] ${note}`)].join("\n");
  return JSON.stringify(output, undefined, 2);
}
