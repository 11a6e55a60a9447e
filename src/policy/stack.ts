import { HermesError } from "../nouns/errors.js";
import type { CallEvent, FunctionEvent, InstructionEvent, ReturnEvent } from "../nouns/event.js";
import {
  type Decision,
  deny,
  kill,
  POLICY_ERROR,
  type Verdict,
  type VerdictAction,
} from "../nouns/verdict.js";
import { changedEvent, changeText } from "./changed-call.js";
import { stricterVerdict } from "./check-verdict.js";
import { constantTestHolds } from "./constant-test.js";
import type {
  CacheScope,
  CallSubscription,
  ConstantRule,
  FunctionSubscription,
  InstructionSubscription,
  Policy,
} from "./policy.js";

const PASS: Decision = Object.freeze({ action: "allow", policy: "", version: "" });

/** Called once per distinct failure; the event itself is denied. */
type OnPolicyError = (error: HermesError) => void;

/** An interest in calls, or in what happens inside the program, and whose it is. */
interface Subscriber<I extends CallSubscription | FunctionSubscription | InstructionSubscription> {
  readonly policy: Policy;
  readonly subscription: I;
}
type CallSubscriber = Subscriber<CallSubscription>;
export type FunctionSubscriber = Subscriber<FunctionSubscription>;
export type InstructionSubscriber = Subscriber<InstructionSubscription>;

/** All policies of a session as one: each decides, and the strictest verdict wins. */
export class PolicyStack {
  readonly policies: readonly Policy[];
  readonly #onError: OnPolicyError;
  readonly #entry = new Map<number, CallSubscriber[]>();
  readonly #returns = new Map<number, CallSubscriber[]>();
  #merged: ReadonlyMap<number, CallSubscription> | undefined;
  /** Those that looked at the memory of the event that was decided on last. */
  readonly #lookers: Policy[] = [];
  /** Constant rules that the kernel's filter decides. */
  readonly constantsInFilter: readonly ConstantRule[];
  /** Constant rules that came too late for the filter: they are decided at the stop. */
  readonly constantsAtStop: readonly ConstantRule[];

  /** `filtered` are the constant rules that an installed filter already decides. */
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
      push(this.#entry, rule.nr, wishOfRule(policy, rule));
    }
    for (const policy of policies) {
      for (const [nr, subscription] of policy.subscription.calls) {
        if (subscription.entry) push(this.#entry, nr, { policy, subscription });
        if (subscription.returns) push(this.#returns, nr, { policy, subscription });
      }
    }
  }

  /**
   * The combined subscriptions of all policies to each call, with the constant rules that no filter decides.
   */
  subscriptions(): ReadonlyMap<number, CallSubscription> {
    this.#merged ??= this.#merge();
    return this.#merged;
  }

  #merge(): ReadonlyMap<number, CallSubscription> {
    const merged = new Map<number, CallSubscription>();
    const add = (nr: number, subscription: CallSubscription) => {
      const known = merged.get(nr);
      merged.set(nr, known ? join(known, subscription) : subscription);
    };
    for (const policy of this.policies)
      for (const [nr, subscription] of policy.subscription.calls) add(nr, subscription);
    for (const { nr, tests } of this.constantsAtStop)
      add(nr, {
        entry: true,
        returns: false,
        actions: new Set<VerdictAction>(["deny", "kill"]),
        ...(tests.length > 0 && { when: [tests] }),
      });
    return merged;
  }

  /** Only built-in policies subscribe to this call. */
  isBuiltIn(nr: number): boolean {
    return this.policies.every(({ builtIn, subscription }) => builtIn || !subscription.calls.has(nr));
  }

  get functions(): readonly FunctionSubscriber[] {
    return this.policies.flatMap((policy) =>
      (policy.subscription.functions ?? []).map((subscription) => ({ policy, subscription })),
    );
  }

  get instructions(): readonly InstructionSubscriber[] {
    return this.policies.flatMap((policy) =>
      (policy.subscription.instructions ?? []).map((subscription) => ({ policy, subscription })),
    );
  }

  get constants(): readonly ConstantRule[] {
    return this.policies.flatMap((policy) => policy.subscription.constants);
  }

  /** Some policy of the user's may give another verdict on this call than to allow it. */
  mayRefuse(nr: number): boolean {
    const asked = this.#entry.get(nr) ?? [];
    return asked.some(
      ({ policy, subscription }) =>
        !policy.builtIn && [...subscription.actions].some((action) => action !== "allow"),
    );
  }

  wantsEntry(nr: number): boolean {
    return this.#entry.has(nr);
  }

  wantsReturn(nr: number): boolean {
    return this.#returns.has(nr);
  }

  /** Calls that some policy decides. */
  calls(): number[] {
    return [...this.#entry.keys()];
  }

  /** What the verdict on a call depends on, if all policies can tell. */
  cacheScope(nr: number): CacheScope | undefined {
    const asked = this.#entry.get(nr);
    if (!asked || this.#returns.has(nr)) return undefined;
    const all = asked.map(({ policy }) => policy.cacheScope?.(nr));
    if (!all.every((one) => one !== undefined)) return undefined;
    return {
      patterns: all.flatMap(({ patterns }) => patterns),
      except: all.flatMap(({ except }) => except),
    };
  }

  /** True when no policy needs to see a call again that was allowed and found nothing. */
  cachesMissing(nr: number): boolean {
    const asked = this.#entry.get(nr);
    return (
      asked?.every(({ policy }) => policy.cachesMissing?.(nr) === true) === true && !this.#returns.has(nr)
    );
  }

  /** True when all policies allow an exec again that they have allowed: of the same file, with the same words. */
  cachesExecs(nr: number): boolean {
    const asked = this.#entry.get(nr);
    return asked?.every(({ policy }) => policy.cachesExecs?.(nr) === true) === true && !this.#returns.has(nr);
  }

  /**
   * True when the last decision, which allowed the call, depends on memory that the kernel will read again.
   * Built-in policies do not count: see SECURITY.md for what root can do to them.
   */
  restsOnMemory(nr: number): boolean {
    return this.#lookers.some((policy) => !policy.builtIn && (policy.restsOnMemory?.(nr) ?? true));
  }

  /**
   * If a policy changes the call, all other policies judge the changed call too, so that a redirect cannot
   * bypass them.
   */
  decide(event: CallEvent): Decision {
    const asked = this.#entry.get(event.nr);
    const decision = this.#decideCall(asked, event, (policy) => policy.decide(event));
    const change = decision.onGrant ?? decision;
    if (change.action !== "modify" || asked!.length < 2) return decision;
    const judged = this.#judgeChange(event, change, asked!);
    return judged === change ? decision : judged;
  }

  #judgeChange(event: CallEvent, decision: Decision, asked: readonly CallSubscriber[]): Decision {
    const changed = changedEvent(event, decision.change!);
    const others = asked.filter(
      ({ policy }) => policy.name !== decision.policy || policy.version !== decision.version,
    );
    if (!changed || others.length === 0) return decision;
    const theirs = this.#decideCall(others, changed, (policy) => policy.decide(changed));
    if (theirs.action === "allow") return decision;
    const where = `policy ${decision.policy} changes it to ${changeText(event, changed)}`;
    if (theirs.action === "deny" || theirs.action === "kill")
      return { ...theirs, reason: `${theirs.reason ?? "no reason given"} (${where})` };
    // A person would be asked about one call, and another be made; and two changes cannot be put together.
    const { policy, version, rule } = theirs;
    const reason = `policy ${policy} wants to ${theirs.action} what it becomes: ${where}`;
    return { ...deny(reason), policy, version, ...(rule !== undefined && { rule }) };
  }

  decideReturn(event: ReturnEvent): Decision {
    return this.#decideCall(this.#returns.get(event.nr), event, (policy) => policy.decideReturn(event));
  }

  /** What those who wanted this function say of its call, or of its return. */
  decideFunction(event: FunctionEvent, subscribers: readonly FunctionSubscriber[]): Decision {
    return this.#strictest(subscribers, event.name, ({ policy, subscription }) =>
      policy.decideFunction?.(event, subscription),
    );
  }

  decideInstruction(event: InstructionEvent, subscribers: readonly InstructionSubscriber[]): Decision {
    return this.#strictest(subscribers, event.name, ({ policy, subscription }) =>
      policy.decideInstruction?.(event, subscription),
    );
  }

  /** Notes as well which policies looked at memory. */
  #decideCall(
    subscribers: readonly CallSubscriber[] | undefined,
    event: CallEvent,
    ask: (policy: Policy) => Verdict | undefined,
  ): Decision {
    if (!subscribers) return PASS;
    this.#lookers.length = 0;
    return this.#strictest(subscribers, event.name, ({ policy }) => {
      const before = event.looks;
      const answer = ask(policy);
      if (event.looks !== before) this.#lookers.push(policy);
      return answer;
    });
  }

  /** Asks each policy in turn. The strictest answer holds; a policy that fails denies. */
  #strictest<W extends CallSubscriber | FunctionSubscriber | InstructionSubscriber>(
    subscribers: readonly W[],
    name: string,
    ask: (subscriber: W) => Verdict | undefined,
  ): Decision {
    let strictest: Decision | undefined;
    /** The strictest answer but for those that ask: an approval does not lead past the other policies. */
    let unasked: Decision | undefined;
    let asked = subscribers[0]!;
    try {
      for (const subscriber of subscribers) {
        const { policy, subscription } = subscriber;
        // What HERMES does on behalf of the program is not done for a call that is refused.
        if (policy.builtIn && strictest && REFUSES.has(strictest.action)) continue;
        asked = subscriber;
        const answer = ask(subscriber);
        if (answer === undefined) continue;
        if (answer.action !== "allow" && !subscription.actions.has(answer.action))
          throw undeclared(answer.action);
        const decision = { ...answer, policy: policy.name, version: policy.version };
        strictest = stricterVerdict(strictest, decision, () => [strictest!.policy, policy.name, name]);
        if (decision.action !== "ask")
          unasked = stricterVerdict(unasked, decision, () => [unasked!.policy, policy.name, name]);
      }
    } catch (cause) {
      return this.#failed(asked.policy, name, cause as Error);
    }
    return strictest?.action === "ask" && unasked && unasked.action !== "allow"
      ? { ...strictest, onGrant: unasked }
      : (strictest ?? PASS);
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
    return { ...deny(error.message), rule: POLICY_ERROR, policy: policy.name, version: policy.version };
  }
}

const REFUSES: ReadonlySet<Decision["action"]> = new Set(["deny", "kill"]);

function ruleKey({ nr, tests, action, errno }: ConstantRule): string {
  return JSON.stringify([nr, tests, action, errno], (_, value) =>
    typeof value === "bigint" ? `${value}n` : value,
  );
}

/** A constant rule as a policy that decides on one call. */
function wishOfRule({ name, version }: Policy, rule: ConstantRule): CallSubscriber {
  const subscription = { entry: true, returns: false, actions: new Set<VerdictAction>(["deny", "kill"]) };
  const verdict: Verdict = {
    ...(rule.action === "kill" ? kill(rule.reason) : deny(rule.reason, rule.errno)),
    rule: rule.id,
  };
  const policy: Policy = {
    name,
    version,
    subscription: { calls: new Map([[rule.nr, subscription]]), constants: [] },
    decide: (event) =>
      rule.tests.every((test) => constantTestHolds(test, event.argument(test.arg))) ? verdict : undefined,
    decideReturn: () => undefined,
  };
  return { policy, subscription };
}

function push(map: Map<number, CallSubscriber[]>, nr: number, subscriber: CallSubscriber): void {
  map.set(nr, [...(map.get(nr) ?? []), subscriber]);
}

function join(a: CallSubscription, b: CallSubscription): CallSubscription {
  return {
    entry: a.entry || b.entry,
    returns: a.returns || b.returns,
    actions: new Set<VerdictAction>([...a.actions, ...b.actions]),
    ...(a.when && b.when && { when: [...a.when, ...b.when] }),
    ...((a.inside || b.inside) && { inside: true as const }),
    ...((a.named || b.named) && { named: true }),
  };
}

function undeclared(action: VerdictAction): TypeError {
  return new TypeError(`it answered ${action}, which is not among the actions that it declared`);
}

function messageOf(cause: unknown): string {
  return cause instanceof Error
    ? `${cause.name === "Error" ? "" : `${cause.name}: `}${cause.message}`
    : String(cause);
}
