import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type Syscall, signalName, syscallByName } from "../abi/index.js";
import type { FenceOutcome } from "../kernel/binding/fence-plan.js";
import { DOOR } from "../kernel/binding/layout.js";
import { ATTACH } from "../kernel/binding/native.js";
import { type DoorPlan, planDoors } from "../kernel/doors/door-plan.js";
import type { Fence } from "../kernel/fence/fence.js";
import { ProcessTable } from "../kernel/process/process-table.js";
import { HermesError } from "../nouns/errors.js";
import { SessionQuestions, type SessionQuestionsHost } from "../people/approval/questions.js";
import { callsNamed } from "../policy/define.js";
import { namesFunction } from "../policy/function-pattern.js";
import { trapsCounter } from "../policy/instruction-pattern.js";
import { loadPolicies } from "../policy/load.js";
import type { Policy } from "../policy/policy.js";
import { Activity } from "../record/trace/activity.js";
import { openTrace } from "../record/trace/open.js";
import type { TraceResult } from "../record/trace/options.js";
import type { Recorder } from "../record/trace/recorder.js";
import { type AttachMode, attachable, chooseAttachMode } from "./attach.js";
import { changeView } from "./change-view.js";
import { TscSetting } from "./instrument/tsc-setting.js";
import { Vdso } from "./instrument/vdso.js";
import type { PeriodicTask } from "./loop.js";
import { makeFence } from "./make-fence.js";
import { Mediator } from "./mediate.js";
import { prototypeFiles } from "./observed-functions.js";
import { Observers } from "./observers.js";
import type {
  Ending,
  PolicyName,
  Protections,
  SessionOptions,
  SessionResult,
  SessionStatus,
} from "./options.js";
import { PoliciesInForce } from "./policies-in-force.js";
import { readThreads } from "./read-threads.js";
import { recordedCalls } from "./recorded-calls.js";
import { type Refusal, RefusalLog } from "./refusal-log.js";
import { RECORDABLE } from "./ring/calls.js";
import { GATE } from "./ring/image.js";
import { sessionWorkspace } from "./session-workspace.js";
import { type DecidedCallCount, Summary } from "./summary.js";
import type { SupervisorPlan, SupervisorReport } from "./supervisor.js";
import { TracedExecs } from "./traced-execs.js";
import { VirtualFiles } from "./virtual-files.js";
import { waitStatus } from "./wait-status.js";

/** Calls that are verified by ptrace where a policy may refuse them. */
const EXECS = ["execve", "execveat"].map((name) => syscallByName(name)!.nr);

/** How often what the program records is read. */
const READ_MS = 5;
/** HERMES reports at most this many different problems. */
const MAX_PROBLEMS = 50;

interface MediationHost extends SessionQuestionsHost {
  problem(text: string): void;
  refused(refusal: Refusal): void;
  /** The run must end: its trace cannot be written any more. */
  stop(): void;
}

/** Entries of hermes.yaml become rules of policies that are data, and of those that belong to the user. */
function isFixed(name: string, policies: readonly Policy[], { required = [] }: SessionOptions): boolean {
  const known = policies.find((policy) => policy.name === name);
  const ofTools = known && known.file === undefined && (name === "tools" || name === "deed");
  return (
    !ofTools &&
    (!/\.ya?ml$/.test(known?.file ?? "") || required.some((path) => resolve(path) === known?.file))
  );
}

const REFUSING: ReadonlySet<string> = new Set(["deny", "kill", "ask"]);

/** The deciding half of a session: its policies, its records, its counts. It lives where the policies live. */
export class Mediation {
  readonly doorPlan: DoorPlan;
  readonly mediator: Mediator;
  readonly #processes: ProcessTable;
  readonly #options: SessionOptions;
  readonly #policies: PoliciesInForce;
  readonly #host: MediationHost;
  readonly #summary: Summary;
  readonly #activity = new Activity();
  readonly #recorder: Recorder | undefined;
  readonly #problems: string[] = [];
  readonly #fence: Fence;
  /** Where the program runs already: how we stand to it. */
  readonly #attachMode: AttachMode | undefined;
  readonly #hadNoNewPrivs: boolean;
  readonly #setting = new TscSetting();
  readonly #tracedExecs = new TracedExecs();
  readonly #questions: SessionQuestions | undefined;
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
    this.#host = host;
    this.#summary = new Summary(options.deed !== undefined || options.remember === true);
    this.#summary.isFixed = (policy) => isFixed(policy, policies, options);
    if (options.logRefusals)
      this.#summary.log = new RefusalLog(
        (refusal) => host.refused(refusal),
        sessionWorkspace(options).folder,
        this.#summary.isFixed,
      );
    const calls = (options.live ?? []).filter((key) => !namesFunction(key));
    const live = calls.flatMap((key) => callsNamed("--live", key));
    const target = options.attach && attachable(options.attach.pid);
    if (target && policies.some((policy) => trapsCounter(policy.subscription)))
      throw new HermesError("UNAVAILABLE", {
        what: "the time stamp counter",
        why: "it cannot be taken from a program that runs already; start it with hermes run",
      });
    const problem = (text: string) => this.#problem(text);
    const virtualFiles = new VirtualFiles();
    this.#fence = makeFence(options, policies, virtualFiles);
    this.#policies = new PoliciesInForce(options, this.#fence.view?.policies ?? policies, {
      fence: this.#fence,
      live,
      setting: this.#setting,
      tracedExecs: this.#tracedExecs.policy,
      problem,
      tell: (text) => host.problem(text),
    });
    const { stack, looksInside } = this.#policies;
    this.#questions = options.ask && new SessionQuestions(host, options.ask.patience);
    const recorded = recordedCalls(options);
    const always = this.#fence.constants;
    const gate = options.fast ? { from: GATE.from, to: GATE.to, calls: RECORDABLE } : undefined;
    this.#attachMode =
      target && chooseAttachMode(target, { stack, recorded, live, options, inside: looksInside });
    this.#hadNoNewPrivs = target?.noNewPrivs ?? false;
    this.doorPlan =
      this.#attachMode?.doorPlan ??
      planDoors({ stack, recorded, door: options.door, live, always, ...(gate && { gate }) });
    const kin = { attached: target?.pid, hasOwnNetwork: this.#fence.hasOwnNetwork };
    const processes = new ProcessTable((this.doorPlan.doors & (1 << DOOR.trace)) !== 0, kin);
    this.#processes = processes;
    processes.stacks.isWatched = this.#policies.watchesCode && !target;
    this.#policies.onCode = () => processes.stacks.codeChanged();
    if (target) readThreads(target.pid, processes);
    if (target && this.doorPlan.unhidden.size > 0)
      this.#problem(
        "the time is told without system calls: it is seen only in programs that start from now on",
      );
    this.#recorder = this.#openTrace(processes, recorded);
    this.mediator = new Mediator({
      memory,
      stack,
      processes,
      summary: this.#summary,
      virtualFiles,
      setting: this.#setting,
      ...(this.#questions && { questions: this.#questions }),
      ...(target && { attached: true }),
      tracedExecs: this.#tracedExecs,
      tracesExecs: !target && (this.doorPlan.doors & (1 << DOOR.trace)) === 0,
      ...(this.#attachMode && this.#attachMode.filter.length === 0 && { alone: true }),
      ...(this.doorPlan.unhidden.size > 0 && { vdso: new Vdso(this.doorPlan.unhidden) }),
      activity: this.#activity,
      inside: looksInside,
      prototypes: prototypeFiles(options.prototypes, policies),
      ...(this.#recorder && { recorder: this.#recorder }),
      onProblem: problem,
    });
    this.#summary.cachedCalls = this.mediator.verdictCache;
    if (target) this.mediator.inside?.attached(target.pid);
    this.#observers = new Observers(options, this.mediator.inside, {
      doorPlan: this.doorPlan,
      processes,
      summary: this.#summary,
      recorder: this.#recorder,
      problem,
    });
  }

  /** Loads the answers for always. From a broken file HERMES takes none, and reports why. */
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
  get doorway(): SupervisorPlan {
    const { doors, filter, fetchPlan, onBehalfMark, trapsCounter: trapCounter } = this.doorPlan;
    const { plan, env } = this.#fence;
    const noNewPrivs = this.#noNewPrivs;
    const signals = this.mediator.inside?.sites.signals ?? 0n;
    const { flags = 0, stops, note, keeper = 0 } = this.#attachMode ?? {};
    const attach = stops && note && { attach: { flags, stops, note, keeper } };
    return {
      doors,
      filter,
      fetchPlan,
      onBehalfMark,
      signals,
      births: this.#observers.births,
      traces: (doors & (1 << DOOR.trace)) !== 0 || EXECS.some((nr) => this.#policies.stack.mayRefuse(nr)),
      fence: plan,
      env,
      noNewPrivs,
      trapCounter,
      ...attach,
      verdictCache: this.mediator.verdictCache?.file,
    };
  }

  /** What threads of the program write is read also while none of them stops. */
  get ticking(): PeriodicTask | undefined {
    return this.#observers.births ? { every: READ_MS, tick: () => this.#observers.drain() } : undefined;
  }

  /** Without the right to administer the machine, a filter needs it; with it, only the fence does. */
  get #noNewPrivs(): boolean {
    if (this.#attachMode) return this.#hadNoNewPrivs || (this.#attachMode.flags & ATTACH.noNewPrivs) !== 0;
    return this.#fence.noNewPrivs || process.getuid?.() !== 0;
  }

  /** The program runs, or is attached to. */
  began(pid: number): void {
    this.#processes.began(pid);
  }

  #openTrace(processes: ProcessTable, observed: readonly Syscall[]): Recorder | undefined {
    const { trace, command, cwd, env } = this.#options;
    if (!trace) return undefined;
    return openTrace(trace, {
      command,
      cwd,
      home: env.HOME,
      policies: this.policies.map(({ name, version }) => ({ name, version })),
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
    return this.#policies.names;
  }

  get files(): readonly string[] {
    return this.#policies.files;
  }

  /** Between two events. Returns whether other policies are in force now; a failure leaves the old ones there, and says why. */
  async reload(): Promise<boolean> {
    try {
      const defended = this.#policies.keepAnew(this.doorPlan);
      if (defended) this.mediator.replaceStack(defended);
      await this.loadApprovals();
      const stack = await this.#policies.reload(this.doorPlan);
      if (!stack) return false;
      this.mediator.replaceStack(stack);
      this.#recorder?.setVersion(this.policies);
      this.#recorder?.note({ kind: "policies", time: Date.now() / 1000, policies: this.policies });
      return true;
    } catch (error) {
      this.#host.problem(`${(error as Error).message}; the policies in force stay`);
      return false;
    }
  }

  #problem(text: string): void {
    if (this.#problems.length >= MAX_PROBLEMS || this.#problems.includes(text)) return;
    this.#problems.push(text);
    this.#host.problem(text);
  }

  /** Ends the records and says how it went. Throws when the run was stopped for want of a trace. */
  /** The refusals so far: of a program that was not started, there is no more to say. */
  get refusals(): readonly DecidedCallCount[] {
    return this.#summary.deeds.filter(({ action }) => REFUSING.has(action));
  }

  finish(pid: number, ending: Ending, { fence, masksSeen }: SupervisorReport): SessionResult {
    const { code, signal } = typeof ending === "number" ? waitStatus(ending) : { code: 0 };
    const exitCode = code ?? 128 + signal!;
    if (ending === "unknown") this.#problem("the program has ended; how, the kernel does not say");
    this.#recorder?.note({ kind: "end", time: Date.now() / 1000, exitCode });
    for (const text of this.#fence.problems) this.#problem(text);
    for (const { path, by } of this.#fence.view?.lookedFor(masksSeen, changeView) ?? [])
      this.#summary.countHidden(path, by);
    for (const pattern of this.mediator.inside?.neverFound ?? [])
      this.#problem(`${pattern}: no function of that name was in anything that ran`);
    const observed = this.#observers.report();
    this.close();
    if (this.#traceError && this.#options.trace?.onError === "stop") throw this.#traceError;
    return {
      exitCode,
      ...(signal !== undefined && { signal: signalName(signal) ?? String(signal) }),
      ...(ending === "detached" && { detached: true }),
      pid,
      summary: this.#summary.report(this.#policies.changing),
      protections: this.#protections(fence),
      policies: this.policies,
      reloads: this.#policies.reloads,
      ...(this.#summary.log && { refusalsLeftOut: this.#summary.log.leftOut }),
      ...this.#traceResult(),
      ...observed,
      problems: this.#problems,
    };
  }

  /** How it is going. */
  status(): SessionStatus {
    this.mediator.verdictCache?.suspend(); // `hermes top` or the console looks on: every call counts
    return {
      summary: this.#summary.report(),
      activity: this.#activity.look(),
      policies: this.policies,
      reloads: this.#policies.reloads,
      doors: this.#doors(),
      ...this.#traceResult(),
    };
  }

  /** What is recorded goes to the trace now, although it does not fill a block. */
  flushTrace(): void {
    this.#recorder?.flush();
  }

  #doors(): string[] {
    return (["notify", "trace"] as const).filter((name) => this.doorPlan.doors & (1 << DOOR[name]));
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
    this.mediator.close();
    this.#fence.close();
  }

  #protections(outcome: FenceOutcome): Protections {
    const { level, inForce, missing } = this.#fence.report(outcome);
    const { program, refusesIoUring } = this.doorPlan;
    const withoutView = this.#options.withoutView ?? this.#fence.withoutView;
    return {
      doors: this.#doors(),
      filterInstructions: program.length,
      constantRules: this.#attachMode
        ? 0
        : this.#policies.policies.reduce((sum, policy) => sum + policy.subscription.constants.length, 0),
      noNewPrivs: this.#noNewPrivs,
      ioUring: refusesIoUring ? "refused" : "allowed",
      fence: level,
      ...this.#fence.view?.report,
      ...(withoutView !== undefined && { withoutView }),
      inForce,
      missing,
      ...(this.#attachMode && { attached: this.#attachMode.way }),
      ...this.mediator.inside?.found,
    };
  }
}
