import { createHash } from "node:crypto";
import { basename } from "node:path";
import { type Answer, answerFor, type Reply } from "./answer.js";
import type { ApprovalOutcome, ApprovalRequest, Approvals } from "./approvals.js";
import { hashFile } from "./digest.js";
import { keyOf, type Question } from "./question.js";

/** What a session calls when it asks (`SessionEvents`, `RunEvents`). */
export interface QuestionHandlers {
  question(question: Question, answer: (answer: Answer | Reply) => void): void;
  withdrawn(id: number, why: string): void;
}

/** What a session's questions have in common. */
interface AskedBy {
  readonly session: string;
  /** The tool call that the program runs for. */
  readonly toolCall?: string;
  /** Milliseconds; default: as long as the program is held. */
  readonly patience?: number;
  /** Called with the id of every question that waits in the queue. */
  readonly asked?: (approval: string, question: Question) => void;
}

/** Asks the questions of a running program through the queue: every approver may answer. */
export function askThroughQueue(queue: Approvals, by: AskedBy): QuestionHandlers {
  const { asked } = by;
  const open = new Map<number, AbortController>();
  return {
    question(question, answer) {
      const stop = new AbortController();
      open.set(question.id, stop);
      void queue
        .request(requestOf(question, by), {
          signal: stop.signal,
          patience: by.patience ?? question.patience,
          ...(asked && { parked: (id) => asked(id, question) }),
        })
        .then(
          (outcome) => answer(replyTo(outcome)),
          (error: Error) => answer({ answer: "no", why: `approval request failed: ${error.message}` }),
        )
        .finally(() => open.delete(question.id));
    },
    withdrawn(id, why) {
      open.get(id)?.abort(new Error(why));
    },
  };
}

function requestOf(question: Question, { session, toolCall }: AskedBy): ApprovalRequest {
  const { call, what, subject, who, policy, rule = call, reason = "no reason given", cwd } = question;
  const { argv, path } = subject;
  // The contents of the file that would be executed count.
  const content = argv && path !== undefined ? hashFile(path) : null;
  const barred = whyNotAlways(question);
  return {
    kind: "DEED",
    session,
    what,
    digest: digestOf(["hermes deed", 2, keyOf(question), content]),
    earlierDigests: [digestOf(["hermes deed", 1, earlierKeyOf(question), content])],
    // Rules of a run's own policies are named with their policy: hermes.yaml names rules of the guard.
    findings: [
      { layer: policy, rule: toolCall === undefined ? `${policy}/${rule}` : rule, action: "ask", reason },
    ],
    detail: {
      call,
      policy,
      rule,
      ...(argv && path !== undefined && { program: path }),
      ...(!argv && path !== undefined && { path }),
      ...(cwd !== undefined && { cwd }),
      who: who.map(({ pid, argv: words }) => ({ pid, command: words.join(" ") })),
    },
    ...(toolCall !== undefined && { toolCall }),
    // The caller chooses the first word; the file is what runs.
    ...(argv && { argv, programs: [path === undefined ? argv : [basename(path), ...argv.slice(1)]] }),
    ...(barred !== undefined && { notAlways: barred }),
  };
}

/** Numbers of processes and pieces of data mean something else in the next run. */
function whyNotAlways({ subject: { path, address, argv } }: Question): string | undefined {
  if (path !== undefined || address !== undefined || argv) return undefined;
  return "it names no path, address or command that would be the same in the next run";
}

function digestOf(parts: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/** The key of versions whose answers for always did not depend on flags and folders. */
function earlierKeyOf({ policy, rule, call, subject, what }: Question): string {
  const about = (subject.path ?? subject.address ?? subject.argv) ? subject : what;
  return JSON.stringify([policy, rule, call, about]);
}

function replyTo(outcome: ApprovalOutcome): Reply {
  const { granted, scope = "once", by, note, state } = outcome;
  const answer = answerFor(granted, state === "granted" || state === "refused" ? scope : "once");
  return {
    answer,
    why: granted ? `approved by ${by} (${scope})` : whyRefused(state, by, note),
    ...(scope === "always" && { kept: true }),
  };
}

function whyRefused(state: ApprovalOutcome["state"], by: string, note: string | undefined): string {
  const said = note === undefined ? "" : `: ${note}`;
  if (state === "refused" && by !== "hermes") return `refused by ${by}${said}`;
  if (state === "expired")
    return "needs approval, and no approver answered in time (answer with `hermes console`, `hermes approvals` or --ask terminal)";
  return note ?? "the question was withdrawn";
}
