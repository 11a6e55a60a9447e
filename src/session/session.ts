import { constants } from "node:os";
import { resolve as resolvePath } from "node:path";
import { BUFFER_SIZE } from "../kernel/binding/layout.js";
import { native } from "../kernel/binding/native.js";
import { HermesError } from "../nouns/errors.js";
import { type Answer, type Reply, replyOf } from "../people/approval/answer.js";
import type { Question } from "../people/approval/question.js";
import type { Policy } from "../policy/policy.js";
import { FileWatch } from "./file-watch.js";
import type {
  Ending,
  PolicyName,
  SessionOptions,
  SessionResult,
  SessionStatus,
  WorkerOrder,
  WorkerReport,
  WorkerTask,
} from "./options.js";
import type { Refusal } from "./refusal-log.js";
import { answerRemotely, CONTROL_SIZE, endRemote } from "./remote-decider.js";
import type { SupervisorReport } from "./supervisor.js";
import { type Supervising, Thread } from "./thread.js";
import { failure } from "./worker-failure.js";

export interface SessionEvents {
  started?(pid: number, launcher: number): void;
  /** The started program has ended; processes that it left behind may still run. */
  mainExited?(): void;
  mainStopped?(signal: number): void;
  problem?(text: string): void;
  /** With `logRefusals`: the program was refused something, just now. */
  refused?(refusal: Refusal): void;
  /** An approver is asked whether something may happen; the call waits. Without this event it is refused. */
  question?(question: Question, answer: (answer: Answer | Reply) => void): void;
  /** The question is void: its call no longer waits. */
  withdrawn?(id: number, why: string): void;
  /** The policies in force: reported at the start and after every reload. */
  policies?(policies: readonly PolicyName[]): void;
}

const REPEAT_MS = 5;
/** How long a record may stay in memory while the program makes no calls. */
const FLUSH_MS = 1000;
const GRACE_MS = 2000;
/** Exit status, as timeout(1) has it. */
const TIMED_OUT = 124;

/** One mediated run, seen from the main thread. */
export class Session {
  readonly result: Promise<SessionResult>;
  readonly #thread: Supervising;
  #fail: (cause: unknown) => void = () => {};
  #workerTid: number | undefined;
  #pid: number | undefined;
  #unheard = 0;
  #timeout: number | undefined;
  #alarm: NodeJS.Timeout | undefined;
  #timedOut = false;
  #watch: FileWatch | undefined;
  #reload: () => void = () => this.#order({ type: "reload" });
  #askStatus: () => void = () => this.#order({ type: "status" });
  #flush: () => void = () => this.#order({ type: "flush" });
  #answer: (id: number, reply: Reply) => void = (id, reply) => this.#order({ type: "answer", id, reply });
  #flushing: NodeJS.Timeout | undefined;
  #over = false;
  readonly #asking: ((status: SessionStatus) => void)[] = [];
  #nudge: NodeJS.Timeout | undefined;

  /**
   * `inline` are policies that live in this thread. If there are any, all policies of the session run here.
   */
  static async start(
    options: SessionOptions,
    events: SessionEvents = {},
    inline: readonly Policy[] = [],
    thread?: Supervising,
  ): Promise<Session> {
    if (inline.length === 0) return new Session(thread ?? new Thread(), { options }, events);
    const { loadPolicies } = await import("../policy/load.js");
    const loaded = await loadPolicies(options.policies, options);
    const { Mediation } = await import("./mediation.js");
    const memory = new SharedArrayBuffer(BUFFER_SIZE);
    const control = new SharedArrayBuffer(CONTROL_SIZE);
    let session: Session | undefined;
    if (options.fast || options.coverage)
      throw new HermesError("UNAVAILABLE", {
        what: "the fast tier, or coverage,",
        why: "the policies are functions in your program: put them into files and pass the file names",
      });
    // A second try on another thread could not use the same mediation: no stop is saved.
    const mediation = new Mediation({ ...options, defence: "stops" }, [...loaded, ...inline], memory, {
      problem: (text) => events.problem?.(text),
      refused: (refusal) => events.refused?.(refusal),
      ask: (question) => session?.hearQuestion(question, events),
      withdraw: (id, why) => events.withdrawn?.(id, why),
      stop: () => session?.end(),
    });
    await mediation.loadApprovals();
    const task = { options, remote: { doorway: mediation.doorway, memory, control } };
    const began: SessionEvents = {
      ...events,
      started: (pid, launcher) => {
        mediation.began(pid);
        events.started?.(pid, launcher);
      },
    };
    session = new Session(thread ?? new Thread(), task, began, (pid, ending, report) =>
      mediation.finish(pid, ending, report),
    );
    let over = false;
    session.result
      .catch(() => {})
      .finally(() => {
        over = true;
        mediation.close();
        endRemote(control);
      });
    const tellPolicies = () => session.#policiesChanged(mediation.policies, mediation.files, events);
    session.#askStatus = () => session.#hear({ type: "status", status: mediation.status() }, events);
    session.#answer = (id, reply) =>
      session.#order({ type: "release", tids: mediation.mediator.answer(id, reply) });
    session.#flush = () => mediation.flushTrace();
    session.#reload = () => void mediation.reload().then((changed) => changed && tellPolicies());
    tellPolicies();
    answerRemotely(control, mediation.mediator, () => over).catch((cause) => session.#fail(cause));
    return session;
  }

  private constructor(
    thread: Supervising,
    task: WorkerTask,
    events: SessionEvents,
    finish?: (pid: number, ending: Ending, report: SupervisorReport) => SessionResult,
  ) {
    this.#thread = thread;
    this.#timeout = task.options.timeout;
    const ended = new Promise<SessionResult>((resolve, reject) => {
      this.#fail = (cause) => {
        reject(new HermesError("SUPERVISOR", { message: String(cause) }, { cause }));
        this.end();
      };
      const hear = (report: WorkerReport) => {
        if (report.type === "done") resolve(report.result);
        else if (report.type === "over")
          resolve(new Promise((done) => done(finish!(this.#pid!, report.ending, report))));
        else if (report.type === "failed") reject(failure(report));
        else this.#hear(report, events);
        if (!["done", "over", "failed"].includes(report.type)) return;
        this.#over = true;
        for (const [event, listener] of listeners) thread.worker.off(event, listener);
        thread.release();
      };
      const failed = (cause: unknown) =>
        reject(new HermesError("SUPERVISOR", { message: String(cause) }, { cause }));
      const gone = () => {
        this.#over = true;
        reject(new HermesError("SUPERVISOR", { message: "its thread ended" }));
      };
      const listeners = [
        ["message", hear],
        ["error", failed],
        ["exit", gone],
      ] as const;
      for (const [event, listener] of listeners) thread.worker.on(event, listener);
    });
    this.result = ended.then((result) =>
      this.#timedOut ? { ...result, exitCode: TIMED_OUT, timedOut: true } : result,
    );
    const { reload, policies } = task.options;
    if (reload && policies.length > 0)
      this.#watch = new FileWatch(
        policies.map((path) => resolvePath(path)),
        () => this.reload(),
        thread.seen,
      );
    if (task.options.trace) {
      this.#flushing = setInterval(() => this.#pid !== undefined && this.#flush(), FLUSH_MS);
      this.#flushing.unref();
    }
    thread.give(task);
    this.result
      .catch(() => {})
      .finally(() => {
        clearInterval(this.#nudge);
        clearInterval(this.#flushing);
        clearTimeout(this.#alarm);
        this.#watch?.close();
      });
  }

  get pid(): number | undefined {
    return this.#pid;
  }

  #hear(report: WorkerReport, events: SessionEvents): void {
    switch (report.type) {
      case "started":
        this.#pid = report.pid;
        this.#workerTid = report.worker;
        if (this.#timeout !== undefined) this.#alarm = setTimeout(() => this.#timeIsOver(), this.#timeout);
        events.started?.(report.pid, report.launcher);
        if (this.#unheard > 0) this.#wake();
        break;
      case "main-exited":
        if (this.#timedOut) this.end();
        events.mainExited?.();
        break;
      case "main-stopped":
        events.mainStopped?.(report.signal);
        break;
      case "problem":
        events.problem?.(report.text);
        break;
      case "refused":
        events.refused?.(report.refusal);
        break;
      case "question":
        this.hearQuestion(report.question, events);
        break;
      case "withdrawn":
        events.withdrawn?.(report.id, report.why);
        break;
      case "policies":
        this.#policiesChanged(report.policies, report.files, events);
        break;
      case "watch":
        this.#watch?.watch(report.files);
        break;
      case "status":
        for (const answer of this.#asking.splice(0)) answer(report.status);
        break;
      case "heard":
        this.#unheard--;
        break;
    }
  }

  /** @internal */
  hearQuestion(question: Question, events: SessionEvents): void {
    const answer = (given: Answer | Reply) => this.#answer(question.id, replyOf(given));
    if (events.question) events.question(question, answer);
    else answer("no");
  }

  /** The program gets a moment to clean up; then everything ends. */
  #timeIsOver(): void {
    this.#timedOut = true;
    for (const signal of ["SIGTERM", "SIGCONT"] as const)
      native().kill(this.#pid!, constants.signals[signal]);
    this.#alarm = setTimeout(() => this.end(), GRACE_MS);
  }

  #policiesChanged(policies: readonly PolicyName[], files: readonly string[], events: SessionEvents): void {
    this.#watch?.watch(files);
    events.policies?.(policies);
  }

  /** The current state, from the thread that decides. */
  status(): Promise<SessionStatus> {
    return new Promise((answer) => {
      this.#asking.push(answer);
      this.#askStatus();
    });
  }

  /**
   * Reloads the policy files. If one is broken, the old policies stay in force and the reason is reported.
   */
  reload(): void {
    this.#reload();
  }

  /** Kills every process of the session. From an attached program it detaches, and the program runs on. */
  end(): void {
    this.#order({ type: "end" });
  }

  #order(order: WorkerOrder): void {
    if (this.#over) return;
    this.#thread.order(order);
    this.#unheard++;
    this.#wake();
  }

  /**
   * The worker blocks in the kernel. A signal that arrives just before it blocks is lost, so we repeat it.
   */
  #wake(): void {
    clearInterval(this.#nudge);
    const once = () => {
      if (this.#unheard === 0) clearInterval(this.#nudge);
      else if (this.#workerTid !== undefined) native().wake(this.#workerTid);
    };
    once();
    this.#nudge = setInterval(once, REPEAT_MS);
    this.#nudge.unref();
  }
}
