import { syscallByName } from "../abi/index.js";
import { flagsValue } from "../abi/named.js";
import { readText } from "../kernel/process/proc.js";
import type { ProcessTable } from "../kernel/process/process-table.js";
import type { CallEvent } from "../nouns/event.js";
import type { CallSubscription, ConstantTest, Policy } from "../policy/policy.js";

const PTRACE = syscallByName("ptrace")!.nr;
const SEIZE = flagsValue("ptrace", "PTRACE_SEIZE");
const SET_OPTIONS = [flagsValue("ptrace", "PTRACE_SETOPTIONS"), flagsValue("ptrace", "PTRACE_OLDSETOPTIONS")];
/** ptrace(2): PTRACE_O_TRACEEXEC; PTRACE_O_TRACEFORK, TRACEVFORK and TRACECLONE. */
const O_EXEC = 0x10n;
const O_CHILDREN = 0x0en;
const SIGTRAP = 5n;

const request = (value: number): ConstantTest => ({ arg: 0, width: 64, op: "eq", value: BigInt(value) });
const hidesExecs: ConstantTest = { arg: 3, width: 64, op: "masked", mask: O_EXEC, value: 0n };

/**
 * Programs of the session that another process of the session traces, such as a debugger. HERMES verifies their execs in the
 * stop that the kernel makes for that tracer (native/doors/traced-exec.c). The kernel makes none if the tracer has seized
 * them without PTRACE_O_TRACEEXEC: this remembers which tracers have.
 */
export class TracedExecs {
  readonly #seizers = new Set<number>();
  /** Tracers whose tracees' children may be traced without a stop at execs. */
  readonly #hiding = new Set<number>();
  /** Tracees without one, by their numbers in any pid namespace. A number that is used again is refused too. */
  readonly #hidden = new Set<number>();

  /** Decides nothing: it sees the calls that choose how to trace. */
  readonly policy: Policy = {
    name: "traced-execs",
    version: "",
    builtIn: true,
    subscription: { calls: new Map([[PTRACE, SUBSCRIPTION]]), constants: [] },
    decide: (event) => this.#see(event),
    decideReturn: () => undefined,
  };

  #see(event: CallEvent): undefined {
    const asked = Number(event.argument(0));
    const options = event.argument(3);
    const tracer = event.process.pid;
    if (asked === SEIZE) this.#seizers.add(tracer);
    else if (!SET_OPTIONS.includes(asked) || !this.#seizers.has(tracer)) return;
    if (options & O_EXEC) return;
    if (options & O_CHILDREN) this.#hiding.add(tracer);
    else this.#hidden.add(Number(BigInt.asIntN(32, event.argument(1))));
  }

  /** The thread that traces this one, if the exec of this one can be verified in its stop; else why not. */
  tracerOf(tid: number, processes: ProcessTable): number | string {
    const status = readText(`/proc/${tid}/status`);
    const field = (name: string) => new RegExp(`^${name}:\\t(.*)$`, "m").exec(status)?.[1] ?? "";
    const tracer = Number(field("TracerPid"));
    if (!(tracer > 0)) return "HERMES may not trace it";
    const { pid } = processes.get(tracer);
    if (!processes.isOfRun(pid, tid)) return `process ${pid}, which traces it, is outside of the run`;
    if (field("Threads") !== "1") return `process ${pid} traces it, and it has several threads`;
    if ((BigInt(`0x${field("SigBlk")}`) >> (SIGTRAP - 1n)) & 1n)
      return `process ${pid} traces it, and it blocks SIGTRAP`;
    const numbers = field("NSpid").split("\t").map(Number);
    if (this.#hiding.has(pid) || numbers.some((number) => this.#hidden.has(number)))
      return `process ${pid} traces it without PTRACE_O_TRACEEXEC`;
    return tracer;
  }
}

const SUBSCRIPTION: CallSubscription = {
  entry: true,
  returns: false,
  actions: new Set(["allow"]),
  when: [[request(SEIZE)], ...SET_OPTIONS.map((asked) => [request(asked), hidesExecs])],
};
