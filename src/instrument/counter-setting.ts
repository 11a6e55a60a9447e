import type { CallEvent } from "../event.js";
import type { ConstantTest, Policy } from "../policy/policy.js";
import { type Action, emulate, type Verdict } from "../verdict.js";

const PRCTL = 157;
const GET = 25n;
const SET = 26n;
const ENABLE = 1;
const FAULT = 2;
const EINVAL = 22;

/**
 * prctl(PR_SET_TSC) is how HERMES has the time stamp counter fault, and a program may use it too: what it sets is kept
 * here, by thread, and what it reads is what it set. Threads and processes that it starts inherit it.
 */
export class CounterSetting {
  readonly #faults = new Set<number>();

  /** Whether the program itself asked for a signal. */
  faults(tid: number): boolean {
    return this.#faults.has(tid);
  }

  forked(parent: number, child: number): void {
    if (this.#faults.has(parent)) this.#faults.add(child);
  }

  exited(tid: number): void {
    this.#faults.delete(tid);
  }

  /** Answers the two calls in the kernel's place. */
  get policy(): Policy {
    const actions: ReadonlySet<Action> = new Set<Action>(["allow", "emulate"]);
    const test: ConstantTest = { arg: 0, width: 32, op: "in", value: [GET, SET] };
    return {
      name: "time-stamp-counter",
      version: "1",
      builtIn: true,
      subscription: {
        calls: new Map([[PRCTL, { entry: true, returns: false, actions, when: [[test]] }]]),
        constants: [],
      },
      decide: (event) => this.#decide(event),
      decideReturn: () => undefined,
    };
  }

  #decide(event: CallEvent): Verdict | undefined {
    const option = BigInt.asUintN(32, event.argument(0));
    if (option === GET) {
      const bytes = Buffer.alloc(4);
      bytes.writeInt32LE(this.faults(event.tid) ? FAULT : ENABLE);
      return emulate(0, { memory: [{ address: event.argument(1), bytes }] });
    }
    if (option !== SET) return undefined;
    const wanted = Number(BigInt.asUintN(32, event.argument(1)));
    if (wanted !== ENABLE && wanted !== FAULT) return emulate(-EINVAL);
    if (wanted === FAULT) this.#faults.add(event.tid);
    else this.#faults.delete(event.tid);
    return emulate(0);
  }
}
