import type { CallEvent, FunctionEvent, InstructionEvent } from "../../nouns/event.js";
import { allow, type Decision, deny } from "../../nouns/verdict.js";
import type { Policy } from "../../policy/policy.js";
import { kindOf, type Reply } from "./answer.js";
import { LONGEST_QUESTION, MAX_OPEN, MAX_PER_MINUTE, MINUTE } from "./limits.js";
import { functionQuestion, instructionQuestion, keyOf, type Question, questionOf } from "./question.js";

const MAX_REFUSED = 1000;

export interface SessionQuestionsHost {
  ask(question: Question): void;
  /** The program does not wait for the answer any more. */
  withdraw(id: number, why: string): void;
}

/** The questions of a session: those that wait for an answer, and the answers that hold for the session. */
export class SessionQuestions {
  readonly #host: SessionQuestionsHost;
  readonly #patience: number;
  #approvals: Policy | undefined;
  #next = 1;
  readonly #open = new Map<number, Question>();
  readonly #remembered = new Set<string>();
  readonly #refusedForSession = new Set<string>();
  /** By process: a shell tries the next folder of PATH, a program tries again. A refusal is not asked about again. */
  readonly #refused = new Set<string>();
  #asked: number[] = [];

  constructor(host: SessionQuestionsHost, patience: number) {
    this.#host = host;
    this.#patience = patience;
  }

  /** Rules of a file (`--approvals`) that answer in advance. */
  replaceApprovals(approvals: Policy | undefined): void {
    this.#approvals = approvals;
  }

  /** The decision, where an earlier answer gives it; else the question that was asked. */
  ask(event: CallEvent, decision: Decision): Decision | Question {
    const question = questionOf(this.#next, event, decision, this.#patience);
    const standing = this.#approvals?.decide(event);
    if (standing?.action === "allow" && standing.rule !== undefined && standing.rule !== "default")
      return grantedDecision(decision, `approved for always: ${standing.rule}`);
    // An approver must see all arguments of a program.
    if (event.name.startsWith("execve") && event.argv === undefined)
      return refusedDecision(
        decision,
        "needs approval, and its arguments are too long to be read by a person",
      );
    return this.#ask(question, decision);
  }

  #ask(question: Question, decision: Decision): Decision | Question {
    const key = keyOf(question);
    if (this.#remembered.has(key)) return grantedDecision(decision, "approved for this session");
    if (this.#refusedForSession.has(key)) return refusedDecision(decision, "refused for this session");
    if (this.#refused.has(inProcess(key, question)))
      return refusedDecision(decision, "refused when it was asked before");
    if (question.what.length > LONGEST_QUESTION)
      return refusedDecision(
        decision,
        `needs approval, and is too long to be read by a person (${question.what.length} letters)`,
      );
    const now = performance.now();
    this.#asked = this.#asked.filter((time) => now - time < MINUTE);
    if (this.#open.size >= MAX_OPEN || this.#asked.length >= MAX_PER_MINUTE)
      return refusedDecision(decision, "needs approval, and too many questions are asked");
    this.#asked.push(now);
    this.#next++;
    this.#open.set(question.id, question);
    this.#host.ask(question);
    return question;
  }

  /** The same for a function inside the program. */
  askFunction(event: FunctionEvent, decision: Decision): Decision | Question {
    return this.#ask(functionQuestion(this.#next, event, decision, this.#patience), decision);
  }

  askInstruction(event: InstructionEvent, decision: Decision): Decision | Question {
    return this.#ask(instructionQuestion(this.#next, event, decision, this.#patience), decision);
  }

  /** Returns every question that this reply answers: several threads may have asked the same. */
  answer(id: number, { answer, kept }: Reply): number[] {
    const question = this.#open.get(id);
    if (!question) return [];
    const key = keyOf(question);
    const { grants, scope } = kindOf(answer);
    const lasts = scope !== "once";
    if (lasts && !kept) (grants ? this.#remembered : this.#refusedForSession).add(key);
    if (!grants) this.#refuse(inProcess(key, question));
    const answered = [...this.#open.values()].filter((one) => one.id === id || (lasts && keyOf(one) === key));
    for (const one of answered) {
      this.#open.delete(one.id);
      if (one.id !== id) this.#host.withdraw(one.id, "answered with another");
    }
    return answered.map((one) => one.id);
  }

  #refuse(key: string): void {
    this.#refused.add(key);
    if (this.#refused.size > MAX_REFUSED) this.#refused.delete(this.#refused.values().next().value!);
  }

  withdraw(id: number, why: string): void {
    if (this.#open.delete(id)) this.#host.withdraw(id, why);
  }
}

function inProcess(key: string, { who }: Question): string {
  return `${who[0]?.pid} ${key}`;
}

/** What a reply makes of a decision to ask. */
export function settledBy(decision: Decision, { answer, why }: Reply): Decision {
  return kindOf(answer).grants
    ? grantedDecision(decision, why ?? `approved: ${kindOf(answer).text}`)
    : refusedDecision(decision, why ?? "an approver refused it");
}

/** The run has no approver at all. */
export function withoutApprover(decision: Decision): Decision {
  return refusedDecision(
    decision,
    "needs approval, and no approver is connected (use --ask terminal or --ask queue)",
  );
}

function grantedDecision({ onGrant, ...decision }: Decision, why: string): Decision {
  const { action, change, emulation, fault } = onGrant ?? allow();
  return {
    ...decision,
    action,
    ...(change && { change }),
    ...(emulation && { emulation }),
    ...(fault && { fault }),
    reason: why,
    watched: true,
  };
}

export function refusedDecision(decision: Decision, why: string): Decision {
  return { ...decision, ...deny(`${why}: ${decision.reason ?? "no reason given"}`) };
}
