import type { ElicitRequestFormParams } from "@modelcontextprotocol/server";
import * as z from "zod";
import type { GivenAnswer } from "../approval/desk.js";
import type { ApprovalItem } from "../approval/item.js";
import { ANSWERS } from "../approval/question.js";
import { harmless } from "../text.js";

/** What the client shows its user. All of it but the frame is hostile text. */
export function elicitationOf(item: ApprovalItem): ElicitRequestFormParams {
  const answers = ANSWERS.filter((answer) => answer !== "always" || item.notAlways === undefined);
  return {
    mode: "form",
    message: messageOf(item),
    requestedSchema: {
      type: "object",
      properties: {
        answer: {
          type: "string",
          title: "May this happen?",
          description: `once; whenever it is asked in this session; ${answers.includes("always") ? "always (kept in hermes.yaml); " : ""}or no`,
          enum: [...answers],
        },
        note: {
          type: "string",
          title: "A word to the agent",
          description: "what to do instead, for example",
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
    "HERMES: the agent wants to do something that needs your consent.",
    `what: ${harmless(what)}`,
    ...(typeof cwd === "string" ? [`where: ${harmless(cwd)}`] : []),
    ...findings.map(({ rule, reason }) => `why: ${harmless(`${rule}: ${reason}`)}`),
    ...(typeof diff === "string" ? ["change:", ...linesOf(diff)] : []),
    ...(notAlways === undefined ? [] : [`not for always: ${harmless(notAlways)}`]),
  ].join("\n");
}

function linesOf(diff: string): string[] {
  return diff.split("\n").map((line) => `  ${harmless(line)}`);
}
