import type { ApprovalScope } from "../../record/store/store.js";

/** What an approver can answer: whether it may happen, and for how long the answer holds. */
interface AnswerKind {
  readonly grants: boolean;
  /** Once; whenever the same is asked in this session; whenever it is asked, in other sessions too. */
  readonly scope: ApprovalScope;
  /** What people type for it, besides its own name. */
  readonly typed: readonly string[];
  readonly text: string;
}

/** The names are the words of the command line, of tokens, of the console and of MCP. */
const KINDS = {
  once: { grants: true, scope: "once", typed: ["y", "yes"], text: "allow once" },
  session: { grants: true, scope: "session", typed: ["s"], text: "allow for this session" },
  always: { grants: true, scope: "always", typed: ["a"], text: "allow always" },
  no: { grants: false, scope: "once", typed: ["n"], text: "deny once" },
  "no-session": { grants: false, scope: "session", typed: ["ns"], text: "deny for this session" },
  never: { grants: false, scope: "always", typed: ["na"], text: "deny always" },
} as const satisfies Readonly<Record<string, AnswerKind>>;

export type Answer = keyof typeof KINDS;
export const ANSWERS = Object.keys(KINDS) as [Answer, ...Answer[]];

/** The answer that a word means; undefined when it means none. */
export function parseAnswer(word: unknown): Answer | undefined {
  if (typeof word !== "string") return undefined;
  const plain = word.trim().toLowerCase();
  return ANSWERS.find((answer) => answer === plain || kindOf(answer).typed.includes(plain));
}

export function kindOf(answer: Answer): AnswerKind {
  return KINDS[answer];
}

/** The answer of that effect and duration. */
export function answerFor(grants: boolean, scope: ApprovalScope): Answer {
  return ANSWERS.find((answer) => kindOf(answer).grants === grants && kindOf(answer).scope === scope)!;
}

/** What can be answered where `always` is not offered: a refusal can hold for always, a grant cannot. */
export function answersOffered(notAlways: string | undefined): readonly Answer[] {
  return ANSWERS.filter((answer) => answer !== "always" || notAlways === undefined);
}

/** The answer to a question of a running program, with what the program's user should read of it. */
export interface Reply {
  readonly answer: Answer;
  /** Who answered, or what went wrong: `refused by cli:root`, `approval request failed: …`. */
  readonly why?: string;
  /** The store keeps it for always: ask there again, so that it can be revoked. */
  readonly kept?: true;
}

export function replyOf(given: Answer | Reply): Reply {
  return typeof given === "string" ? { answer: given } : given;
}
