import { formatAddress } from "../../nouns/address.js";
import type { HermesError } from "../../nouns/errors.js";
import type { CallEvent, ReturnEvent } from "../../nouns/event.js";
import type { Decision } from "../../nouns/verdict.js";
import { type FunctionPattern, matchesFunction, matchesModule } from "../../policy/function-pattern.js";
import type { FunctionSubscription, Policy } from "../../policy/policy.js";
import { PolicyStack } from "../../policy/stack.js";
import type { Occurrence } from "./read.js";
import type { RecordedFunction } from "./recorded-function.js";

/** What one kind of event met. */
export interface SimulatedOutcome {
  /** What happened, in a few words: `openat /etc/passwd`. */
  readonly event: string;
  readonly decision: Decision;
  /** With an older policy to compare with: what that one decides. */
  readonly before?: Decision;
  count: number;
}

interface Simulation {
  readonly events: number;
  /** Decisions other than allow, or only what changes when there is something to compare with. */
  readonly outcomes: readonly SimulatedOutcome[];
  readonly problems: readonly string[];
}

const MAX_OUTCOMES = 100_000;

/** Has policies decide on recorded events. Needs no kernel: it runs wherever Node runs. */
export class Simulator {
  readonly #stack: PolicyStack;
  readonly #against: PolicyStack | undefined;
  readonly #outcomes = new Map<string, SimulatedOutcome>();
  readonly #problems: string[] = [];
  #events = 0;

  constructor(policies: readonly Policy[], against?: readonly Policy[]) {
    const onError = (error: HermesError) => {
      if (this.#problems.length < 50 && !this.#problems.includes(error.message))
        this.#problems.push(error.message);
    };
    // No filter is in force here: rules on constants are decided like all others.
    this.#stack = new PolicyStack(policies, onError, []);
    this.#against = against && new PolicyStack(against, onError, []);
  }

  take(occurrence: Occurrence): void {
    this.#events++;
    if ("call" in occurrence) this.#takeFunction(occurrence.call, occurrence.returned);
    else this.#takeCall(occurrence.event, occurrence.returned);
  }

  #takeFunction(call: RecordedFunction, returned: RecordedFunction | undefined): void {
    const text = `${call.name} ${Object.values(call.args).map(shortly).join(", ")}`;
    const decide = (stack: PolicyStack, event: RecordedFunction, when: "entry" | "returns") => {
      const subscribers = stack.functions.filter(
        ({ subscription }) => subscription[when] && means(subscription, event),
      );
      return subscribers.length > 0 ? stack.decideFunction(event, subscribers) : ALLOW;
    };
    this.#outcome(
      text,
      decide(this.#stack, call, "entry"),
      this.#against && decide(this.#against, call, "entry"),
    );
    if (returned)
      this.#outcome(
        `return of ${text}`,
        decide(this.#stack, returned, "returns"),
        this.#against && decide(this.#against, returned, "returns"),
      );
  }

  #takeCall(event: CallEvent, returned: ReturnEvent | undefined): void {
    this.#note(event, this.#stack.decide(event), this.#against?.decide(event));
    if (returned && this.#wantsReturn(event.nr))
      this.#note(returned, this.#stack.decideReturn(returned), this.#against?.decideReturn(returned));
  }

  #wantsReturn(nr: number): boolean {
    return this.#stack.wantsReturn(nr) || (this.#against?.wantsReturn(nr) ?? false);
  }

  #note(event: CallEvent, decision: Decision, before: Decision | undefined): void {
    this.#outcome(() => describe(event), decision, before);
  }

  #outcome(event: string | (() => string), decision: Decision, before: Decision | undefined): void {
    if (before ? same(before, decision) : decision.action === "allow") return;
    const text = typeof event === "string" ? event : event();
    const key = `${text}\0${verdictKey(decision)}\0${before ? verdictKey(before) : ""}`;
    const known = this.#outcomes.get(key);
    if (known) known.count++;
    else if (this.#outcomes.size < MAX_OUTCOMES)
      this.#outcomes.set(key, { event: text, decision, ...(before && { before }), count: 1 });
  }

  result(): Simulation {
    const outcomes = [...this.#outcomes.values()].sort((a, b) => b.count - a.count);
    return { events: this.#events, outcomes, problems: this.#problems };
  }
}

const ALLOW: Decision = Object.freeze({ action: "allow", policy: "", version: "" });

function means({ pattern, except = [] }: FunctionSubscription, event: RecordedFunction): boolean {
  const fits = (each: FunctionPattern) =>
    matchesModule(each, event.module, event.isMain) &&
    matchesFunction(each, event.symbol, Number(event.address));
  return fits(pattern) && !except.some(fits);
}

function shortly(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 64));
  return typeof value === "object" && value !== null ? "{…}" : String(value);
}

const verdictKey = ({ action, policy, rule, reason }: Decision) =>
  [action, policy, rule ?? "", reason ?? ""].join("\u0001");
const same = (a: Decision, b: Decision) => a.action === b.action && a.errno === b.errno;

function describe(event: CallEvent): string {
  const what = event.argv?.join(" ") || event.paths.map((p) => p.path).join(" ");
  const detail = event.address ? formatAddress(event.address) : what || event.fd?.target;
  return `${event.kind === "return" ? "return of " : ""}${event.name}${detail ? ` ${detail}` : ""}`;
}
