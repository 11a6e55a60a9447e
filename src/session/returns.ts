import { syscallByNumber } from "../abi/index.js";
import { ANSWER, ANSWER_FLAG, DOOR } from "../kernel/binding/layout.js";
import type { Stop, StopAnswer } from "../kernel/binding/stop.js";
import { DecodedCall } from "../kernel/decode/call.js";
import { type AfterCall, insteadOf } from "../kernel/doors/door.js";
import type { ProcessTable } from "../kernel/process/process-table.js";
import type { Decision } from "../nouns/verdict.js";
import { refusedDecision } from "../people/approval/questions.js";
import type { PolicyStack } from "../policy/stack.js";
import type { Activity } from "../record/trace/activity.js";
import type { OpenRecord, Recorder } from "../record/trace/recorder.js";
import { answerReturn } from "./answer-return.js";
import type { HeldCalls } from "./held-calls.js";
import type { Instrument } from "./instrument/instrument.js";
import type { Summary } from "./summary.js";
import { unknownCall } from "./undecidable.js";

/** A call that was let through, and whose return HERMES waits for. */
export interface PendingCall {
  readonly after: AfterCall;
  readonly entry: DecodedCall | undefined;
  readonly record: OpenRecord | undefined;
}

export interface ReturnsOptions {
  readonly stop: Stop;
  readonly answer: StopAnswer;
  readonly policies: () => PolicyStack;
  readonly processes: ProcessTable;
  readonly held: HeldCalls;
  readonly summary: Summary;
  readonly recorder?: Recorder;
  readonly activity: Activity;
  readonly inside: Instrument | undefined;
  readonly onProblem: (text: string) => void;
}

/** What happens to a call after its answer: its record, and its return where a policy, the record or HERMES wants it. */
export class Returns {
  readonly #o: ReturnsOptions;
  readonly #pending = new Map<number, PendingCall>();

  constructor(options: ReturnsOptions) {
    this.#o = options;
  }

  /** Threads in calls whose return is waited for. */
  get threads(): Iterable<number> {
    return this.#pending.keys();
  }

  /** The call has its answer: records it, and waits for its return where that concerns anyone. */
  follow(event: DecodedCall, decision: Decision, after: AfterCall = { restore: [] }): void {
    const { recorder, activity, answer, inside } = this.#o;
    const record = recorder?.open(event, decision);
    if (activity.isWatched) activity.entered(event);
    const goesOn = answer.action === ANSWER.continue || answer.action === ANSWER.onBehalf;
    if (!goesOn || event.stop.door !== DOOR.trace) {
      if (record) recorder!.finish(record, goesOn ? undefined : answer.resultOfReturn);
      return;
    }
    const asksPolicy = this.#o.policies().wantsReturn(event.nr);
    const isNewCode = inside?.wantsReturn(event.nr) === true;
    const concerns = record || asksPolicy || isNewCode || after.restore.length > 0 || after.wrote;
    if (!concerns && !(activity.isWatched && activity.wantsReturn(event))) return;
    answer.flag(ANSWER_FLAG.wantReturn);
    this.#pending.set(event.tid, { after, record, entry: asksPolicy ? event.detach() : undefined });
  }

  /** A call has happened. Returns for how many milliseconds its return is held. */
  handle(): number {
    const { stop, answer, inside, processes, held } = this.#o;
    const { tid, nr } = stop;
    inside?.returned(tid, nr, stop.result, stop.ulong(0), stop.ulong(1));
    const pending = this.#pending.get(tid);
    this.#pending.delete(tid);
    answer.begin(ANSWER.continue);
    if (!pending) return 0;
    const event = new DecodedCall(stop, syscallByNumber(nr) ?? unknownCall(nr), processes, pending.entry);
    const decided = pending.entry ? this.#o.policies().decideReturn(event) : undefined;
    // The call has happened: a person could not stop it any more.
    const decision =
      decided?.action === "ask" ? refusedDecision(decided, "a result cannot be asked about") : decided;
    if (decision?.fault?.delay) return held.delay(event, decision, pending);
    this.finish(event, decision, pending);
    return 0;
  }

  /** The program sees the result as the policies decided, and none of the changes that HERMES made for the call. */
  finish(event: DecodedCall, decision: Decision | undefined, { after, record }: PendingCall): void {
    const { answer, recorder, activity } = this.#o;
    answer.begin(ANSWER.continue);
    if (decision) this.#answerDecided(event, decision);
    for (const { address, bytes } of after.restore) answer.memory(address, bytes);
    if (after.wrote && event.result >= 0) {
      const { asked, given } = after.wrote;
      const told = event.result >= given ? asked : Math.min(event.result, asked);
      answer.result(told).flag(ANSWER_FLAG.setResult);
    }
    if (record) recorder!.returned(record, event);
    if (activity.isWatched) activity.returned(event);
  }

  #answerDecided(event: DecodedCall, decision: Decision): void {
    const { answer, onProblem, summary } = this.#o;
    let done = decision;
    try {
      answerReturn(event, decision, answer);
    } catch (error) {
      done = insteadOf(decision, error as Error);
      onProblem(`${done.reason}; ${event.name} was denied`);
      answerReturn(event, done, answer);
    }
    summary.countReturn(event.nr, done);
  }

  /** A thread that is not the leader takes the leader's number when it execs. */
  moved(from: number, to: number): void {
    const pending = this.#pending.get(from);
    this.#pending.delete(from);
    if (pending) this.#pending.set(to, pending);
  }

  /** The call in progress will never return. */
  abandon(tid: number): void {
    const record = this.#pending.get(tid)?.record;
    this.#pending.delete(tid);
    if (record) this.#o.recorder!.finish(record);
  }
}
