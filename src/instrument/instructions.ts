import { Held, type Waiting } from "../approval/held.js";
import type { Processes } from "../decode/reach.js";
import { NotPossible } from "../doors/door.js";
import { resultOf, signalOf } from "../doors/refuse.js";
import type { InstructionEvent } from "../event.js";
import { ANSWER, ANSWER_FLAG } from "../kernel/layout.js";
import type { Answer, Stop } from "../kernel/stop.js";
import type { InstructionWish, PolicyStack } from "../policy/stack.js";
import { type Decision, deny, type RegisterValues, type Verdict } from "../verdict.js";
import type { CounterSetting } from "./counter-setting.js";
import { FaultedInstruction } from "./faulted.js";
import type { InstructionHost } from "./instruction-hits.js";

export interface InstructionsOptions {
  readonly stop: Stop;
  readonly answer: Answer;
  readonly stack: PolicyStack;
  readonly processes: Processes;
  readonly setting: CounterSetting;
  readonly host: InstructionHost;
}

interface HeldInstruction extends Waiting {
  readonly event: FaultedInstruction;
}

/** Registers that a faulting instruction can leave, in the order of the answer's. */
const RESULTS = ["a", "b", "c", "d"];
const LOW = 0xffff_ffffn;

/** Instructions that fault instead of running (rdtsc, rdtscp): has them decided, and puts their results in place. */
export class Instructions {
  readonly #o: InstructionsOptions;
  #wishes: ReadonlyMap<string, readonly InstructionWish[]> = new Map();
  readonly #held = new Held<HeldInstruction>((question, why) => this.#o.host.withdraw(question, why));

  constructor(options: InstructionsOptions) {
    this.#o = options;
    this.replaceStack(options.stack);
  }

  replaceStack(stack: PolicyStack): void {
    const wishes = new Map<string, InstructionWish[]>();
    for (const wish of stack.instructions)
      wishes.set(wish.interest.name, [...(wishes.get(wish.interest.name) ?? []), wish]);
    this.#wishes = wishes;
  }

  /** As Handler.handle. */
  handle(): number {
    const { stop, answer, setting, host, processes } = this.#o;
    if (setting.faults(stop.tid)) {
      answer.begin(ANSWER.continue, ANSWER_FLAG.deliver);
      return 0;
    }
    const event = new FaultedInstruction(stop, processes);
    const wishes = this.#wishes.get(event.name);
    if (!wishes) {
      answer.begin(ANSWER.continue);
      return 0;
    }
    let decision = host.decide(event, wishes);
    if (decision.action === "ask") {
      const asked = host.ask(event, decision);
      if (!("action" in asked)) return this.#hold({ event, decision, question: asked.id }, asked.patience);
      decision = asked;
    }
    const { delay = 0, ...fault } = decision.fault ?? {};
    if (delay > 0) return this.#hold({ event, decision: { ...decision, fault } }, delay);
    this.#carryOut(event, decision);
    return 0;
  }

  #hold(held: HeldInstruction, milliseconds: number): number {
    this.#held.set(held.event.tid, held);
    this.#o.answer.begin(ANSWER.hold);
    return Math.max(1, milliseconds);
  }

  /** As Handler.release. */
  release(tid: number): boolean {
    const held = this.#held.take(tid);
    if (held) this.#carryOut(held.event, held.decision);
    return held !== undefined;
  }

  /** A person has answered these questions. Returns the threads that are decided on now. */
  answered(questions: ReadonlySet<number>, settle: (decision: Decision) => Decision): number[] {
    return this.#held.answered(questions, settle);
  }

  exited(tid: number): void {
    this.#held.gone(tid);
    this.#o.setting.exited(tid);
  }

  #carryOut(event: FaultedInstruction, decision: Decision): void {
    const { answer, host } = this.#o;
    let done = decision;
    try {
      answerCounter(event, decision, answer);
    } catch (error) {
      const reason = `policy ${decision.policy}: ${(error as Error).message}`;
      host.problem(`${reason}; ${event.name} was denied`);
      done = { ...deny(reason), rule: "not-possible", policy: decision.policy, version: decision.version };
      answerCounter(event, done, answer);
    }
    host.record(event, done);
  }
}

/** A counter reads as the policy says; where it is denied, as zero. */
function answerCounter(event: InstructionEvent, verdict: Verdict, answer: Answer): void {
  switch (verdict.action) {
    case "allow":
      answer.begin(ANSWER.continue);
      return;
    case "kill":
      answer.begin(ANSWER.kill);
      return;
    case "emulate": {
      const { result, registers } = verdict.emulation!;
      put(answer.begin(ANSWER.continue), BigInt(resultOf(result)), registers);
      return;
    }
    case "modify": {
      const { result, registers } = verdict.change!;
      put(
        answer.begin(ANSWER.continue),
        result === undefined ? event.value! : BigInt(resultOf(result)),
        registers,
      );
      return;
    }
    case "fault": {
      const { errno, signal, short } = verdict.fault!;
      if (errno !== undefined || short !== undefined)
        throw new NotPossible("an instruction has no errno and transfers nothing: give signal or delay");
      answer.begin(ANSWER.continue);
      if (signal !== undefined) answer.signal(signalOf(signal));
      return;
    }
    default:
      put(answer.begin(ANSWER.return), 0n, undefined);
  }
}

function put(answer: Answer, value: bigint, registers: RegisterValues | undefined): void {
  const wide = BigInt.asUintN(64, value);
  answer.register(0, wide & LOW).register(3, wide >> 32n);
  for (const [name, given] of Object.entries(registers ?? {})) {
    const at = RESULTS.indexOf(/^[re]([abcd])x$/.exec(name)?.[1] ?? "");
    if (at < 0) throw new NotPossible(`${name} is none of the registers that it leaves: eax, ebx, ecx, edx`);
    answer.register(at, name.startsWith("e") ? BigInt(given) & LOW : BigInt(given));
  }
}
