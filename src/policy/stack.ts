import { HermesError } from "../errors.js";
import type { CallEvent, FunctionEvent, InstructionEvent, ReturnEvent } from "../event.js";
import { type Action, type Decision, deny, kill, type Verdict } from "../verdict.js";
import { stricterOf } from "./answer.js";
import { holds } from "./constant-test.js";
import type {
  ConstantRule,
  FunctionInterest,
  InstructionInterest,
  Interest,
  Policy,
  Settling,
} from "./policy.js";
import { changedEvent, targetText } from "./target.js";

const PASS: Decision = Object.freeze({ action: "allow", policy: "", version: "" });

/** Told once per distinct failure; the event itself is denied. */
export type OnPolicyError = (error: HermesError) => void;

/** An interest in what happens inside the program, and whose it is. */
export interface Wish<I extends FunctionInterest | InstructionInterest> {
  readonly policy: Policy;
  readonly interest: I;
}
export type FunctionWish = Wish<FunctionInterest>;
export type InstructionWish = Wish<InstructionInterest>;

/** All policies of a session as one: each is asked, the strictest answer holds. */
export class PolicyStack {
  readonly policies: readonly Policy[];
  readonly #onError: OnPolicyError;
  readonly #entry = new Map<number, Policy[]>();
  readonly #returns = new Map<number, Policy[]>();
  /** Those that looked at the memory of the event that was decided on last. */
  readonly #lookers: Policy[] = [];
  /** Constant rules that the kernel's filter decides. */
  readonly constantsInFilter: readonly ConstantRule[];
  /** Constant rules that came too late for the filter: they are decided when the call stops. */
  readonly constantsAtStop: readonly ConstantRule[];

  /** `filtered` are the constant rules that a filter already in force decides, when there is one. */
  constructor(
    policies: readonly Policy[],
    onError: OnPolicyError = () => {},
    filtered?: readonly ConstantRule[],
  ) {
    this.policies = policies;
    this.#onError = onError;
    this.constantsInFilter = filtered ?? this.constants;
    const known = new Set(filtered?.map(ruleKey));
    this.constantsAtStop = filtered ? this.constants.filter((rule) => !known.has(ruleKey(rule))) : [];
    for (const rule of this.constantsAtStop) {
      const policy = policies.find((p) => p.subscription.constants.includes(rule))!;
      push(this.#entry, rule.nr, policyOfRule(policy, rule));
    }
    for (const policy of policies) {
      for (const [nr, interest] of policy.subscription.calls) {
        if (interest.entry) push(this.#entry, nr, policy);
        if (interest.returns) push(this.#returns, nr, policy);
      }
    }
  }

  /** What all policies together want of each call, with the constant rules that no filter decides. */
  interests(): Map<number, Interest> {
    const merged = new Map<number, Interest>();
    const add = (nr: number, interest: Interest) => {
      const known = merged.get(nr);
      merged.set(nr, known ? join(known, interest) : interest);
    };
    for (const policy of this.policies)
      for (const [nr, interest] of policy.subscription.calls) add(nr, interest);
    for (const { nr, tests } of this.constantsAtStop)
      add(nr, {
        entry: true,
        returns: false,
        actions: new Set<Action>(["deny", "kill"]),
        ...(tests.length > 0 && { when: [tests] }),
      });
    return merged;
  }

  /** Nobody wants this call but what comes with every session. */
  isBuiltIn(nr: number): boolean {
    return this.policies.every(({ builtIn, subscription }) => builtIn || !subscription.calls.has(nr));
  }

  get functions(): readonly FunctionWish[] {
    return this.policies.flatMap((policy) =>
      (policy.subscription.functions ?? []).map((interest) => ({ policy, interest })),
    );
  }

  get instructions(): readonly InstructionWish[] {
    return this.policies.flatMap((policy) =>
      (policy.subscription.instructions ?? []).map((interest) => ({ policy, interest })),
    );
  }

  get constants(): readonly ConstantRule[] {
    return this.policies.flatMap((policy) => policy.subscription.constants);
  }

  wantsEntry(nr: number): boolean {
    return this.#entry.has(nr);
  }

  wantsReturn(nr: number): boolean {
    return this.#returns.has(nr);
  }

  /** Calls that somebody decides on. */
  calls(): number[] {
    return [...this.#entry.keys()];
  }

  /** What the answer to a call depends on, if all who are asked can say that. */
  settles(nr: number): Settling | undefined {
    const asked = this.#entry.get(nr);
    if (!asked || this.#returns.has(nr)) return undefined;
    const all = asked.map((policy) => policy.settles?.(nr));
    if (!all.every((one) => one !== undefined)) return undefined;
    return {
      patterns: all.flatMap(({ patterns }) => patterns),
      except: all.flatMap(({ except }) => except),
    };
  }

  /** Whether nobody needs to hear again of a call that was allowed and found nothing. */
  toldOnce(nr: number): boolean {
    const asked = this.#entry.get(nr);
    return asked?.every((policy) => policy.toldOnce?.(nr) === true) === true && !this.#returns.has(nr);
  }

  /**
   * Whether the last decision, which let the call happen, rests on memory that the kernel will read again. What comes with
   * every session does not count: see SECURITY.md for what root can do to it.
   */
  restsOnMemory(nr: number): boolean {
    return this.#lookers.some((policy) => !policy.builtIn && (policy.restsOnMemory?.(nr) ?? true));
  }

  /** What a policy changes the call into is judged by all the others too: a redirect must not lead past them. */
  decide(event: CallEvent): Decision {
    const asked = this.#entry.get(event.nr);
    const decision = this.#settle(asked, event, (policy) => policy.decide(event));
    if (decision.action !== "modify" || asked!.length < 2) return decision;
    return this.#judgeChange(event, decision, asked!);
  }

  #judgeChange(event: CallEvent, decision: Decision, asked: readonly Policy[]): Decision {
    const changed = changedEvent(event, decision.change!);
    const others = asked.filter(
      ({ name, version }) => name !== decision.policy || version !== decision.version,
    );
    if (!changed || others.length === 0) return decision;
    const theirs = this.#settle(others, changed, (policy) => policy.decide(changed));
    if (theirs.action === "allow") return decision;
    const where = `policy ${decision.policy} changes it to ${targetText(event, changed)}`;
    if (theirs.action === "deny" || theirs.action === "kill")
      return { ...theirs, reason: `${theirs.reason ?? "no reason given"} (${where})` };
    // A person would be asked about one call, and another be made; and two changes cannot be put together.
    const { policy, version, rule } = theirs;
    const reason = `policy ${policy} wants to ${theirs.action} what it becomes: ${where}`;
    return { ...deny(reason), policy, version, ...(rule !== undefined && { rule }) };
  }

  decideReturn(event: ReturnEvent): Decision {
    return this.#settle(this.#returns.get(event.nr), event, (policy) => policy.decideReturn(event));
  }

  /** What those who wanted this function say of its call, or of its return. */
  decideFunction(event: FunctionEvent, wishes: readonly FunctionWish[]): Decision {
    return this.#settleWishes(wishes, event.name, ({ policy, interest }) =>
      policy.decideFunction?.(event, interest),
    );
  }

  decideInstruction(event: InstructionEvent, wishes: readonly InstructionWish[]): Decision {
    return this.#settleWishes(wishes, event.name, ({ policy, interest }) =>
      policy.decideInstruction?.(event, interest),
    );
  }

  #settleWishes<W extends FunctionWish | InstructionWish>(
    wishes: readonly W[],
    name: string,
    askOne: (wish: W) => Verdict | undefined,
  ): Decision {
    let settled: Decision | undefined;
    let asked = wishes[0]!;
    try {
      for (const wish of wishes) {
        asked = wish;
        const { policy, interest } = wish;
        const answer = askOne(wish);
        if (answer === undefined) continue;
        if (answer.action !== "allow" && !interest.actions.has(answer.action))
          throw undeclared(answer.action);
        const decision = { ...answer, policy: policy.name, version: policy.version };
        settled = stricterOf(settled, decision, () => [settled!.policy, policy.name, name]);
      }
    } catch (cause) {
      return this.#failed(asked.policy, name, cause as Error);
    }
    return settled ?? PASS;
  }

  #settle(
    policies: Policy[] | undefined,
    event: CallEvent,
    askOne: (policy: Policy) => Verdict | undefined,
  ): Decision {
    if (!policies) return PASS;
    let settled: Decision | undefined;
    let asked = policies[0]!;
    this.#lookers.length = 0;
    try {
      for (const policy of policies) {
        // What HERMES does in the program's place is not done for a call that is refused.
        if (policy.builtIn && settled && REFUSES.has(settled.action)) continue;
        asked = policy;
        const before = event.looks;
        const answer = askOne(policy);
        if (event.looks !== before) this.#lookers.push(policy);
        if (answer === undefined) continue;
        checkDeclared(policy, event.nr, answer.action);
        const decision = { ...answer, policy: policy.name, version: policy.version };
        settled = stricterOf(settled, decision, () => [settled!.policy, policy.name, event.name]);
      }
    } catch (cause) {
      return this.#failed(asked, event.name, cause as Error);
    }
    return settled ?? PASS;
  }

  /** A policy that fails has not allowed anything. */
  #failed(policy: Policy, event: string, cause: Error): Decision {
    const where = policy.locate?.(cause) ?? policy.file ?? policy.name;
    const error =
      cause instanceof HermesError && cause.code === "CONFLICT"
        ? cause
        : new HermesError(
            "POLICY_THREW",
            { policy: policy.name, event, where, message: messageOf(cause) },
            { cause },
          );
    this.#onError(error);
    return { ...deny(error.message), rule: "policy-error", policy: policy.name, version: policy.version };
  }
}

const REFUSES: ReadonlySet<Decision["action"]> = new Set(["deny", "kill"]);

function ruleKey({ nr, tests, action, errno }: ConstantRule): string {
  return JSON.stringify([nr, tests, action, errno], (_, value) =>
    typeof value === "bigint" ? `${value}n` : value,
  );
}

/** A constant rule as a policy that decides on one call. */
function policyOfRule(policy: Policy, rule: ConstantRule): Policy {
  const actions: ReadonlySet<Action> = new Set<Action>(["deny", "kill"]);
  const verdict: Verdict = {
    ...(rule.action === "kill" ? kill(rule.reason) : deny(rule.reason, rule.errno)),
    rule: rule.id,
  };
  return {
    name: policy.name,
    version: policy.version,
    subscription: { calls: new Map([[rule.nr, { entry: true, returns: false, actions }]]), constants: [] },
    decide: (event) =>
      rule.tests.every((test) => holds(test, event.argument(test.arg))) ? verdict : undefined,
    decideReturn: () => undefined,
  };
}

function push(map: Map<number, Policy[]>, nr: number, policy: Policy): void {
  map.set(nr, [...(map.get(nr) ?? []), policy]);
}

function join(a: Interest, b: Interest): Interest {
  return {
    entry: a.entry || b.entry,
    returns: a.returns || b.returns,
    actions: new Set<Action>([...a.actions, ...b.actions]),
    ...(a.when && b.when && { when: [...a.when, ...b.when] }),
    ...((a.inside || b.inside) && { inside: true as const }),
    ...((a.named || b.named) && { named: true }),
  };
}

function checkDeclared(policy: Policy, nr: number, action: Action): void {
  if (action !== "allow" && !policy.subscription.calls.get(nr)!.actions.has(action)) throw undeclared(action);
}

function undeclared(action: Action): TypeError {
  return new TypeError(`it answered ${action}, which is not among the actions that it declared`);
}

function messageOf(cause: unknown): string {
  return cause instanceof Error
    ? `${cause.name === "Error" ? "" : `${cause.name}: `}${cause.message}`
    : String(cause);
}
