import { errnoName, SYSCALLS, signalName } from "../abi/index.js";
import { HermesError } from "../errors.js";
import { type Arrangement, arrange } from "../kernel/arrangement.js";
import { encodePlan, inheritedLimits, type Launch, launchError } from "../kernel/launch.js";
import { BUFFER_SIZE, DOOR } from "../kernel/layout.js";
import { type Native, native, nativeFolder } from "../kernel/native.js";
import { callsNamed } from "../policy/define.js";
import { loadPolicy } from "../policy/load.js";
import type { Policy } from "../policy/policy.js";
import { PolicyStack } from "../policy/stack.js";
import { ProcessTable } from "../process/table.js";
import { Summary } from "../summary.js";
import { Recorder, TRACE_VERSION } from "../trace/recorder.js";
import { TraceWriter } from "../trace/writer.js";
import { Handler, waitStatus } from "./handler.js";
import { locate } from "./locate.js";
import { Loop } from "./loop.js";
import type { Order, Report, SessionOptions, SessionResult } from "./options.js";
import { VirtualFiles } from "./virtual-files.js";

export interface Channel {
  report(message: Report): void;
  orders(): Order | undefined;
}

/** How often the same kind of trouble is told. */
const MAX_PROBLEMS = 50;

/** One supervised run, in the thread that owns its tracees. */
export class Supervisor {
  readonly #options: SessionOptions;
  readonly #channel: Channel;
  readonly #native: Native = native();
  readonly #memory = new ArrayBuffer(BUFFER_SIZE);
  readonly #summary = new Summary();
  readonly #problems: string[] = [];
  #policies: readonly Policy[] = [];
  #arrangement!: Arrangement;
  #handler!: Handler;
  #recorder: Recorder | undefined;
  #traceFailed = false;
  #stopReason: HermesError | undefined;
  #pid = 0;
  #mainStatus: number | undefined;

  private constructor(options: SessionOptions, channel: Channel) {
    this.#options = options;
    this.#channel = channel;
  }

  /** Everything that can fail before the program runs fails here. */
  static async start(options: SessionOptions, channel: Channel): Promise<Supervisor> {
    const supervisor = new Supervisor(options, channel);
    supervisor.#policies = await Promise.all(options.policies.map(loadPolicy));
    supervisor.#prepare();
    supervisor.#launch();
    return supervisor;
  }

  #prepare(): void {
    const { trace, door } = this.#options;
    const stack = new PolicyStack(this.#policies, (error) => this.#problem(error.message));
    const recorded = !trace
      ? []
      : trace.events
        ? trace.events.flatMap((key) => callsNamed("--events", key))
        : SYSCALLS;
    this.#arrangement = arrange({ stack, recorded, door });
    const processes = new ProcessTable((this.#arrangement.doors & (1 << DOOR.trace)) !== 0);
    if (trace) {
      const onError = (error: HermesError) => this.#traceError(error);
      this.#recorder = new Recorder({
        writer: new TraceWriter(trace.file),
        processes,
        bytes: trace.bytes,
        onError,
      });
    }
    this.#handler = new Handler({
      memory: this.#memory,
      stack,
      arrangement: this.#arrangement,
      processes,
      summary: this.#summary,
      virtualFiles: new VirtualFiles(),
      ...(this.#recorder && { recorder: this.#recorder }),
      onProblem: (text) => this.#problem(text),
    });
  }

  #launch(): void {
    const { command, env, cwd, stdio, keepFds, limits, fence, newSession } = this.#options;
    const { doors, filter, fetchPlan } = this.#arrangement;
    const launch: Launch = {
      file: this.#options.file ?? locate(command[0]!, env.PATH, cwd),
      argv: command,
      env,
      limits: { ...inheritedLimits(), ...limits },
      noNewPrivs: fence !== "none" || process.getuid?.() !== 0,
      ...(cwd !== undefined && { cwd }),
      ...(stdio && { stdio }),
      ...(keepFds && { keepFds }),
      ...(newSession && { newSession }),
    };
    this.#writeHeader();
    const plan = encodePlan(launch, filter, (doors & (1 << DOOR.notify)) !== 0);
    const worker = this.#native.create(new Uint8Array(this.#memory), fetchPlan, doors, 0);
    this.#pid = this.#native.launch(plan, `${nativeFolder()}hermes-launch`);
    if (this.#pid < 0) {
      const failure = this.#native.launchFailure();
      if (failure !== 0) throw launchError(failure, command[0]!);
      throw new HermesError("LAUNCH", {
        program: command[0]!,
        step: "starting the launcher",
        errno: errnoName(-this.#pid) ?? this.#pid,
      });
    }
    this.#channel.report({ type: "started", pid: this.#pid, worker });
  }

  #writeHeader(): void {
    this.#recorder?.write({
      hermes: "trace",
      version: TRACE_VERSION,
      started: new Date().toISOString(),
      command: this.#options.command,
      policies: this.#policies.map(({ name, version }) => ({ name, version })),
    });
  }

  run(): SessionResult {
    const loop = new Loop(this.#native, this.#memory, this.#handler, {
      mainExited: (status) => {
        this.#mainStatus = status;
        this.#channel.report({ type: "main-exited", status });
      },
      mainStopped: (signal) => this.#channel.report({ type: "main-stopped", signal }),
      attend: () => this.#attend(),
    });
    loop.run();
    const failure = this.#native.launchFailure();
    const result = this.#result();
    this.#recorder?.write({ kind: "end", time: Date.now() / 1000, exitCode: result.exitCode });
    this.#handler.close();
    if (failure !== 0) throw launchError(failure, this.#options.command[0]!);
    if (this.#stopReason) throw this.#stopReason;
    return this.#result();
  }

  #attend(): void {
    for (let order = this.#channel.orders(); order; order = this.#channel.orders()) {
      this.#channel.report({ type: "heard" });
      if (order.type === "end") this.#native.endSession();
    }
  }

  #problem(text: string): void {
    if (this.#problems.length >= MAX_PROBLEMS || this.#problems.includes(text)) return;
    this.#problems.push(text);
    this.#channel.report({ type: "problem", text });
  }

  #traceError(error: HermesError): void {
    this.#traceFailed = true;
    if (this.#options.trace?.onError === "continue") {
      this.#problem(`${error.message}; the run goes on without a trace`);
      return;
    }
    this.#stopReason = error;
    this.#native.endSession();
  }

  #result(): SessionResult {
    const { code, signal } = waitStatus(this.#mainStatus ?? 9);
    const { doors, program, refusesIoUring } = this.#arrangement;
    const stack = this.#policies.flatMap((policy) => policy.subscription.constants);
    return {
      exitCode: code ?? 128 + signal!,
      ...(signal !== undefined && { signal: signalName(signal) ?? String(signal) }),
      pid: this.#pid,
      summary: this.#summary.report(),
      protections: {
        doors: [
          ...(doors & (1 << DOOR.notify) ? ["notify"] : []),
          ...(doors & (1 << DOOR.trace) ? ["trace"] : []),
        ],
        filterInstructions: program.length,
        constantRules: stack.length,
        noNewPrivs: this.#options.fence !== "none" || process.getuid?.() !== 0,
        ioUring: refusesIoUring ? "refused" : "allowed",
        fence: this.#options.fence,
      },
      policies: this.#policies.map(({ name, version, file }) => ({
        name,
        version,
        ...(file !== undefined && { file }),
      })),
      ...(this.#options.trace &&
        this.#recorder && {
          trace: {
            file: this.#options.trace.file,
            records: this.#recorder.lines,
            complete: !this.#traceFailed,
          },
        }),
      problems: this.#problems,
    };
  }
}
