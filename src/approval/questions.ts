import type { CallEvent, FunctionEvent, InstructionEvent } from "../event.js";
import type { Policy } from "../policy/policy.js";
import { allow, type Decision, deny } from "../verdict.js";
import { LONGEST_QUESTION, MAX_OPEN, MAX_PER_MINUTE, MINUTE } from "./limits.js";
import {
  type Answer,
  functionQuestion,
  instructionQuestion,
  keyOf,
  type Question,
  questionOf,
} from "./question.js";

const MAX_REFUSED = 1000;

export interface QuestionsHost {
  ask(question: Question): void;
  /** Nobody needs an answer any more. */
  withdraw(id: number, why: string): void;
}

/** The questions of a session: those that wait for an answer, and the answers that hold for more than one of them. */
export class Questions {
  readonly #host: QuestionsHost;
  readonly #patience: number;
  #approvals: Policy | undefined;
  #next = 1;
  readonly #open = new Map<number, Question>();
  readonly #remembered = new Set<string>();
  /** A shell tries the next folder of PATH, a program tries again: who was told no need not ask the same again. */
  readonly #refused = new Set<string>();
  #asked: number[] = [];

  constructor(host: QuestionsHost, patience: number) {
    this.#host = host;
    this.#patience = patience;
  }

  /** What was answered with "always", now and before. */
  replaceApprovals(approvals: Policy | undefined): void {
    this.#approvals = approvals;
  }

  /** The decision, where it is known already; else the question that was asked. */
  ask(event: CallEvent, decision: Decision): Decision | Question {
    const question = questionOf(this.#next, event, decision, this.#patience);
    const standing = this.#approvals?.decide(event);
    if (standing?.action === "allow" && standing.rule !== undefined && standing.rule !== "default")
      return granted(decision, `approved for always: ${standing.rule}`);
    // Nobody is asked about a program without being told all of its arguments.
    if (event.name.startsWith("execve") && event.argv === undefined)
      return refused(decision, "needs approval, and its arguments are too long to be read by a person");
    return this.#ask(question, decision);
  }

  #ask(question: Question, decision: Decision): Decision | Question {
    const key = keyOf(question);
    if (this.#remembered.has(key)) return granted(decision, "approved for this session");
    if (this.#refused.has(inProcess(key, question))) return refused(decision, "a person said no");
    if (question.what.length > LONGEST_QUESTION)
      return refused(
        decision,
        `needs approval, and is too long to be read by a person (${question.what.length} letters)`,
      );
    const now = performance.now();
    this.#asked = this.#asked.filter((time) => now - time < MINUTE);
    if (this.#open.size >= MAX_OPEN || this.#asked.length >= MAX_PER_MINUTE)
      return refused(decision, "needs approval, and too many questions are asked");
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

  /** Returns every question that this answer settles: the same one may have been asked more than once. */
  answer(id: number, answer: Answer): number[] {
    const question = this.#open.get(id);
    if (!question) return [];
    const key = keyOf(question);
    const lasts = answer === "session" || answer === "always";
    if (lasts) this.#remembered.add(key);
    if (answer === "no") this.#refuse(inProcess(key, question));
    const settled = [...this.#open.values()].filter((one) => one.id === id || (lasts && keyOf(one) === key));
    for (const one of settled) {
      this.#open.delete(one.id);
      if (one.id !== id) this.#host.withdraw(one.id, "answered with another");
    }
    return settled.map((one) => one.id);
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

export function granted(decision: Decision, why: string): Decision {
  return { ...decision, ...allow(why), watched: true };
}

export function refused(decision: Decision, why: string): Decision {
  return { ...decision, ...deny(`${why}: ${decision.reason ?? "no reason given"}`) };
}
