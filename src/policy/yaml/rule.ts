import type { Syscall } from "../../abi/index.js";
import type { CallEvent } from "../../event.js";
import type { Verdict } from "../../verdict.js";
import type { AddressList } from "../match/address.js";
import type { Cases, Sense } from "../match/cases.js";
import type { PathList } from "../match/path.js";
import type { Subject } from "../match/subject.js";
import type { ActionKey } from "./action.js";
import type { RuleSpec } from "./schema.js";
import type { Target } from "./target.js";

/** A rule ready to be matched. */
export interface Rule {
  /** Its place in the order of all rules. */
  readonly order: number;
  readonly id: string;
  /** file:line:column */
  readonly at: string;
  readonly key: ActionKey;
  /** As it was written. */
  readonly spec: RuleSpec;
  readonly target: Target;
  /** Whether the rule's answer makes sense for this call: only opens can be given a virtual file. */
  readonly fits: (call: Syscall) => boolean;
  readonly conditions: readonly Condition[];
  /** How often it has matched, or may. */
  readonly counters: readonly Counter[];
  /** What the counters count by: a rule that is loaded anew goes on counting when this is the same. */
  readonly counting: string;
  readonly answer: (sight: Sight) => Verdict;
  /** What it can be looked up by. */
  readonly paths: PathList | undefined;
  readonly addresses: AddressList | undefined;
  readonly program: string | undefined;
}

/** One effect of one call, as the conditions of a rule see it. */
export interface Sight {
  readonly event: CallEvent;
  readonly call: Syscall;
  readonly bits: number;
  readonly subject: Subject;
}

export interface Condition {
  readonly key: string;
  /** It looks at the stack: the call must come through the trace door. */
  readonly inside?: true;
  holds(sight: Sight): boolean;
  /** What is different, when it does not hold. */
  tell(sight: Sight): string;
  /** The same for the kernel's filter, per call; undefined when that cannot be said there. */
  constants?(call: Syscall): Cases | undefined;
  /** Whether it depends on the call at all. */
  sense?(call: Syscall): Sense;
}

/** Stateful, and so asked last, once for each event that matches otherwise. */
export interface Counter {
  readonly key: string;
  /** Whether the rule would hold now. Nothing is counted. */
  peek(event: CallEvent): boolean;
  take(event: CallEvent): boolean;
}

/** Rules that take something away: where it cannot be known whether they match, they do. */
export function restricts({ key }: Pick<Rule, "key">): boolean {
  return key === "deny" || key === "kill" || key === "ask";
}
