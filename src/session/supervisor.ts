import { closeSync, openSync } from "node:fs";
import { errnoName } from "../abi/index.js";
import { decodeFence, type FenceOutcome, type FencePlan } from "../kernel/binding/fence-plan.js";
import {
  encodePlan,
  FENCE_STEP,
  inheritedLimits,
  type Launch,
  launchError,
  textInPlan,
} from "../kernel/binding/launch.js";
import { DOOR } from "../kernel/binding/layout.js";
import { LAUNCHER, type Native, native } from "../kernel/binding/native.js";
import { fenceFailure } from "../kernel/fence/fence.js";
import { HermesError } from "../nouns/errors.js";
import type { Reply } from "../people/approval/answer.js";
import { attachError } from "./attach.js";
import { findProgram } from "./find-program.js";
import { type Decider, Loop, type LoopHost, type PeriodicTask } from "./loop.js";
import type { Ending, SessionOptions, WorkerOrder, WorkerReport } from "./options.js";
import { checkSandboxAround } from "./sandbox-around.js";

/** What is known of a session's fence when it is over. */
export interface SupervisorReport {
  readonly fence: FenceOutcome;
  readonly masksSeen: Uint8Array;
}

export interface SupervisorChannel {
  report(message: WorkerReport): void;
  /** `holding`: some calls wait for their delay or for an answer. */
  orders(holding: boolean): WorkerOrder | undefined;
}

/** What the main thread may ask of the decider, between two events. */
interface SessionControl {
  /** Owns the thread while it runs. */
  reload(): Promise<void>;
  flush(): void;
  status(): void;
  /** The program is to run on without us: removes everything of ours from it. */
  leave(): void;
  /** Returns the threads whose calls are now decided. */
  answer(id: number, reply: Reply): readonly number[];
  readonly ticking?: PeriodicTask;
}

const NO_CONTROL: SessionControl = {
  leave: () => {},
  reload: async () => {},
  flush: () => {},
  status: () => {},
  answer: () => [],
};

/** What the kernel side of a session needs to know of the doors. */
export interface SupervisorPlan {
  readonly doors: number;
  readonly filter: Uint8Array;
  readonly fetchPlan: Uint8Array;
  readonly onBehalfMark: number;
  /** Signals that are reported before the program gets them: bit n - 1 for signal n. */
  readonly signals: bigint;
  /** True: report new threads and processes before they run. */
  readonly births: boolean;
  /** True: it needs ptrace. */
  readonly traces: boolean;
  readonly fence: FencePlan;
  readonly noNewPrivs: boolean;
  readonly trapCounter: boolean;
  /** The verdict cache (session/verdict-cache.ts). */
  readonly verdictCache: number | undefined;
  /** The program's environment. */
  readonly env: SessionOptions["env"];
  /** For a running program: the arguments of native().attach(). */
  readonly attach?: {
    readonly flags: number;
    readonly stops: Uint8Array;
    readonly note: Uint8Array;
    readonly keeper: number;
  };
}

/**
 * The kernel half of a session: starts the program and waits for its tracees, in the thread that owns them.
 */
export class Supervisor implements SupervisorReport {
  readonly pid: number;
  readonly #native: Native = native();
  readonly #options: SessionOptions;
  readonly #memory: ArrayBufferLike;
  readonly #channel: SupervisorChannel;
  readonly #plan: Uint8Array = new Uint8Array();
  #status: number | undefined;
  #leaving = false;
  #detached = false;

  constructor(
    options: SessionOptions,
    plan: SupervisorPlan,
    memory: ArrayBufferLike,
    channel: SupervisorChannel,
  ) {
    this.#options = options;
    this.#memory = memory;
    this.#channel = channel;
    checkDescriptors();
    const listens = (plan.doors & (1 << DOOR.notify)) !== 0;
    if (!plan.attach) checkSandboxAround(plan);
    if (!plan.attach) this.#plan = encodePlan(launchOf(options, plan), plan.filter, listens);
    const worker = this.#native.create(new Uint8Array(memory), plan.fetchPlan, plan.doors, plan.onBehalfMark);
    if (plan.verdictCache !== undefined) this.#native.useVerdictCache(plan.verdictCache);
    this.#native.watchSignals(plan.signals);
    this.#native.watchBirths(Number(plan.births));
    this.pid = plan.attach ? this.#attach(plan, plan.attach) : this.#launch();
    channel.report({ type: "started", pid: this.pid, worker, launcher: this.#native.launcher() });
  }

  #launch(): number {
    const pid = this.#native.launch(this.#plan, LAUNCHER);
    if (pid < 0) throw this.#startError(-pid);
    return pid;
  }

  #attach(
    { filter }: SupervisorPlan,
    { flags, stops, note, keeper }: NonNullable<SupervisorPlan["attach"]>,
  ): number {
    const { pid } = this.#options.attach!;
    const result = this.#native.attach(pid, flags, filter, stops, note, keeper, LAUNCHER);
    if (result < 0) throw attachError(pid, result);
    return pid;
  }

  #startError(errno: number): HermesError {
    const program = this.#options.command[0]!;
    const known = this.#launchFailure();
    if (known) return known;
    return new HermesError("LAUNCH", {
      program,
      step: "starting the launcher",
      errno: errnoName(errno) ?? errno,
    });
  }

  #launchFailure(): HermesError | undefined {
    const failure = this.#native.launchFailure();
    if (failure === 0) return undefined;
    if (failure >> 12 === FENCE_STEP) return fenceFailure(this.fence);
    return launchError(failure, this.#options.command[0]!, textInPlan(this.#plan, this.fence.detail));
  }

  /** The launcher's report on the fence. */
  get fence(): FenceOutcome {
    return decodeFence(this.#native.fence());
  }

  /** For each hidden file, whether the program looked for it. */
  get masksSeen(): Uint8Array {
    return this.#native.masksSeen();
  }

  /** Returns how the program ended once no process of the session is left, or that we detached. */
  async run(decider: Decider, control: SessionControl = NO_CONTROL): Promise<Ending> {
    const host: LoopHost = {
      mainExited: (status) => {
        this.#status = status;
        this.#channel.report({ type: "main-exited" });
      },
      mainStopped: (signal) => this.#channel.report({ type: "main-stopped", signal }),
      takeOrders: () => this.#takeOrders(loop, control),
    };
    const loop = new Loop(this.#native, this.#memory, decider, host, control.ticking);
    while (loop.run() === "paused") await control.reload();
    const failure = this.#launchFailure();
    if (failure) throw failure;
    if (this.#detached) return "detached";
    if (this.#options.attach)
      return this.#status === undefined || this.#status < 0 ? "unknown" : this.#status;
    if (this.#status === undefined) throw new HermesError("SUPERVISOR", { message: "the launcher died" });
    return this.#status;
  }

  /** Kills every process of the session. From an attached program it detaches instead. */
  end(): void {
    if (!this.#options.attach) this.#native.endSession();
    else if (!this.#detached) {
      this.#leaving = true;
      this.#native.deadline(1); // between two events, not during a decision
    }
  }

  /** Answers all pending questions first, because no approver can answer them later. */
  #leave(loop: Loop, control: SessionControl): void {
    this.#leaving = false;
    this.#detached = true;
    loop.releaseAll();
    control.leave();
    this.#native.detach();
  }

  #takeOrders(loop: Loop, control: SessionControl): void {
    const next = () => this.#channel.orders(loop.isHolding);
    for (let order = next(); order; order = next()) {
      this.#channel.report({ type: "heard" });
      if (order.type === "end") this.end();
      else if (order.type === "reload") loop.pause();
      else if (order.type === "release") loop.release(order.tids);
      else if (order.type === "answer") loop.release(control.answer(order.id, order.reply));
      else control[order.type]();
    }
    if (this.#leaving) this.#leave(loop, control);
  }
}

/** The most descriptors that we need at once, for ourselves and for on-behalf calls. */
const SPARE_DESCRIPTORS = 16;

function checkDescriptors(): void {
  const spare: number[] = [];
  try {
    while (spare.length < SPARE_DESCRIPTORS) spare.push(openSync("/dev/null", "r"));
  } catch (error) {
    const why = `only ${spare.length} of ${SPARE_DESCRIPTORS} are available: ${(error as NodeJS.ErrnoException).code}`;
    throw new HermesError("UNAVAILABLE", { what: "enough descriptors (ulimit -n)", why });
  } finally {
    spare.forEach(closeSync);
  }
}

function launchOf(options: SessionOptions, { fence, noNewPrivs, env, trapCounter }: SupervisorPlan): Launch {
  const { command, cwd, stdio, keepFds, limits, newSession, followStops } = options;
  const { ignoredSignals, blockedSignals, blockingStdio } = options;
  return {
    file: options.file ?? findProgram(command[0]!, env.PATH, cwd),
    argv: command,
    env,
    limits: { ...inheritedLimits(), ...limits },
    noNewPrivs,
    fence,
    trapCounter,
    ...(cwd !== undefined && { cwd }),
    ...(stdio && { stdio }),
    ...(ignoredSignals !== undefined && { ignoredSignals }),
    ...(blockedSignals !== undefined && { blockedSignals }),
    ...(blockingStdio && { blockingStdio }),
    ...(keepFds && { keepFds }),
    ...(newSession && { newSession }),
    ...(followStops && { followStops }),
  };
}
