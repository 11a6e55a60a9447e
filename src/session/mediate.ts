import { errnoNumber, syscallByName, syscallByNumber } from "../abi/index.js";
import { ANSWER, ANSWER_FLAG, KIND } from "../kernel/binding/layout.js";
import { Stop, StopAnswer } from "../kernel/binding/stop.js";
import { DecodedCall } from "../kernel/decode/call.js";
import { reachForCaller } from "../kernel/decode/reach-path.js";
import { type AfterCall, insteadOf } from "../kernel/doors/door.js";
import { CHANGES_IDENTITY, CHANGES_VIEW, changesIdentity } from "../kernel/doors/door-plan.js";
import { notifyDoor } from "../kernel/doors/notify.js";
import { handOverMemory } from "../kernel/doors/on-behalf.js";
import { traceDoor, traceDoorAlone } from "../kernel/doors/trace.js";
import type { ProcessTable } from "../kernel/process/process-table.js";
import type { Decision, Verdict } from "../nouns/verdict.js";
import type { Reply } from "../people/approval/answer.js";
import { type SessionQuestions, settledBy, withoutApprover } from "../people/approval/questions.js";
import type { PolicyStack } from "../policy/stack.js";
import type { Activity } from "../record/trace/activity.js";
import type { Recorder } from "../record/trace/recorder.js";
import { Execs } from "./exec-chain.js";
import { HeldCalls } from "./held-calls.js";
import { Instructions } from "./instrument/instructions.js";
import type { Instrument } from "./instrument/instrument.js";
import type { TscSetting } from "./instrument/tsc-setting.js";
import type { Vdso } from "./instrument/vdso.js";
import { Lifecycle } from "./lifecycle.js";
import { instructionHost, makeInstrument } from "./make-instrument.js";
import { Returns } from "./returns.js";
import type { Summary } from "./summary.js";
import type { TracedExecs } from "./traced-execs.js";
import {
  isAbsent,
  kernelError,
  namesNothing,
  unknownCall,
  unreadableArgument,
  withReread,
} from "./undecidable.js";
import { VerdictCache } from "./verdict-cache.js";
import type { VirtualFiles } from "./virtual-files.js";

const EXEC: ReadonlySet<number> = new Set(["execve", "execveat"].map((name) => syscallByName(name)!.nr));
const ENOSYS = errnoNumber("ENOSYS")!;
const ENOENT = errnoNumber("ENOENT")!;
const MAY_REFUSE: ReadonlySet<Decision["action"]> = new Set(["ask", "deny"]);

export interface MediatorOptions {
  /** The buffer that the native part shares: the stop lies in it, and the answer. */
  readonly memory: ArrayBufferLike;
  readonly stack: PolicyStack;
  readonly processes: ProcessTable;
  readonly summary: Summary;
  readonly virtualFiles: VirtualFiles;
  /** Where to ask a person. */
  readonly questions?: SessionQuestions;
  /** The program has no filter, and so no listener behind the trace door. */
  readonly alone?: boolean;
  /** The program ran before HERMES came: it has no broker, and no verdict is cached. */
  readonly attached?: boolean;
  /** The session has no trace door: it traces the caller of an exec until what runs is verified. */
  readonly tracesExecs?: boolean;
  readonly tracedExecs?: TracedExecs;
  /** What the program set of its time stamp counter. */
  readonly setting: TscSetting;
  /** Makes the calls of new programs enter the kernel where they must be seen. */
  readonly vdso?: Vdso;
  readonly recorder?: Recorder;
  readonly activity: Activity;
  /** Whether policies may want functions or instructions inside the program. */
  readonly inside?: boolean;
  readonly prototypes?: readonly string[];
  /** Tells a person that a policy asked for something that cannot be done. */
  readonly onProblem: (text: string) => void;
}

/**
 * Every stop of the program, one after the other: event → decide → ask → carry out → record. READ THIS FILE FIRST.
 *
 * Before it, native/ and kernel/decode/ make an event of what the kernel stopped. After it, kernel/doors/ turn the verdict
 * into an answer, which the kernel carries out. Beside it: what a call returned (returns.ts), programs that start and end
 * (lifecycle.ts), functions and instructions inside the program (instrument/).
 */
export class Mediator {
  readonly #o: MediatorOptions;
  readonly #stop: Stop;
  readonly #answer: StopAnswer;
  #stack: PolicyStack;
  readonly #execs: Execs;
  readonly #held: HeldCalls;
  readonly #returns: Returns;
  readonly #lifecycle: Lifecycle;
  readonly #instructions: Instructions;
  /** Looks into programs, where a policy wants that. */
  readonly inside: Instrument | undefined;
  /** The verdict cache; not where every call must be seen. */
  readonly verdictCache: VerdictCache | undefined;
  #lookedAtFirst = false;

  constructor(options: MediatorOptions) {
    const { memory, stack, processes, setting, recorder } = options;
    const stop = new Stop(memory);
    const answer = new StopAnswer(memory);
    this.#o = options;
    this.#stop = stop;
    this.#answer = answer;
    this.#stack = stack;
    this.#execs = new Execs({
      decide: (event) => this.#stack.decide(event),
      reach: (event, path) => reachForCaller(stop.broker, event.tid, processes, path),
    });
    this.#held = new HeldCalls(stop, answer, (question, why) => options.questions?.withdraw(question, why));
    const policies = () => this.#stack;
    const host = instructionHost(options, policies);
    this.#instructions = new Instructions({ stop, answer, stack, processes, setting, host });
    if (options.inside) this.inside = makeInstrument(options, policies);
    const parts = { ...options, stop, answer, policies, held: this.#held, inside: this.inside };
    this.#returns = new Returns(parts);
    const [execs, returns, instructions] = [this.#execs, this.#returns, this.#instructions];
    this.#lifecycle = new Lifecycle({ ...parts, execs, returns, instructions });
    if (!options.attached)
      this.verdictCache = new VerdictCache(stack, !options.inside && !recorder, !options.tracesExecs);
  }

  /** Takes the stop in the shared buffer. Returns 0 with the answer in it, or for how many milliseconds to hold the event. */
  handle(kind: number): number {
    this.#stop.generation++;
    this.inside?.before();
    switch (kind) {
      case KIND.entry:
        return this.#call();
      case KIND.return:
        return this.#returns.handle();
      case KIND.signal:
        return this.inside!.signal();
      case KIND.instruction:
        return this.#instructions.handle();
      default:
        return this.#lifecycle.handle(kind);
    }
  }

  /** The program waits in a system call: may it happen, and as what? */
  #call(): number {
    const call = syscallByNumber(this.#stop.nr) ?? unknownCall(this.#stop.nr);
    const event = new DecodedCall(this.#stop, call, this.#o.processes);
    this.#notice(event);
    if (this.#answerUndecidable(event)) return 0;
    const decision = this.#decide(event);
    const error = MAY_REFUSE.has(decision.action) ? kernelError(event) : 0;
    if (error !== 0) return this.#fail(event, decision, error);
    if (decision.action === "ask") return this.#ask(event, decision);
    if (decision.fault?.delay) return this.#held.delay(event, decision);
    this.#carryOut(event, decision);
    // What policies allow without a person can be cached for the next call of its kind.
    if (decision.action === "allow" && !decision.watched) this.verdictCache?.learn(event, this.#answer);
    return 0;
  }

  #decide(event: DecodedCall): Decision {
    const decision = withReread(event, this.#stack.decide(event), this.#stack);
    if (event.door === "notify") this.verdictCache?.seen(event);
    const isRefused = decision.action === "deny" || decision.action === "kill";
    if (!EXEC.has(event.nr) || isRefused || !this.#stack.wantsEntry(event.nr)) return decision;
    return this.#execs.entry(event, event.pinnedFile, decision);
  }

  /** Holds the call until an approver answers; without one, the call is refused. */
  #ask(event: DecodedCall, decision: Decision): number {
    // There is nothing to ask about: a shell looks into every folder of PATH.
    if (event.unreachable !== 0) return this.#fail(event, decision, event.unreachable);
    const asked = this.#o.questions?.ask(event, decision) ?? withoutApprover(decision);
    if ("action" in asked) {
      this.#carryOut(event, asked);
      return 0;
    }
    this.#held.hold(event, decision, { question: asked.id });
    return asked.patience;
  }

  /** The kernel's own error: it comes before any refusal. */
  #fail(event: DecodedCall, decision: Decision, error: number): number {
    if (namesNothing(event)) this.#answer.begin(ANSWER.continue);
    else this.#answer.begin(ANSWER.return).result(-error);
    this.#returns.follow(event, { ...decision, action: "allow" });
    return 0;
  }

  /** An approver has answered. Returns the threads whose calls are decided by that. */
  answer(id: number, reply: Reply): number[] {
    const questions = new Set(this.#o.questions?.answer(id, reply));
    const decide = (decision: Decision) => settledBy(decision, reply);
    return [
      ...this.#instructions.answered(questions, decide),
      ...(this.inside?.answered(questions, decide) ?? []),
      ...this.#held.answered(questions, decide),
    ];
  }

  /** Writes the answer to an event that was held, and whose time has come. */
  release(tid: number): boolean {
    if (this.inside?.release(tid)) return true;
    const held = this.#held.take(tid);
    if (held?.pending) this.#returns.finish(held.event, held.decision, held.pending);
    else if (held) this.#carryOut(held.event, held.decision);
    return held !== undefined || this.#instructions.release(tid);
  }

  /** The door turns the decision into an answer. HERMES refuses what the door cannot do, and reports it. */
  #carryOut(event: DecodedCall, decision: Decision): void {
    const { summary, alone, onProblem } = this.#o;
    const door = event.door === "notify" ? notifyDoor : alone ? traceDoorAlone : traceDoor;
    let after: AfterCall = { restore: [] };
    let done = decision;
    try {
      door.carryOut(event, this.#withVirtualFile(decision), this.#answer, after);
    } catch (error) {
      done = insteadOf(decision, error as Error);
      onProblem(`${done.reason}; ${event.name} was denied`);
      after = { restore: [] };
      door.carryOut(event, done, this.#answer, after);
    }
    if (EXEC.has(event.nr)) this.#verifyExec(event, done);
    summary.count(event, done);
    this.#returns.follow(event, done, after);
    // A call on behalf of the program sees the same memory as the policies, the record and the question have seen.
    const problem = handOverMemory(event, this.#answer);
    if (problem === undefined) return;
    onProblem(problem);
    this.#lifecycle.abandon(event.tid);
  }

  /** At the notify door the program is traced for this one exec, unless it can only fail. */
  #verifyExec(event: DecodedCall, decision: Decision): void {
    const { tracesExecs } = this.#o;
    if (!tracesExecs || this.#answer.action !== ANSWER.continue || !this.#stack.mayRefuse(event.nr)) return;
    if (event.unreachable === ENOENT) this.#answer.begin(ANSWER.return).result(-ENOENT);
    else
      this.#answer.flag(ANSWER_FLAG.verify | (this.#mayCacheExec(event, decision) ? ANSWER_FLAG.cache : 0));
  }

  #mayCacheExec({ nr }: DecodedCall, { action, watched }: Decision): boolean {
    return this.verdictCache !== undefined && action === "allow" && !watched && this.#stack.cachesExecs(nr);
  }

  /** A virtual file is a real one with a name of ours. */
  #withVirtualFile(decision: Decision): Verdict {
    const content = decision.emulation?.content;
    if (content === undefined) return decision;
    const { emulation: _, ...rest } = decision;
    return { ...rest, action: "modify", change: { to: this.#o.virtualFiles.pathOf(content) } };
  }

  /** Calls that no policy is asked about: it could not see their arguments, or the kernel would read others. */
  #answerUndecidable(event: DecodedCall): boolean {
    if (!this.#stack.wantsEntry(event.nr)) return false;
    const refusal = unreadableArgument(event, this.#answer, this.#o.alone);
    if (refusal) {
      this.#o.summary.count(event, refusal);
      this.#returns.follow(event, refusal);
    } else if (isAbsent(event)) {
      this.#answer.begin(ANSWER.return).result(-ENOSYS);
      this.#returns.follow(event, { action: "allow", policy: "", version: "" });
    } else return false;
    return true;
  }

  /** What HERMES must know of the call, also where no policy decides on it. */
  #notice(event: DecodedCall): void {
    const { nr, tid } = event;
    const { processes, activity } = this.#o;
    this.inside?.called(tid, this.#stop.ip);
    if (CHANGES_VIEW.has(nr)) processes.viewsDiffer = true;
    if (CHANGES_IDENTITY.has(nr) && changesIdentity(nr, (i) => this.#stop.int(i)))
      processes.identitiesDiffer = true;
    // Until it has executed the program, the first process is not yet what it will be.
    if (!this.#lookedAtFirst && !EXEC.has(nr)) {
      this.#lookedAtFirst = true;
      processes.look(this.#stop.broker, tid);
    }
    // The broker answers from the cache only for callers that see and may touch the same files as itself.
    const differs = processes.viewsDiffer || processes.identitiesDiffer;
    if (this.verdictCache)
      this.verdictCache.inForce = !differs && !(activity.isWatched && activity.counts(event));
  }

  /** Between two events: from the next one on, other policies decide. */
  replaceStack(stack: PolicyStack): void {
    this.#stack = stack;
    this.inside?.replaceStack(stack);
    this.#instructions.replaceStack(stack);
    this.verdictCache?.replaceStack(stack);
  }

  close(): void {
    for (const tid of [...this.#returns.threads, ...this.#held.threads]) this.#lifecycle.abandon(tid);
    this.#o.recorder?.close();
    this.#o.processes.close();
    this.#o.virtualFiles.close();
    this.inside?.close();
    this.verdictCache?.close();
  }
}
