import { resolve } from "node:path";
import type { Syscall } from "../abi/index.js";
import { type DoorPlan, unserved } from "../kernel/doors/door-plan.js";
import type { Fence } from "../kernel/fence/fence.js";
import { HermesError } from "../nouns/errors.js";
import { namesFunction } from "../policy/function-pattern.js";
import { trapsCounter } from "../policy/instruction-pattern.js";
import { loadPolicies } from "../policy/load.js";
import type { ConstantRule, Policy } from "../policy/policy.js";
import { PolicyStack } from "../policy/stack.js";
import { withUnseen } from "./attach.js";
import { changeView } from "./change-view.js";
import { codeLoadPolicy, usesStacks } from "./code-watch.js";
import { newCodePolicy } from "./instrument/new-code.js";
import type { TscSetting } from "./instrument/tsc-setting.js";
import { needsInstrument } from "./make-instrument.js";
import { observerPolicy } from "./observed-functions.js";
import type { PolicyName, SessionOptions } from "./options.js";
import { filesToProtect, notWorthStops } from "./protected-files.js";
import { checkRequired } from "./required-protections.js";
import { selfDefence } from "./self-defence.js";
import type { RuleName } from "./summary.js";

interface PolicyHost {
  readonly fence: Fence;
  /** Calls that policies to come may want. */
  readonly live: readonly Syscall[];
  readonly setting: TscSetting;
  /** Sees how programs trace each other (traced-execs.ts). */
  readonly tracedExecs: Policy;
  /** A policy failed: said once, and again in the summary. */
  problem(text: string): void;
  /** Said at once. */
  tell(text: string): void;
}

/** The policies that decide: the user's, and those by which HERMES defends itself. A reload replaces them all at once. */
export class PoliciesInForce {
  readonly #options: SessionOptions;
  readonly #host: PolicyHost;
  #policies: readonly Policy[];
  /** Files that the program must not change. */
  #kept: readonly string[];
  /** As it was at the start: the filter is made for it. */
  readonly #notWorthStops: readonly string[];
  /** Constant rules that the program's filter decides, which cannot be taken back. */
  readonly #filtered: readonly ConstantRule[];
  /** How often other policies took over. */
  reloads = 0;
  readonly stack: PolicyStack;
  /** Whether functions or instructions may be wanted. The filter cannot be widened later, so this stays as it is. */
  readonly looksInside: boolean;
  /** Whether code that the program maps or changes must be noticed. */
  readonly watchesCode: boolean;
  onCode: () => void = () => {};

  constructor(options: SessionOptions, policies: readonly Policy[], host: PolicyHost) {
    this.#options = options;
    this.#policies = policies;
    this.#host = host;
    this.#notWorthStops = notWorthStops(options);
    const named = [...(options.live ?? []), ...(options.trace?.functions ?? [])];
    const looks = options.fast === true || options.coverage !== undefined || named.some(namesFunction);
    this.looksInside = looks || policies.some(needsInstrument);
    this.watchesCode = this.looksInside || options.trace?.stack !== undefined || usesStacks(policies);
    this.#kept = filesToProtect(options, policies);
    this.stack = this.#stackOf(policies, this.#kept);
    this.#filtered = this.stack.constantsInFilter;
    checkRequired(options, policies);
  }

  get policies(): readonly Policy[] {
    return this.#policies;
  }

  get names(): readonly PolicyName[] {
    return this.#policies.map(({ name, version, file }) => ({
      name,
      version,
      ...(file !== undefined && { file }),
    }));
  }

  /** Rules that change what happens. */
  get changing(): readonly RuleName[] {
    return this.#policies.flatMap(({ name, changing = [] }) =>
      changing.map((rule) => ({ policy: name, rule })),
    );
  }

  /** Files that are watched: of the policies, those they were asked for by, and those that a view hides. */
  get files(): readonly string[] {
    const named = this.#options.policies.map((path) => resolve(path));
    const hidden = this.#host.fence.view?.watched ?? [];
    return [...new Set([...named, ...this.#policies.flatMap((policy) => policy.files ?? []), ...hidden])];
  }

  /** `kept` are the files that the program must not change. */
  #stackOf(
    policies: readonly Policy[],
    kept: readonly string[],
    filtered?: readonly ConstantRule[],
  ): PolicyStack {
    const { trace, attach, fast } = this.#options;
    const onError = (error: HermesError) => this.#host.problem(error.message);
    const { confinedTo, level } = this.#host.fence;
    const isFree = policies.length === 0 && level !== "strict";
    const lasting = attach !== undefined;
    const files = { files: kept, notWorthStops: this.#notWorthStops };
    const own = [selfDefence({ ...files, policies, isFree, confinedTo, lasting })];
    if (policies.some((policy) => trapsCounter(policy.subscription))) own.push(this.#host.setting.policy);
    if (this.watchesCode) own.push(codeLoadPolicy(() => this.onCode()));
    if (this.looksInside) own.push(newCodePolicy());
    if (trace?.functions && !fast) own.push(observerPolicy(trace.functions));
    const stops = [...policies, ...own].some(({ subscription }) => subscription.calls.size > 0);
    // Also where no rule is on exec: one may come with a reload.
    if (!lasting && stops && this.#options.door !== "trace") own.push(this.#host.tracedExecs);
    const all = [...policies, ...own];
    if (!attach) return new PolicyStack(all, onError, filtered);
    return new PolicyStack(withUnseen(all, this.#host.live, new PolicyStack(all)), onError, []);
  }

  /**
   * The stack that defends the policies' files as they are found now: a link on the way to one may lead elsewhere since,
   * also where what it leads to is broken. Undefined where nothing has changed. Throws where the running program's filter
   * cannot defend them: the program may change them, so they must not be loaded.
   */
  keepAnew(doorPlan: DoorPlan): PolicyStack | undefined {
    const kept = filesToProtect(this.#options, this.#policies);
    if (kept.join("\0") === this.#kept.join("\0")) return undefined;
    const stack = this.#stackOf(this.#policies, kept, this.#filtered);
    checkServed(doorPlan, stack);
    this.#kept = kept;
    return stack;
  }

  /**
   * Loads the policy files anew. Returns the stack that is to decide from now on, or undefined where nothing has changed.
   * Throws, and the policies in force stay, where one is broken or wants more than the running program's filter and fence
   * can give.
   */
  async reload(doorPlan: DoorPlan): Promise<PolicyStack | undefined> {
    const { policies, cwd, workspace, allowances, required } = this.#options;
    const inline = this.#policies.filter((policy) => policy.file === undefined);
    const surroundings = { previous: this.#policies, cwd, workspace, allowances, required };
    const next = [...(await loadPolicies(policies, surroundings)), ...inline];
    if (next.every((policy, i) => policy.version === this.#policies[i]?.version)) {
      this.#host.fence.view?.refresh(changeView);
      return undefined;
    }
    checkRequired(this.#options, next);
    checkFence(this.#host.fence, this.#policies, next);
    if (next.some(needsInstrument) && !this.looksInside)
      throw new HermesError("UNAVAILABLE", {
        what: "to see functions or instructions of the program",
        why: "the run was started without; start it with such a policy, or with --live 'libc!*'",
      });
    const kept = filesToProtect(this.#options, next);
    const adopted = this.#host.fence.view?.adopt(next);
    const held = adopted?.policies ?? next;
    const stack = this.#stackOf(held, kept, this.#filtered);
    const limited = checkServed(doorPlan, stack);
    adopted?.hold(changeView);
    const stuck = this.#filtered.filter(({ id }) => !stack.constants.some((rule) => rule.id === id));
    if (stuck.length > 0)
      this.#host.tell(
        `rules decided in the kernel's filter stay in force for this run: ${stuck.map((r) => r.id).join(", ")}`,
      );
    if (limited.length > 0)
      this.#host.tell(
        `the new policies decide; answers that change ${some(limited)} refuse the call in this run, because it was started for decisions alone (--live: for any answer)`,
      );
    this.#policies = held;
    this.#kept = kept;
    this.reloads++;
    return stack;
  }
}

function checkFence(fence: Fence, before: readonly Policy[], next: readonly Policy[]): void {
  const asked = (list: readonly Policy[]) => JSON.stringify(list.flatMap((policy) => policy.fence ?? []));
  if (asked(next) !== asked(before))
    throw new HermesError("UNAVAILABLE", {
      what: "another fence",
      why: "the fence around a running program stays as it is; start the run anew",
    });
  if (!fence.holds(next))
    throw new HermesError("UNAVAILABLE", {
      what: "to permit more files or ports",
      why: "the strict fence was made of what the policies permitted when the run started",
    });
}

/** Returns the calls that can only be decided, for policies that do not say which answers they may give. */
function checkServed(doorPlan: DoorPlan, stack: PolicyStack): readonly string[] {
  const { unstopped, unchangeable, limited } = unserved(doorPlan, stack);
  const stop = unstopped.length > 0 ? [`to stop ${some(unstopped)}`] : [];
  const change = unchangeable.length > 0 ? [`to change or to see the result of ${some(unchangeable)}`] : [];
  if (stop.length + change.length === 0) return limited;
  throw new HermesError("UNAVAILABLE", {
    what: [...stop, ...change].join(", and "),
    why: "the filter of a running program can only be tightened; start the run with --live, or with this policy",
  });
}

const some = (calls: readonly string[]) => `${calls.slice(0, 8).join(", ")}${calls.length > 8 ? " …" : ""}`;
