import type { ElicitRequestFormParams } from "@modelcontextprotocol/server";
import * as z from "zod";
import { escapeControl } from "../../nouns/text.js";
import { ANSWERS, answersOffered } from "../../people/approval/answer.js";
import type { GivenAnswer } from "../../people/approval/answer-service.js";
import type { ApprovalItem } from "../../people/approval/approval-item.js";

/** The form that the client shows its user. Everything except the frame is untrusted text. */
export function elicitationOf(item: ApprovalItem): ElicitRequestFormParams {
  const answers = answersOffered(item.notAlways);
  return {
    mode: "form",
    message: messageOf(item),
    requestedSchema: {
      type: "object",
      properties: {
        answer: {
          type: "string",
          title: "May this happen?",
          description: `once; session: whenever this session asks; ${answers.includes("always") ? "always (kept in hermes.yaml); " : ""}no; no-session: not in this session; never (kept in hermes.yaml)`,
          enum: [...answers],
        },
        note: {
          type: "string",
          title: "Message to the agent",
          description: "for example, what to do instead",
        },
      },
      required: ["answer"],
    },
  };
}

const CONTENT = z.object({ answer: z.enum(ANSWERS), note: z.string().max(2000).optional() });

/** Undefined: the user has not answered, and the question stays in the queue. */
export function answerOf(
  response: { readonly action?: unknown; readonly content?: unknown },
  by: string,
): GivenAnswer | undefined {
  if (response.action === "decline") return { answer: "no", by };
  if (response.action !== "accept") return undefined;
  const content = CONTENT.safeParse(response.content);
  if (!content.success) return undefined;
  const { answer, note } = content.data;
  return { answer, by, ...(note && { note }) };
}

function messageOf({ what, findings, notAlways, detail }: ApprovalItem): string {
  const { cwd, diff } = detail;
  return [
    "HERMES: the agent needs your approval.",
    `what: ${escapeControl(what)}`,
    ...(typeof cwd === "string" ? [`where: ${escapeControl(cwd)}`] : []),
    ...findings.map(({ rule, reason }) => `why: ${escapeControl(`${rule}: ${reason}`)}`),
    ...(typeof diff === "string" ? ["change:", ...linesOf(diff)] : []),
    ...(notAlways === undefined ? [] : [`"always" is not possible: ${escapeControl(notAlways)}`]),
  ].join("\n");
}

function linesOf(diff: string): string[] {
  return diff.split("\n").map((line) => `  ${escapeControl(line)}`);
}
