import { errnoNumber, syscallByName } from "../abi/index.js";
import { ANSWER, ANSWER_FLAG, KIND } from "../kernel/binding/layout.js";
import { DecodedCall } from "../kernel/decode/call.js";
import { newProgram } from "../kernel/decode/new-program.js";
import type { Execs } from "./exec-chain.js";
import type { Instructions } from "./instrument/instructions.js";
import type { TscSetting } from "./instrument/tsc-setting.js";
import type { Vdso } from "./instrument/vdso.js";
import type { Returns, ReturnsOptions } from "./returns.js";
import type { TracedExecs } from "./traced-execs.js";
import { waitStatus } from "./wait-status.js";

const EXECVE = syscallByName("execve")!;
const EPERM = errnoNumber("EPERM")!;
const ETIMEDOUT = errnoNumber("ETIMEDOUT")!;

interface LifecycleOptions extends ReturnsOptions {
  readonly execs: Execs;
  readonly returns: Returns;
  readonly instructions: Instructions;
  readonly setting: TscSetting;
  readonly tracedExecs?: TracedExecs;
  readonly vdso?: Vdso;
}

/** Processes and threads that are born, execute another program, and end. */
export class Lifecycle {
  readonly #o: LifecycleOptions;
  /** Threads whose refused execve has been explained. */
  readonly #told = new Set<number>();

  constructor(options: LifecycleOptions) {
    this.#o = options;
  }

  handle(kind: number): 0 {
    const { stop, answer, inside } = this.#o;
    answer.begin(ANSWER.continue);
    inside?.lives(kind, stop.tid, stop.peer);
    if (kind === KIND.exec) this.#execed();
    else if (kind === KIND.fork) this.#forked();
    else if (kind === KIND.exit) this.#exited();
    else if (kind === KIND.notExecuted) this.#notExecuted();
    else if (kind === KIND.execTraced) this.#verifyTraced();
    return 0;
  }

  #execed(): void {
    const { stop, answer, processes, recorder, inside } = this.#o;
    const { tid, peer, time } = stop;
    if (peer !== 0 && peer !== tid) this.#moved(peer, tid);
    processes.execed(tid);
    this.#unhide(tid);
    this.#checkProgram(tid);
    recorder?.execed(time, tid);
    if (inside) answer.flag(ANSWER_FLAG.wantReturn);
  }

  /** An execve that was allowed has failed, or was refused because its caller cannot be traced. */
  #notExecuted(): void {
    const { stop, execs, onProblem } = this.#o;
    execs.gone(stop.tid);
    if (stop.result === ETIMEDOUT)
      onProblem(
        `process ${stop.tid} was ended: its execve took too long to verify, because another process traces it`,
      );
    else if (stop.result === EPERM && !this.#told.delete(stop.tid))
      onProblem(`an execve of process ${stop.tid} was denied: it cannot be verified`);
  }

  /** The caller of an allowed execve has a tracer already. */
  #verifyTraced(): void {
    const { stop, answer, processes, tracedExecs, onProblem } = this.#o;
    const tracer = tracedExecs?.tracerOf(stop.tid, processes) ?? "HERMES may not trace it";
    if (typeof tracer === "number") {
      answer.result(tracer);
      return;
    }
    answer.begin(ANSWER.return);
    this.#told.add(stop.tid);
    onProblem(`an execve of process ${stop.tid} was denied, because it cannot be verified: ${tracer}`);
  }

  #forked(): void {
    const { tid, peer, time } = this.#o.stop;
    this.#o.setting.forked(tid, peer);
    this.#o.recorder?.forked(time, tid, peer);
  }

  #exited(): void {
    const { stop, instructions, recorder, processes } = this.#o;
    const { tid, time } = stop;
    this.abandon(tid);
    instructions.exited(tid);
    recorder?.exited(time, tid, waitStatus(stop.result));
    processes.exited(tid);
  }

  /** Ends a new program whose calls could go unseen. */
  #unhide(tid: number): void {
    const { vdso, processes, answer, onProblem } = this.#o;
    try {
      vdso?.execed(tid);
    } catch (error) {
      onProblem(`${processes.get(tid).exe} was ended: ${(error as Error).message}`);
      answer.begin(ANSWER.kill);
    }
  }

  /** Judges the new program once more on what is really there, before its first instruction. */
  #checkProgram(tid: number): void {
    const { stop, answer, processes, execs, summary } = this.#o;
    if (!this.#o.policies().wantsEntry(EXECVE.nr)) return;
    const event = new DecodedCall(stop, EXECVE, processes);
    const program = newProgram(stop, () => processes.get(tid));
    const refused = execs.inPlace(tid, event, program);
    if (refused === "as judged") answer.flag(ANSWER_FLAG.cache);
    if (!refused || refused === "as judged") return;
    answer.begin(ANSWER.kill);
    const { exe } = program;
    const reason = `${refused.reason ?? "a program that may not run"} (${exe} was in place of what was decided on)`;
    summary.count(event, { ...refused, action: "kill", reason });
  }

  /** A thread that is not the leader takes the leader's number when it execs. */
  #moved(from: number, to: number): void {
    this.abandon(to);
    this.#o.execs.moved(from, to);
    this.#o.returns.moved(from, to);
  }

  /** The thread's call in progress will never go on. */
  abandon(tid: number): void {
    this.#o.returns.abandon(tid);
    this.#o.execs.gone(tid);
    this.#o.held.abandon(tid);
  }
}
