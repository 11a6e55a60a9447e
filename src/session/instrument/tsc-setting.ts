import { callNumber, errnoValue, flagsValue } from "../../abi/named.js";
import type { CallEvent } from "../../nouns/event.js";
import { emulate, type Verdict, type VerdictAction } from "../../nouns/verdict.js";
import type { ConstantTest, Policy } from "../../policy/policy.js";

const PRCTL = callNumber("prctl");
const GET = BigInt(flagsValue("prctl", "PR_GET_TSC"));
const SET = BigInt(flagsValue("prctl", "PR_SET_TSC"));
/** PR_TSC_ENABLE and PR_TSC_SIGSEGV of linux/prctl.h. */
const ENABLE = 1;
const FAULT = 2;
const EINVAL = errnoValue("EINVAL");

/**
 * HERMES uses prctl(PR_SET_TSC) to make rdtsc fault, and a program may use it too. We keep each thread's own
 * setting and return it when the program asks. New threads and processes inherit it.
 */
export class TscSetting {
  readonly #faults = new Set<number>();

  /** True when the program itself asked for the signal. */
  faults(tid: number): boolean {
    return this.#faults.has(tid);
  }

  forked(parent: number, child: number): void {
    if (this.#faults.has(parent)) this.#faults.add(child);
  }

  exited(tid: number): void {
    this.#faults.delete(tid);
  }

  /** Emulates the two calls. */
  get policy(): Policy {
    const actions: ReadonlySet<VerdictAction> = new Set<VerdictAction>(["allow", "emulate"]);
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
