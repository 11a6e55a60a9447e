import type { Syscall } from "../../abi/index.js";
import type { CallEvent } from "../../nouns/event.js";
import type { Verdict } from "../../nouns/verdict.js";
import type { AddressList } from "../match/address.js";
import type { Cases, Sense } from "../match/cases.js";
import type { PathList } from "../match/path.js";
import type { EffectSubject } from "../match/subject.js";
import type { ActionKey } from "./action.js";
import type { RuleTarget } from "./rule-target.js";
import type { RuleSpec } from "./schema.js";

/** A rule ready to be matched. */
export interface PolicyRule {
  /** Its index in the order of all rules. */
  readonly order: number;
  readonly id: string;
  /** file:line:column */
  readonly at: string;
  readonly key: ActionKey;
  /** As it was written. */
  readonly spec: RuleSpec;
  readonly target: RuleTarget;
  /** True when the rule's answer fits this call: only opens can get a virtual file. */
  readonly fits: (call: Syscall) => boolean;
  readonly conditions: readonly RuleCondition[];
  /** Counters that limit how often it applies. */
  readonly counters: readonly RuleCounter[];
  /** The identity of its counters: a reloaded rule continues to count when this is unchanged. */
  readonly counting: string;
  readonly answer: (input: RuleInput) => Verdict;
  /** The key for lookups. */
  readonly paths: PathList | undefined;
  readonly addresses: AddressList | undefined;
  readonly program: string | undefined;
}

/** One effect of one call, as the conditions of a rule see it. */
export interface RuleInput {
  readonly event: CallEvent;
  readonly call: Syscall;
  readonly bits: number;
  readonly subject: EffectSubject;
}

export interface RuleCondition {
  readonly key: string;
  /** It reads the stack: the call must come through the trace door. */
  readonly inside?: true;
  holds(input: RuleInput): boolean;
  /** The actual value, for when it does not hold. */
  tell(input: RuleInput): string;
  /** The same for the kernel's filter, per call; undefined when it cannot express it. */
  constants?(call: Syscall): Cases | undefined;
  /** Whether it depends on the call at all. */
  sense?(call: Syscall): Sense;
}

/** Stateful, so it comes last, once for each event that matches otherwise. */
export interface RuleCounter {
  readonly key: string;
  /** True when the rule would hold now. Counts nothing. */
  peek(event: CallEvent): boolean;
  take(event: CallEvent): boolean;
}

/** Rules that restrict: in doubt, they match. */
export function restricts({ key }: Pick<PolicyRule, "key">): boolean {
  return key === "deny" || key === "kill" || key === "ask";
}

/** Rules that are there to change what happens: one that never applies in a run may be a mistake. */
export function isChange({ key }: { readonly key: ActionKey }): boolean {
  return key === "fault" || key === "emulate" || key === "redirect" || key === "modify";
}
