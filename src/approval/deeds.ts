import { createHash } from "node:crypto";
import { basename } from "node:path";
import type { ApprovalOutcome, ApprovalRequest, Approvals } from "./approvals.js";
import { hashFile } from "./digest.js";
import { type Answer, keyOf, type Question } from "./question.js";

/** What a session calls when it asks (`SessionEvents`, `RunEvents`). */
export interface QuestionHandlers {
  question(question: Question, answer: (answer: Answer) => void): void;
  withdrawn(id: number, why: string): void;
}

/** Questions at a system call, answered as everything else is: through the queue, by whoever is first. */
export function askThroughQueue(
  queue: Approvals,
  session: string,
  toolCall?: string,
  asked?: (approval: string) => void,
): QuestionHandlers {
  const open = new Map<number, AbortController>();
  return {
    question(question, answer) {
      const stop = new AbortController();
      open.set(question.id, stop);
      void queue
        .request(requestOf(question, session, toolCall), {
          signal: stop.signal,
          patience: question.patience,
          ...(asked && { parked: asked }),
        })
        .then(
          (outcome) => answer(answerOf(outcome)),
          () => answer("no"),
        )
        .finally(() => open.delete(question.id));
    },
    withdrawn(id, why) {
      open.get(id)?.abort(new Error(why));
    },
  };
}

function requestOf(question: Question, session: string, toolCall: string | undefined): ApprovalRequest {
  const { call, what, subject, who, policy, rule, reason } = question;
  const { argv, path } = subject;
  // The file that would be executed counts with what is in it.
  const content = argv && path !== undefined ? hashFile(path) : null;
  return {
    kind: "DEED",
    session,
    what,
    digest: createHash("sha256")
      .update(JSON.stringify(["hermes deed", 1, keyOf(question), content]))
      .digest("hex"),
    findings: [{ layer: policy, rule: rule ?? call, action: "ask", reason: reason ?? "no reason given" }],
    detail: { call, policy, who: who.map(({ pid, argv: words }) => ({ pid, command: words.join(" ") })) },
    ...(toolCall !== undefined && { toolCall }),
    // The first word is whatever the caller wrote; the file is what runs.
    ...(argv && { argv, programs: [path === undefined ? argv : [basename(path), ...argv.slice(1)]] }),
  };
}

function answerOf({ granted, scope }: ApprovalOutcome): Answer {
  return granted ? (scope ?? "once") : "no";
}
