import { syscallByNumber } from "../abi/index.js";
import { Held, type Waiting } from "../approval/held.js";
import type { Answer } from "../approval/question.js";
import { granted, type Questions, refused } from "../approval/questions.js";
import { DecodedCall } from "../decode/call.js";
import { reachForCaller } from "../decode/reach.js";
import { unreadable } from "../decode/unreadable.js";
import { handOver } from "../doors/act.js";
import { CHANGES_VIEW, changesIdentity } from "../doors/arrangement.js";
import { type AfterCall, NotPossible } from "../doors/door.js";
import { notifyDoor } from "../doors/notify.js";
import { traceDoor, traceDoorAlone } from "../doors/trace.js";
import type { CounterSetting } from "../instrument/counter-setting.js";
import { Instructions } from "../instrument/instructions.js";
import type { Instrument } from "../instrument/instrument.js";
import type { Vdso } from "../instrument/vdso.js";
import { ANSWER, ANSWER_FLAG, DOOR, KIND, MAX_PINS, PIN_SIZE } from "../kernel/layout.js";
import { native } from "../kernel/native.js";
import { Answer as NativeAnswer, Stop } from "../kernel/stop.js";
import { Mediator } from "../mediate.js";
import type { PolicyStack } from "../policy/stack.js";
import type { ProcessTable } from "../process/table.js";
import type { Summary } from "../summary.js";
import type { Activity } from "../trace/activity.js";
import type { OpenRecord, Recorder } from "../trace/recorder.js";
import { type Decision, deny, type Verdict } from "../verdict.js";
import { Execs } from "./exec.js";
import { instructionHost, lookInside, unhide } from "./inside.js";
import { held, isAbsent } from "./reread.js";
import { answerReturn } from "./return.js";
import { Settled } from "./settled.js";
import { unknownCall } from "./unknown-call.js";
import type { VirtualFiles } from "./virtual-files.js";
import { waitStatus } from "./wait-status.js";

const EXECVE = 59;
const EXEC: ReadonlySet<number> = new Set([EXECVE, 322]);
const EFAULT = 14;
const ENOSYS = 38;
/** No user memory lies there: a pointer to it gives the kernel's own EFAULT, in the kernel's own order of checks. */
const NOWHERE = 0xffff_ffff_ffff_f000n;

export interface HandlerOptions {
  readonly memory: ArrayBufferLike;
  readonly stack: PolicyStack;
  readonly processes: ProcessTable;
  readonly summary: Summary;
  readonly virtualFiles: VirtualFiles;
  /** Where to ask a person. */
  readonly questions?: Questions;
  readonly alone?: boolean; // there is no listener behind the trace door
  /** To a program that ran already: it has no broker, and nothing stands. */
  readonly attached?: boolean;
  /** What the program set of its time stamp counter. */
  readonly setting: CounterSetting;
  /** Makes the calls of new programs enter the kernel that must be seen. */
  readonly vdso?: Vdso;
  readonly recorder?: Recorder;
  readonly activity: Activity;
  /** Whether what happens inside of programs may be of interest. */
  readonly inside?: boolean;
  readonly prototypes?: readonly string[];
  /** A person should hear of this: a policy asked for something that cannot be done. */
  readonly onProblem: (text: string) => void;
}

/** A call that was let through and whose return we wait for. */
interface PendingCall {
  readonly after: AfterCall;
  readonly entry: DecodedCall | undefined;
  readonly record: OpenRecord | undefined;
}

/** An event that waits for its time. */
interface HeldCall extends Waiting {
  readonly event: DecodedCall;
  /** What the call reaches, still open. */
  readonly pins: Uint8Array;
  /** Set when it is a return that waits. */
  readonly pending?: PendingCall;
}

/** Takes the event in the shared buffer, has it decided, and leaves the answer in the buffer. */
export class Handler {
  readonly #o: HandlerOptions;
  readonly #stop: Stop;
  readonly #answer: NativeAnswer;
  readonly #mediator: Mediator;
  #stack: PolicyStack;
  #lookedAtFirst = false;
  readonly #execs: Execs;
  readonly #inside: Instrument | undefined;
  readonly #instructions: Instructions;
  readonly #settled: Settled | undefined;
  readonly #pending = new Map<number, PendingCall>();
  readonly #held = new Held<HeldCall>((question, why) => this.#o.questions?.withdraw(question, why));

  constructor(options: HandlerOptions) {
    this.#o = options;
    this.#stop = new Stop(options.memory);
    this.#answer = new NativeAnswer(options.memory);
    this.#stack = options.stack;
    this.#mediator = new Mediator(options.stack, options.summary);
    const { stack, processes, setting } = options;
    const host = instructionHost(options, this.#mediator);
    const [stop, answer] = [this.#stop, this.#answer];
    this.#instructions = new Instructions({ stop, answer, stack, processes, setting, host });
    this.#execs = new Execs({
      decide: (event) => this.#mediator.decide(event),
      reach: (event, path) => reachForCaller(this.#stop.broker, event.tid, options.processes, path),
    });
    if (options.inside) this.#inside = lookInside(options, this.#mediator);
    if (!options.attached) this.#settled = new Settled(options.stack, !options.inside && !options.recorder);
  }

  /** What looks into programs, where somebody wants that. */
  get inside(): Instrument | undefined {
    return this.#inside;
  }

  /** Between two events: from the next one on, other policies decide. */
  replaceStack(stack: PolicyStack): void {
    this.#stack = stack;
    this.#mediator.replaceStack(stack);
    this.#inside?.replaceStack(stack);
    this.#instructions.replaceStack(stack);
    this.#settled?.replaceStack(stack);
  }

  /** Answers that stand, where nobody wants to hear of every call. */
  get settled(): Settled | undefined {
    return this.#settled;
  }

  /** Returns 0 when the answer is in the buffer, or for how many milliseconds the event is to be held. */
  handle(kind: number): number {
    this.#stop.generation++;
    this.#inside?.before();
    switch (kind) {
      case KIND.entry:
        return this.#entry();
      case KIND.return:
        return this.#return();
      case KIND.signal:
        return this.#inside!.signal();
      case KIND.instruction:
        return this.#instructions.handle();
      default:
        this.#lifecycle(kind);
        return 0;
    }
  }

  /** Writes the answer to an event whose time has come. */
  release(tid: number): boolean {
    if (this.#inside?.release(tid)) return true;
    const held = this.#held.take(tid);
    if (held) this.#stop.givePins(held.pins);
    if (held?.pending) this.#finish(held.event, held.decision, held.pending);
    else if (held) this.#carryOut(held.event, held.decision);
    return held !== undefined || this.#instructions.release(tid);
  }

  close(): void {
    for (const tid of [...this.#pending.keys(), ...this.#held.threads]) this.#abandon(tid);
    this.#o.recorder?.close();
    this.#o.processes.close();
    this.#o.virtualFiles.close();
    this.#inside?.close();
    this.#settled?.close();
  }

  // ---------------------------------------------------------------- a call

  #entry(): number {
    const call = syscallByNumber(this.#stop.nr) ?? unknownCall(this.#stop.nr);
    const event = new DecodedCall(this.#stop, call, this.#o.processes);
    this.#inside?.called(event.tid, this.#stop.ip);
    this.#lookAtCaller(call.nr);
    if (this.#settled) this.#settled.inForce = this.#mayStand(event);
    if (this.#answerUnreadable(event)) return 0;
    if (isAbsent(event, this.#stack)) return this.#answerAbsent(event);
    let decision = held(event, this.#mediator.decide(event), this.#stack);
    if (event.door === "notify") this.#settled?.seen(event);
    const refusedAlready = decision.action === "deny" || decision.action === "kill";
    if (EXEC.has(call.nr) && !refusedAlready && this.#stack.wantsEntry(call.nr))
      decision = this.#execs.entry(event, event.pinnedFile, decision);
    if (decision.action === "ask") return this.#ask(event, decision);
    if (decision.fault?.delay) return this.#holdFor(event, decision);
    this.#carryOut(event, decision);
    // What the policies allow without a person may stand for the next call of its kind.
    if (decision.action === "allow" && !decision.watched) this.#settled?.learn(event, this.#answer);
    return 0;
  }

  /** Held until somebody answers; where nobody can, it is refused. */
  #ask(event: DecodedCall, decision: Decision): number {
    const { questions } = this.#o;
    const error = event.unreachable;
    if (error !== 0) {
      // There is nothing to be asked about: a shell looks into every folder of PATH.
      this.#answer.begin(ANSWER.return).result(-error);
      this.#follow(event, { ...decision, action: "allow" }, { restore: [] });
      return 0;
    }
    const asked = questions
      ? questions.ask(event, decision)
      : refused(decision, "needs approval, and there is nobody to ask");
    if ("action" in asked) {
      this.#carryOut(event, asked);
      return 0;
    }
    this.#hold(event, decision, { question: asked.id });
    return asked.patience;
  }

  /** A person has answered. Returns the threads whose calls are decided now. */
  answer(id: number, answer: Answer): number[] {
    const settled = new Set(this.#o.questions?.answer(id, answer));
    const settle = (decision: Decision) =>
      answer === "no" ? refused(decision, "a person said no") : granted(decision, `a person said: ${answer}`);
    return [
      ...this.#instructions.answered(settled, settle),
      ...(this.#inside?.answered(settled, settle) ?? []),
      ...this.#held.answered(settled, settle),
    ];
  }

  /** Whether the caller sees other files, or may touch others, than the broker: from the first call on, or from this one. */
  #lookAtCaller(nr: number): void {
    const { processes } = this.#o;
    if (CHANGES_VIEW.has(nr)) processes.viewsDiffer = true;
    if (changesIdentity(nr, (i) => this.#stop.int(i))) processes.identitiesDiffer = true;
    // Until it has become the program, the first process is not yet what it will be.
    if (this.#lookedAtFirst || EXEC.has(nr)) return;
    this.#lookedAtFirst = true;
    processes.look(this.#stop.broker, this.#stop.tid);
  }

  /** Not where callers differ from the broker, from the call on that makes them so; nor while somebody looks on. */
  #mayStand(event: DecodedCall): boolean {
    const { processes, activity } = this.#o;
    return !processes.viewsDiffer && !processes.identitiesDiffer && !activity.counts(event);
  }

  /** As if the kernel did not have the call. */
  #answerAbsent(event: DecodedCall): number {
    this.#answer.begin(ANSWER.return).result(-ENOSYS);
    this.#follow(event, { action: "allow", policy: "", version: "" }, { restore: [] });
    return 0;
  }

  #holdFor(event: DecodedCall, decision: Decision, pending?: PendingCall): number {
    const { delay = 0, ...fault } = decision.fault!;
    this.#hold(event, { ...decision, fault }, pending && { pending });
    return Math.max(1, delay);
  }

  #hold(event: DecodedCall, decision: Decision, more?: Pick<HeldCall, "pending" | "question">): void {
    const pins = this.#stop.takePins();
    this.#held.set(event.tid, { event: event.detach(), decision, pins, ...more });
    this.#answer.begin(ANSWER.hold);
  }

  #carryOut(event: DecodedCall, decision: Decision): void {
    let after: AfterCall = { restore: [] };
    let done = decision;
    const door = event.door === "notify" ? notifyDoor : this.#o.alone ? traceDoorAlone : traceDoor;
    try {
      door.carryOut(event, this.#materialise(decision), this.#answer, after);
    } catch (error) {
      done = this.#cannot(event, decision, error as Error);
      after = { restore: [] };
      door.carryOut(event, done, this.#answer, after);
    }
    this.#mediator.record(event, done);
    this.#follow(event, done, after);
    this.#seal(event);
  }

  /** A call made in the program's place sees what policies, the record and a question have seen of its memory. */
  #seal(event: DecodedCall): void {
    const problem = handOver(event, this.#answer);
    if (problem === undefined) return;
    this.#o.onProblem(problem);
    this.#abandon(event.tid);
  }

  /** A virtual file is a real one with a name of ours. */
  #materialise(decision: Decision): Verdict {
    const content = decision.emulation?.content;
    if (content === undefined) return decision;
    const { emulation: _, ...rest } = decision;
    return { ...rest, action: "modify", change: { to: this.#o.virtualFiles.pathOf(content) } };
  }

  #cannot(event: DecodedCall, decision: Decision, error: Error): Decision {
    const known = error instanceof NotPossible || error instanceof RangeError;
    const reason = `policy ${decision.policy}: ${known ? "" : "its answer makes no sense: "}${error.message}`;
    this.#o.onProblem(`${reason}; ${event.name} was denied`);
    return { ...deny(reason), rule: "not-possible", policy: decision.policy, version: decision.version };
  }

  /** Whether the return of this call concerns anybody, and what is to be remembered until then. */
  #follow(event: DecodedCall, decision: Decision, after: AfterCall): void {
    const { recorder, activity } = this.#o;
    const record = recorder?.open(event, decision);
    activity.entered(event);
    const goesOn = this.#answer.action === ANSWER.continue || this.#answer.action === ANSWER.act;
    if (!goesOn || event.stop.door !== DOOR.trace) {
      if (record) recorder!.settled(record, goesOn ? undefined : this.#answer.resultOfReturn);
      return;
    }
    const asksPolicy = this.#stack.wantsReturn(event.nr);
    const isNewCode = this.#inside?.wantsReturn(event.nr) === true;
    const concerns = record || asksPolicy || isNewCode || after.restore.length > 0 || after.wrote;
    if (!concerns && !activity.wantsReturn(event)) return;
    this.#answer.flag(ANSWER_FLAG.wantReturn);
    this.#pending.set(event.tid, { after, record, entry: asksPolicy ? event.detach() : undefined });
  }

  /**
   * A path or address that cannot be read cannot be decided on. What the kernel would refuse it refuses itself; what
   * only we cannot read is denied. Returns whether that settled the call.
   */
  #answerUnreadable(event: DecodedCall): boolean {
    const stop = this.#stop;
    if (!this.#stack.wantsEntry(event.nr)) return false;
    for (let i = 0; i < event.call.args.length; i++) {
      const error = unreadable(event, i);
      if (error === 0) continue;
      if (error === EFAULT && stop.door === DOOR.trace)
        this.#answer.begin(ANSWER.continue).register(i, NOWHERE);
      else this.#answer.begin(ANSWER.return).result(-error);
      const reason = `argument ${event.call.args[i]!.name} of ${event.name} cannot be read`;
      const decision = { ...deny(reason, error), rule: "unreadable", policy: "hermes", version: "" };
      this.#mediator.record(event, decision);
      this.#follow(event, decision, { restore: [] });
      return true;
    }
    return false;
  }

  // ---------------------------------------------------------------- its return

  #return(): number {
    const { tid, nr } = this.#stop;
    this.#inside?.returned(tid, nr, this.#stop.result, this.#stop.ulong(0), this.#stop.ulong(1));
    const pending = this.#pending.get(tid);
    this.#pending.delete(tid);
    this.#answer.begin(ANSWER.continue);
    if (!pending) return 0;
    const call = syscallByNumber(nr) ?? unknownCall(nr);
    const event = new DecodedCall(this.#stop, call, this.#o.processes, pending.entry);
    const decided = pending.entry ? this.#mediator.decideReturn(event) : undefined;
    // It has happened: there is nothing left to ask about.
    const decision = decided?.action === "ask" ? refused(decided, "a result cannot be asked about") : decided;
    if (decision?.fault?.delay) return this.#holdFor(event, decision, pending);
    this.#finish(event, decision, pending);
    return 0;
  }

  /** What the program sees of a call that has happened: as the policies say, and without what we did to it. */
  #finish(event: DecodedCall, decision: Decision | undefined, { after, record }: PendingCall): void {
    this.#answer.begin(ANSWER.continue);
    if (decision) {
      let done = decision;
      try {
        answerReturn(event, decision, this.#answer);
      } catch (error) {
        done = this.#cannot(event, decision, error as Error);
        answerReturn(event, done, this.#answer);
      }
      this.#mediator.recordReturn(event.nr, done);
    }
    for (const { address, bytes } of after.restore) this.#answer.memory(address, bytes);
    if (after.wrote && event.result >= 0) {
      const { asked, given } = after.wrote;
      const told = event.result >= given ? asked : Math.min(event.result, asked);
      this.#answer.result(told).flag(ANSWER_FLAG.setResult);
    }
    if (record) this.#o.recorder!.returned(record, event);
    this.#o.activity.returned(event);
  }

  // ---------------------------------------------------------------- processes

  #lifecycle(kind: number): void {
    const { tid, time, peer } = this.#stop;
    this.#answer.begin(ANSWER.continue);
    this.#inside?.lives(kind, tid, peer);
    if (kind === KIND.exec) {
      if (peer !== 0 && peer !== tid) this.#movePending(peer, tid);
      this.#o.processes.execed(tid);
      unhide(this.#o, tid, this.#answer);
      this.#checkExeced(tid);
      this.#o.recorder?.execed(time, tid);
      if (this.#inside) this.#answer.flag(ANSWER_FLAG.wantReturn);
    } else if (kind === KIND.fork) {
      this.#o.setting.forked(tid, peer);
      this.#o.recorder?.forked(time, tid, peer);
    } else if (kind === KIND.exit) {
      this.#abandon(tid);
      this.#instructions.exited(tid);
      this.#o.recorder?.exited(time, tid, waitStatus(this.#stop.result));
      this.#o.processes.exited(tid);
    }
  }

  /** Judged again on what is really there, before its first instruction. */
  #checkExeced(tid: number): void {
    if (!this.#stack.wantsEntry(EXECVE)) return;
    const event = new DecodedCall(this.#stop, syscallByNumber(EXECVE)!, this.#o.processes);
    const refused = this.#execs.inPlace(tid, event, this.#o.processes.get(tid));
    if (!refused) return;
    this.#answer.begin(ANSWER.kill);
    const { exe } = this.#o.processes.get(tid);
    const reason = `${refused.reason ?? "a program that may not run"} (${exe} was in place of what was decided on)`;
    this.#mediator.record(event, { ...refused, action: "kill", reason });
  }

  /** A thread that execs takes the leader's number. */
  #movePending(from: number, to: number): void {
    this.#abandon(to);
    this.#execs.moved(from, to);
    const pending = this.#pending.get(from);
    this.#pending.delete(from);
    if (pending) this.#pending.set(to, pending);
  }

  /** An event whose caller is gone: nobody waits for it any more. */
  #letGo(tid: number): void {
    const held = this.#held.gone(tid);
    if (!held) return;
    for (let i = 0; i < MAX_PINS; i++)
      native().releasePin(held.pins.subarray(i * PIN_SIZE, (i + 1) * PIN_SIZE));
  }

  /** The call in progress will never return. */
  #abandon(tid: number): void {
    const record = this.#pending.get(tid)?.record;
    this.#pending.delete(tid);
    this.#execs.gone(tid);
    this.#letGo(tid);
    if (record) this.#o.recorder!.settled(record);
  }
}
