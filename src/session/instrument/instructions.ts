import { ANSWER, ANSWER_FLAG } from "../../kernel/binding/layout.js";
import type { Stop, StopAnswer } from "../../kernel/binding/stop.js";
import type { ProcessLookup } from "../../kernel/decode/reach-path.js";
import { NotPossible } from "../../kernel/doors/door.js";
import { resultOf, toSignal } from "../../kernel/doors/refuse.js";
import type { InstructionEvent } from "../../nouns/event.js";
import { type Decision, deny, type RegisterValues, type Verdict } from "../../nouns/verdict.js";
import { type HeldThread, HeldThreads } from "../../people/approval/held-threads.js";
import type { InstructionSubscriber, PolicyStack } from "../../policy/stack.js";
import { FaultedInstruction } from "./faulted-instruction.js";
import type { InstructionHost } from "./instruction-hits.js";
import type { TscSetting } from "./tsc-setting.js";

interface InstructionsOptions {
  readonly stop: Stop;
  readonly answer: StopAnswer;
  readonly stack: PolicyStack;
  readonly processes: ProcessLookup;
  readonly setting: TscSetting;
  readonly host: InstructionHost;
}

interface HeldInstruction extends HeldThread {
  readonly event: FaultedInstruction;
}

/** Registers that a faulting instruction writes, in the order of the answer. */
const RESULTS = ["a", "b", "c", "d"];
const LOW = 0xffff_ffffn;

/** Decides instructions that fault instead of running (rdtsc, rdtscp), and writes their results. */
export class Instructions {
  readonly #o: InstructionsOptions;
  #subscribers: ReadonlyMap<string, readonly InstructionSubscriber[]> = new Map();
  readonly #held = new HeldThreads<HeldInstruction>((question, why) => this.#o.host.withdraw(question, why));

  constructor(options: InstructionsOptions) {
    this.#o = options;
    this.replaceStack(options.stack);
  }

  replaceStack(stack: PolicyStack): void {
    const subscribers = new Map<string, InstructionSubscriber[]>();
    for (const subscriber of stack.instructions)
      subscribers.set(subscriber.subscription.name, [
        ...(subscribers.get(subscriber.subscription.name) ?? []),
        subscriber,
      ]);
    this.#subscribers = subscribers;
  }

  /** As Handler.handle. */
  handle(): number {
    const { stop, answer, setting, host, processes } = this.#o;
    if (setting.faults(stop.tid)) {
      answer.begin(ANSWER.continue, ANSWER_FLAG.deliver);
      return 0;
    }
    const event = new FaultedInstruction(stop, processes);
    const subscribers = this.#subscribers.get(event.name);
    if (!subscribers) {
      answer.begin(ANSWER.continue);
      return 0;
    }
    let decision = host.decide(event, subscribers);
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

  /** An approver has answered these questions. Returns the threads that are now decided. */
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

/** The counter has the value that the policy gives; denied, it is zero. */
function answerCounter(event: InstructionEvent, verdict: Verdict, answer: StopAnswer): void {
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
        throw new NotPossible("an instruction has no errno and transfers no bytes: use signal or delay");
      answer.begin(ANSWER.continue);
      if (signal !== undefined) answer.signal(toSignal(signal));
      return;
    }
    default:
      put(answer.begin(ANSWER.return), 0n, undefined);
  }
}

function put(answer: StopAnswer, value: bigint, registers: RegisterValues | undefined): void {
  const wide = BigInt.asUintN(64, value);
  answer.register(0, wide & LOW).register(3, wide >> 32n);
  for (const [name, given] of Object.entries(registers ?? {})) {
    const at = RESULTS.indexOf(/^[re]([abcd])x$/.exec(name)?.[1] ?? "");
    if (at < 0) throw new NotPossible(`unknown result register ${name} (known: eax, ebx, ecx, edx)`);
    answer.register(at, name.startsWith("e") ? BigInt(given) & LOW : BigInt(given));
  }
}
