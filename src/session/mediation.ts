import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type Syscall, signalName } from "../abi/index.js";
import { Questions, type QuestionsHost } from "../approval/questions.js";
import { type Arrangement, arrange, unserved } from "../doors/arrangement.js";
import { HermesError } from "../errors.js";
import type { Fence } from "../fence/fence.js";
import { CounterSetting } from "../instrument/counter-setting.js";
import { newCodePolicy } from "../instrument/new-code.js";
import { Vdso } from "../instrument/vdso.js";
import type { FenceOutcome } from "../kernel/fence-plan.js";
import { DOOR } from "../kernel/layout.js";
import { ATTACH } from "../kernel/native.js";
import { callsNamed } from "../policy/define.js";
import { namesFunction } from "../policy/function-pattern.js";
import { trapsCounter } from "../policy/instruction-pattern.js";
import { loadPolicies } from "../policy/load.js";
import type { ConstantRule, Policy } from "../policy/policy.js";
import { PolicyStack } from "../policy/stack.js";
import { ProcessTable } from "../process/table.js";
import { RECORDABLE } from "../ring/calls.js";
import { GATE } from "../ring/image.js";
import { Summary } from "../summary.js";
import { Activity } from "../trace/activity.js";
import { openTrace } from "../trace/open.js";
import type { TraceResult } from "../trace/options.js";
import type { Recorder } from "../trace/recorder.js";
import { attachable, type Footing, footing, withUnseen } from "./attach.js";
import { codeWatch, lookAtStacks } from "./code-watch.js";
import { Handler } from "./handler.js";
import { wantsInside } from "./inside.js";
import { filesToKeep } from "./kept.js";
import { lookAtThreads } from "./look-at-threads.js";
import type { Ticking } from "./loop.js";
import { makeFence } from "./make-fence.js";
import { observedFunctions, prototypeFiles } from "./observed.js";
import { Observers } from "./observers.js";
import type {
  Ending,
  PolicyName,
  Protections,
  SessionOptions,
  SessionResult,
  SessionStatus,
} from "./options.js";
import { recordedCalls } from "./recorded-calls.js";
import { checkRequired } from "./required.js";
import { selfDefence } from "./self-defence.js";
import type { Doorway } from "./supervisor.js";
import { VirtualFiles } from "./virtual-files.js";
import { waitStatus } from "./wait-status.js";

/** How often what the program records is read. */
const READ_MS = 5;
/** How many different troubles are told. */
const MAX_PROBLEMS = 50;

export interface MediationHost extends QuestionsHost {
  problem(text: string): void;
  /** The run must end: its trace cannot be written any more. */
  stop(): void;
}

/** The deciding half of a session: its policies, its records, its counts. It lives where the policies live. */
export class Mediation {
  readonly arrangement: Arrangement;
  readonly handler: Handler;
  readonly #options: SessionOptions;
  #policies: readonly Policy[];
  /** Names that the program must not change: keptFiles(). */
  #kept: readonly string[] = [];
  #reloads = 0;
  readonly #host: MediationHost;
  readonly #summary: Summary;
  readonly #activity = new Activity();
  readonly #recorder: Recorder | undefined;
  readonly #problems: string[] = [];
  readonly #filtered: readonly ConstantRule[];
  readonly #fence: Fence;
  /** Settled when the run starts: its filter cannot be widened later. */
  readonly #watchesCode: boolean;
  #onCode: () => void = () => {};
  readonly #live: readonly Syscall[];
  /** Where the program runs already: how we stand to it. */
  readonly #footing: Footing | undefined;
  readonly #hadNoNewPrivs: boolean;
  readonly #setting = new CounterSetting();
  readonly #questions: Questions | undefined;
  /** Functions or instructions are of interest. */
  readonly #looksInside: boolean;
  #traceError: HermesError | undefined;
  readonly #observers: Observers;
  #closed = false;

  constructor(
    options: SessionOptions,
    policies: readonly Policy[],
    memory: ArrayBufferLike,
    host: MediationHost,
  ) {
    this.#options = options;
    this.#policies = policies;
    this.#host = host;
    this.#summary = new Summary(options.deed !== undefined);
    const asked = [...(options.live ?? []), ...(options.trace?.functions ?? [])];
    const looks = options.fast === true || options.coverage !== undefined || asked.some(namesFunction);
    this.#looksInside = looks || policies.some(wantsInside);
    this.#watchesCode = this.#looksInside || options.trace?.stack !== undefined || lookAtStacks(policies);
    const calls = (options.live ?? []).filter((key) => !namesFunction(key));
    const live = calls.flatMap((key) => callsNamed("--live", key));
    this.#live = live;
    const target = options.attach && attachable(options.attach.pid);
    if (target && policies.some((policy) => trapsCounter(policy.subscription)))
      throw new HermesError("UNAVAILABLE", {
        what: "the time stamp counter",
        why: "it cannot be taken from a program that runs already; start it with hermes run",
      });
    const stack = this.#stackOf(policies);
    this.#filtered = stack.constantsInFilter;
    checkRequired(this.#options, policies);
    const virtualFiles = new VirtualFiles();
    this.#questions = options.ask && new Questions(host, options.ask.patience);
    this.#fence = makeFence(options, policies, virtualFiles);
    const recorded = recordedCalls(options);
    const always = this.#fence.constants;
    const gate = options.fast ? { from: GATE.from, to: GATE.to, calls: RECORDABLE } : undefined;
    this.#footing = target && footing(target, { stack, recorded, live, options, inside: this.#looksInside });
    this.#hadNoNewPrivs = target?.noNewPrivs ?? false;
    this.arrangement =
      this.#footing?.arrangement ??
      arrange({ stack, recorded, door: options.door, live, always, ...(gate && { gate }) });
    const kin = { attached: target?.pid, hasOwnNetwork: this.#fence.hasOwnNetwork };
    const processes = new ProcessTable((this.arrangement.doors & (1 << DOOR.trace)) !== 0, kin);
    processes.stacks.isWatched = this.#watchesCode && !target;
    this.#onCode = () => processes.stacks.codeChanged();
    if (target) lookAtThreads(target.pid, processes);
    if (target && this.arrangement.unhidden.size > 0)
      this.#problem(
        "the time is told without system calls: it is seen only in programs that start from now on",
      );
    this.#recorder = this.#openTrace(processes, recorded);
    this.handler = new Handler({
      memory,
      stack,
      processes,
      summary: this.#summary,
      virtualFiles,
      setting: this.#setting,
      ...(this.#questions && { questions: this.#questions }),
      ...(target && { attached: true }),
      ...(this.#footing && this.#footing.filter.length === 0 && { alone: true }),
      ...(this.arrangement.unhidden.size > 0 && { vdso: new Vdso(this.arrangement.unhidden) }),
      activity: this.#activity,
      inside: this.#looksInside,
      prototypes: prototypeFiles(options.prototypes, policies),
      ...(this.#recorder && { recorder: this.#recorder }),
      onProblem: (text) => this.#problem(text),
    });
    this.#summary.unasked = this.handler.settled;
    if (target) this.handler.inside?.attached(target.pid);
    this.#observers = new Observers(options, this.handler.inside, {
      arrangement: this.arrangement,
      processes,
      summary: this.#summary,
      recorder: this.#recorder,
      problem: (text) => this.#problem(text),
    });
  }

  /** The given policies, and the one by which HERMES defends itself. */
  #stackOf(policies: readonly Policy[], filtered?: readonly ConstantRule[]): PolicyStack {
    const { trace, attach } = this.#options;
    const onError = (error: HermesError) => this.#problem(error.message);
    this.#kept = filesToKeep(this.#options, policies);
    const own = [selfDefence({ files: this.#kept, policies, lasting: attach !== undefined })];
    if (policies.some((policy) => trapsCounter(policy.subscription))) own.push(this.#setting.policy);
    if (this.#watchesCode) own.push(codeWatch(() => this.#onCode()));
    if (this.#looksInside) own.push(newCodePolicy());
    if (trace?.functions && !this.#options.fast) own.push(observedFunctions(trace.functions));
    const all = [...policies, ...own];
    if (!attach) return new PolicyStack(all, onError, filtered);
    return new PolicyStack(withUnseen(all, this.#live, new PolicyStack(all)), onError, []);
  }

  /** A link on the way to a policy may lead elsewhere since, also where what it leads to is broken: that is kept now. */
  #keepAnew(): void {
    if (filesToKeep(this.#options, this.#policies).join("\0") === this.#kept.join("\0")) return;
    this.handler.replaceStack(this.#stackOf(this.#policies, this.#filtered));
  }

  /** Answers that were given for always. A broken file gives none, and why is told. */
  async loadApprovals(): Promise<void> {
    const { cwd, ask } = this.#options;
    if (ask?.approvals === undefined) return;
    const file = resolve(cwd ?? ".", ask.approvals);
    if (!existsSync(file)) return;
    try {
      const [approvals] = await loadPolicies([file], { cwd });
      this.#questions?.replaceApprovals(approvals);
    } catch (error) {
      this.#host.problem(`${(error as Error).message}; nothing is approved for always`);
    }
  }

  /** What the kernel side of the session needs to know. */
  get doorway(): Doorway {
    const { doors, filter, fetchPlan, actMark, trapsCounter: trapCounter } = this.arrangement;
    const { plan, env } = this.#fence;
    const noNewPrivs = this.#noNewPrivs;
    const signals = this.handler.inside?.sites.signals ?? 0n;
    const { flags = 0, stops, note, keeper = 0 } = this.#footing ?? {};
    const attach = stops && note && { attach: { flags, stops, note, keeper } };
    return {
      doors,
      filter,
      fetchPlan,
      actMark,
      signals,
      births: this.#observers.births,
      fence: plan,
      env,
      noNewPrivs,
      trapCounter,
      ...attach,
      settled: this.handler.settled?.file,
    };
  }

  /** What threads of the program write is read also while none of them stops. */
  get ticking(): Ticking | undefined {
    return this.#observers.births ? { every: READ_MS, tick: () => this.#observers.drain() } : undefined;
  }

  /** Without the right to administer the machine, a filter needs it; with it, only the fence does. */
  get #noNewPrivs(): boolean {
    if (this.#footing) return this.#hadNoNewPrivs || (this.#footing.flags & ATTACH.noNewPrivs) !== 0;
    return this.#fence.noNewPrivs || process.getuid?.() !== 0;
  }

  #openTrace(processes: ProcessTable, observed: readonly Syscall[]): Recorder | undefined {
    const { trace, command, cwd, env } = this.#options;
    if (!trace) return undefined;
    return openTrace(trace, {
      command,
      cwd,
      home: env.HOME,
      policies: this.#policies.map(({ name, version }) => ({ name, version })),
      processes,
      observed: new Set(observed.map((call) => call.nr)),
      ...(trace.stack && {
        stacks: new Set(trace.stack.flatMap((key) => callsNamed("--stack", key)).map(({ nr }) => nr)),
      }),
      onError: (error) => this.#traceFailed(error),
    });
  }

  #traceFailed(error: HermesError): void {
    this.#traceError = error;
    if (this.#options.trace?.onError === "continue")
      this.#problem(`${error.message}; the run goes on, and its end says what was not recorded`);
    else this.#host.stop();
  }

  get policies(): readonly PolicyName[] {
    return this.#policies.map(({ name, version, file }) => ({
      name,
      version,
      ...(file !== undefined && { file }),
    }));
  }

  /** Every file that the policies were made of, and those they were asked for by. */
  get files(): readonly string[] {
    const named = this.#options.policies.map((path) => resolve(path));
    return [...new Set([...named, ...this.#policies.flatMap((policy) => policy.files ?? [])])];
  }

  /**
   * Loads the policy files anew and puts all policies in force at once, between two events. When any of them is broken
   * or wants more than the filter in force can give, those in force stay, and why is told.
   */
  async reload(): Promise<boolean> {
    this.#keepAnew();
    await this.loadApprovals();
    const inline = this.#policies.filter((policy) => policy.file === undefined);
    try {
      const loaded = await loadPolicies(this.#options.policies, {
        previous: this.#policies,
        cwd: this.#options.cwd,
      });
      const next = [...loaded, ...inline];
      if (next.every((policy, i) => policy.version === this.#policies[i]?.version)) return false;
      this.#replace(next);
      return true;
    } catch (error) {
      this.#host.problem(`${(error as Error).message}; the policies in force stay`);
      return false;
    }
  }

  #replace(policies: readonly Policy[]): void {
    checkRequired(this.#options, policies);
    const asked = (list: readonly Policy[]) => JSON.stringify(list.flatMap(({ fence }) => fence ?? []));
    if (asked(policies) !== asked(this.#policies))
      throw new HermesError("UNAVAILABLE", {
        what: "another fence",
        why: "the fence around a running program stays as it is; start the run anew",
      });
    if (!this.#fence.holds(policies))
      throw new HermesError("UNAVAILABLE", {
        what: "to permit more files or ports",
        why: "the strict fence was made of what the policies permitted when the run started",
      });
    const stack = this.#stackOf(policies, this.#filtered);
    if (policies.some(wantsInside) && !this.#looksInside)
      throw new HermesError("UNAVAILABLE", {
        what: "to see functions or instructions of the program",
        why: "the run was started without; start it with such a policy, or with --live 'libc!*'",
      });
    const missing = unserved(this.arrangement, stack);
    if (missing.length > 0)
      throw new HermesError("UNAVAILABLE", {
        what: `to stop ${missing.slice(0, 8).join(", ")}${missing.length > 8 ? " …" : ""} (or to change what was only decided)`,
        why: "the filter of a running program can only be tightened; start the run with --live",
      });
    const stuck = this.#filtered.filter(({ id }) => !stack.constants.some((rule) => rule.id === id));
    if (stuck.length > 0)
      this.#host.problem(
        `rules decided in the kernel's filter stay in force for this run: ${stuck.map((r) => r.id).join(", ")}`,
      );
    this.#policies = policies;
    this.#reloads++;
    this.handler.replaceStack(stack);
    this.#recorder?.setVersion(policies);
    this.#recorder?.note({ kind: "policies", time: Date.now() / 1000, policies: this.policies });
  }

  #problem(text: string): void {
    if (this.#problems.length >= MAX_PROBLEMS || this.#problems.includes(text)) return;
    this.#problems.push(text);
    this.#host.problem(text);
  }

  /** Ends the records and says how it went. Throws when the run was stopped for want of a trace. */
  finish(pid: number, ending: Ending, outcome: FenceOutcome): SessionResult {
    const { code, signal } = typeof ending === "number" ? waitStatus(ending) : { code: 0 };
    const exitCode = code ?? 128 + signal!;
    if (ending === "unknown") this.#problem("the program has ended; how, the kernel does not say");
    this.#recorder?.note({ kind: "end", time: Date.now() / 1000, exitCode });
    for (const text of this.#fence.problems) this.#problem(text);
    for (const pattern of this.handler.inside?.neverFound ?? [])
      this.#problem(`${pattern}: no function of that name was in anything that ran`);
    const observed = this.#observers.report();
    this.close();
    if (this.#traceError && this.#options.trace?.onError === "stop") throw this.#traceError;
    return {
      exitCode,
      ...(signal !== undefined && { signal: signalName(signal) ?? String(signal) }),
      ...(ending === "detached" && { detached: true }),
      pid,
      summary: this.#summary.report(),
      protections: this.#protections(outcome),
      policies: this.policies,
      reloads: this.#reloads,
      ...this.#traceResult(),
      ...observed,
      problems: this.#problems,
    };
  }

  /** How it is going. */
  status(): SessionStatus {
    this.handler.settled?.suspend(); // somebody looks on: every call counts
    return {
      summary: this.#summary.report(),
      activity: this.#activity.look(),
      policies: this.policies,
      reloads: this.#reloads,
      doors: this.#doors(),
      ...this.#traceResult(),
    };
  }

  /** What is recorded goes to the trace now, although it does not fill a block. */
  flushTrace(): void {
    this.#recorder?.flush();
  }

  #doors(): string[] {
    return (["notify", "trace"] as const).filter((name) => this.arrangement.doors & (1 << DOOR[name]));
  }

  #traceResult(): { trace?: TraceResult } {
    const { trace } = this.#options;
    if (!trace || !this.#recorder) return {};
    const { records, lost } = this.#recorder.writer;
    const complete = lost.observations === 0 && lost.decisions === 0 && this.#observers.lost === 0;
    return { trace: { file: trace.file, records, complete, lost } };
  }

  /** Gives back what the session had. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.handler.close();
    this.#fence.close();
  }

  #protections(outcome: FenceOutcome): Protections {
    const { level, inForce, missing } = this.#fence.report(outcome);
    const { program, refusesIoUring } = this.arrangement;
    return {
      doors: this.#doors(),
      filterInstructions: program.length,
      constantRules: this.#footing
        ? 0
        : this.#policies.reduce((sum, policy) => sum + policy.subscription.constants.length, 0),
      noNewPrivs: this.#noNewPrivs,
      ioUring: refusesIoUring ? "refused" : "allowed",
      fence: level,
      inForce,
      missing,
      ...(this.#footing && { attached: this.#footing.way }),
      ...this.handler.inside?.found,
    };
  }
}
