import { closeSync, openSync } from "node:fs";
import { errnoName } from "../abi/index.js";
import type { Answer } from "../approval/question.js";
import { HermesError } from "../errors.js";
import { fenceFailure } from "../fence/fence.js";
import { decodeFence, type FenceOutcome, type FencePlan } from "../kernel/fence-plan.js";
import {
  encodePlan,
  FENCE_STEP,
  inheritedLimits,
  type Launch,
  launchError,
  textInPlan,
} from "../kernel/launch.js";
import { DOOR } from "../kernel/layout.js";
import { NATIVE_FOLDER, type Native, native } from "../kernel/native.js";
import { attachError } from "./attach.js";
import { locate } from "./locate.js";
import { type Decider, Loop, type LoopHost, type Ticking } from "./loop.js";
import type { Ending, Order, Report, SessionOptions } from "./options.js";

export interface Channel {
  report(message: Report): void;
  /** `holding`: calls wait for their time, or for an answer. */
  orders(holding: boolean): Order | undefined;
}

/** What the main thread may ask of whoever decides, between two events. */
export interface Attendance {
  /** Has the thread to itself for as long as it takes. */
  reload(): Promise<void>;
  flush(): void;
  status(): void;
  /** The program is to run on without us: nothing of ours may stay in it. */
  leave(): void;
  /** Returns the threads whose calls are decided by it. */
  answer(id: number, answer: Answer): readonly number[];
  readonly ticking?: Ticking;
}

const NOBODY: Attendance = {
  leave: () => {},
  reload: async () => {},
  flush: () => {},
  status: () => {},
  answer: () => [],
};

/** What the kernel side of a session needs to know of what was arranged. */
export interface Doorway {
  readonly doors: number;
  readonly filter: Uint8Array;
  readonly fetchPlan: Uint8Array;
  readonly actMark: number;
  /** Signals that are looked at before the program gets them: bit n - 1 for signal n. */
  readonly signals: bigint;
  /** Whether new threads and processes are reported before they run. */
  readonly births: boolean;
  readonly fence: FencePlan;
  readonly noNewPrivs: boolean;
  readonly trapCounter: boolean;
  /** Answers that stand (session/settled.ts). */
  readonly settled: number | undefined;
  /** The program's environment. */
  readonly env: SessionOptions["env"];
  /** Where the program runs already: what native().attach() is told. */
  readonly attach?: {
    readonly flags: number;
    readonly stops: Uint8Array;
    readonly note: Uint8Array;
    readonly keeper: number;
  };
}

const LAUNCHER = `${NATIVE_FOLDER}hermes-launch`;

/** The kernel half of a session: starts the program and waits for its tracees, in the thread that owns them. */
export class Supervisor {
  readonly pid: number;
  readonly #native: Native = native();
  readonly #options: SessionOptions;
  readonly #memory: ArrayBufferLike;
  readonly #channel: Channel;
  readonly #plan: Uint8Array = new Uint8Array();
  #status: number | undefined;
  #leaving = false;
  #detached = false;

  constructor(options: SessionOptions, doorway: Doorway, memory: ArrayBufferLike, channel: Channel) {
    this.#options = options;
    this.#memory = memory;
    this.#channel = channel;
    checkDescriptors();
    const listens = (doorway.doors & (1 << DOOR.notify)) !== 0;
    if (!doorway.attach) this.#plan = encodePlan(launchOf(options, doorway), doorway.filter, listens);
    const worker = this.#native.create(
      new Uint8Array(memory),
      doorway.fetchPlan,
      doorway.doors,
      doorway.actMark,
    );
    if (doorway.settled !== undefined) this.#native.settle(doorway.settled);
    this.#native.watchSignals(doorway.signals);
    this.#native.watchBirths(Number(doorway.births));
    this.pid = doorway.attach ? this.#attach(doorway, doorway.attach) : this.#launch();
    channel.report({ type: "started", pid: this.pid, worker, launcher: this.#native.launcher() });
  }

  #launch(): number {
    const pid = this.#native.launch(this.#plan, LAUNCHER);
    if (pid < 0) throw this.#startError(-pid);
    return pid;
  }

  #attach({ filter }: Doorway, { flags, stops, note, keeper }: NonNullable<Doorway["attach"]>): number {
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

  /** What came of the fence. */
  get fence(): FenceOutcome {
    return decodeFence(this.#native.fence());
  }

  /** Returns how the program ended once no process of the session is left, or that we have left it. */
  async run(decider: Decider, attendance: Attendance = NOBODY): Promise<Ending> {
    const host: LoopHost = {
      mainExited: (status) => {
        this.#status = status;
        this.#channel.report({ type: "main-exited" });
      },
      mainStopped: (signal) => this.#channel.report({ type: "main-stopped", signal }),
      attend: () => this.#attend(loop, attendance),
    };
    const loop = new Loop(this.#native, this.#memory, decider, host, attendance.ticking);
    while (loop.run() === "paused") await attendance.reload();
    const failure = this.#launchFailure();
    if (failure) throw failure;
    if (this.#detached) return "detached";
    if (this.#options.attach)
      return this.#status === undefined || this.#status < 0 ? "unknown" : this.#status;
    if (this.#status === undefined) throw new HermesError("SUPERVISOR", { message: "the launcher died" });
    return this.#status;
  }

  /** Ends every process of the session; a program that was there before us is left instead. */
  end(): void {
    if (!this.#options.attach) this.#native.endSession();
    else if (!this.#detached) {
      this.#leaving = true;
      this.#native.deadline(1); // between two events, not while one is being decided
    }
  }

  /** What waits for an answer is answered first: nobody else will. */
  #leave(loop: Loop, attendance: Attendance): void {
    this.#leaving = false;
    this.#detached = true;
    loop.releaseAll();
    attendance.leave();
    this.#native.detach();
  }

  #attend(loop: Loop, attendance: Attendance): void {
    const next = () => this.#channel.orders(loop.isHolding);
    for (let order = next(); order; order = next()) {
      this.#channel.report({ type: "heard" });
      if (order.type === "end") this.end();
      else if (order.type === "reload") loop.pause();
      else if (order.type === "release") loop.release(order.tids);
      else if (order.type === "answer") loop.release(attendance.answer(order.id, order.answer));
      else attendance[order.type]();
    }
    if (this.#leaving) this.#leave(loop, attendance);
  }
}

/** As many as we may need at once, for ourselves and for calls that we make in the program's place. */
const SPARE_DESCRIPTORS = 16;

function checkDescriptors(): void {
  const spare: number[] = [];
  try {
    while (spare.length < SPARE_DESCRIPTORS) spare.push(openSync("/dev/null", "r"));
  } catch (error) {
    const why = `only ${spare.length} of ${SPARE_DESCRIPTORS} can be had: ${(error as NodeJS.ErrnoException).code}`;
    throw new HermesError("UNAVAILABLE", { what: "enough descriptors (ulimit -n)", why });
  } finally {
    spare.forEach(closeSync);
  }
}

function launchOf(options: SessionOptions, { fence, noNewPrivs, env, trapCounter }: Doorway): Launch {
  const { command, cwd, stdio, keepFds, limits, newSession, followStops } = options;
  const { ignoredSignals, blockedSignals, blockingStdio } = options;
  return {
    file: options.file ?? locate(command[0]!, env.PATH, cwd),
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
