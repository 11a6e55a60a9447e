import { existsSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { allowancesOf } from "../../intent/guard/config/allow.js";
import type { RuntimeCheckOptions } from "../../intent/runtime-check/options.js";
import { native } from "../../kernel/binding/native.js";
import { writableFolders } from "../../nouns/allowance.js";
import type { Answer, Reply } from "../../people/approval/answer.js";
import type { Question } from "../../people/approval/question.js";
import type { SessionResult } from "../../session/options.js";
import { sessionOptions } from "../../session/run.js";
import { Session } from "../../session/session.js";
import type { Thread } from "../../session/thread.js";
import type { Backend, Refusal, RunEvents, Running, RunOrder, RunResult } from "./backend.js";
import { Semaphore } from "./semaphore.js";
import { signalProcesses } from "./signal-processes.js";
import { openStreams, type Streams } from "./streams.js";
import { Threads } from "./threads.js";

/** Milliseconds between SIGTERM and SIGKILL. */
const GRACE_MS = 1000;
/** Milliseconds between the end of a command and the kill of the processes that it left running. */
const ORPHANS_MS = 1000;
/** The exit status of timeout(1). */
const TIMED_OUT = 124;

/** Every run has a thread of tens of megabytes: runs above this number wait. */
const MOST_RUNS = 64;
/** Starting is most of the cost of a short command: more starts at once would only compete. */
const MOST_STARTS = Math.max(4, availableParallelism());
const BEGINNING_MS = 1000;

/** Runs commands on this machine, each in a session of its own. */
export class LocalBackend implements Backend {
  readonly name = "local";
  readonly #threads: Threads;
  readonly #runs = new Semaphore(MOST_RUNS);
  readonly #starts = new Semaphore(MOST_STARTS);
  readonly #running = new Set<LocalRun>();

  constructor(thread?: Thread) {
    this.#threads = new Threads(thread);
    native().hide(); // programs under supervision must not read our memory
  }

  async start(order: RunOrder, events: RunEvents = {}): Promise<Running> {
    const leave = await this.#runs.enter();
    const begun = await this.#starts.enter();
    const run = new LocalRun(order, events);
    this.#running.add(run);
    run.result
      .catch(() => {})
      .finally(() => {
        this.#running.delete(run);
        begun();
        leave();
      });
    setTimeout(begun, BEGINNING_MS).unref();
    await run.start(this.#threads).catch((error) => {
      begun();
      leave();
      throw error;
    });
    return run;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#running].map((run) => run.kill()));
    this.#threads.close();
  }
}

class LocalRun implements Running {
  readonly result: Promise<RunResult>;
  readonly #order: RunOrder;
  readonly #events: RunEvents;
  readonly #streams: Streams;
  #settle: (result: Promise<RunResult>) => void = () => {};
  #session: Session | undefined;
  #pid = 0;
  #launcher = 0;
  #timedOut = false;
  readonly #asked = new Set<number>();
  #left: number;
  #since = 0;
  #alarm: NodeJS.Timeout | undefined;
  #orphans: NodeJS.Timeout | undefined;
  #leftBehind = false;
  #dying: NodeJS.Timeout | undefined;

  constructor(order: RunOrder, events: RunEvents) {
    this.#order = order;
    this.#events = events;
    this.#left = order.timeout;
    this.#streams = openStreams(order, (stream, bytes) => events.output?.(stream, bytes));
    this.result = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  get pid(): number {
    return this.#pid;
  }

  /** Resolves when the program is running. */
  async start(threads: Threads): Promise<void> {
    const { question, withdrawn, problem } = this.#events;
    const running = new Promise<void>((resolve, reject) => {
      Session.start(
        this.#options(),
        {
          started: (pid, launcher) => {
            this.#pid = pid;
            this.#launcher = launcher;
            this.#streams.handedOver();
            this.#goOn();
            resolve();
          },
          mainExited: () => this.#mainExited(),
          ...(question && { question: (asked, answer) => this.#ask(asked, answer, question) }),
          withdrawn: (id, why) => {
            this.#answered(id);
            withdrawn?.(id, why);
          },
          ...(problem && { problem }),
        },
        [],
        threads.take(),
      )
        .then((session) => {
          this.#session = session;
          session.result.catch(reject);
          this.#settle(this.#finish(session));
        })
        .catch(reject);
    });
    await running.catch((error) => {
      this.#streams.close();
      this.#fail(error);
      throw error;
    });
  }

  /** The caller sees the error through the result. Without a caller it was reported already. */
  #fail(error: unknown): void {
    const failed = Promise.reject(error);
    failed.catch(() => {});
    this.#settle(failed);
  }

  #options() {
    const { argv, cwd, env, deed, patience, credentialFiles = [] } = this.#order;
    const readable = [...(deed.readable ?? []), ...credentialFiles.map(({ path }) => path)];
    return {
      ...sessionOptions({
        command: argv,
        cwd,
        env,
        stdio: this.#streams.stdio,
        blockingStdio: this.#streams.blocking,
        fence: { level: "standard", writable: writable(deed) },
        reload: false,
        newSession: true,
        ...(patience !== undefined && { ask: { patience } }),
      }),
      deed: { ...deed, readable },
    };
  }

  async #finish(session: Session): Promise<RunResult> {
    try {
      const result = await session.result;
      this.#streams.over();
      await this.#streams.ended;
      return this.#told(result);
    } finally {
      clearTimeout(this.#alarm);
      clearTimeout(this.#orphans);
      clearTimeout(this.#dying);
      this.#streams.close();
    }
  }

  #told({ exitCode, signal, summary, protections, policies }: SessionResult): RunResult {
    const refusals = (summary.deeds ?? []).flatMap(
      ({ action, reason = "", policy, rule = policy, count: times, ...deed }): Refusal[] =>
        action === "deny" || action === "kill" ? [{ ...deed, policy, reason, rule, times }] : [],
    );
    return {
      exitCode: this.#timedOut ? TIMED_OUT : exitCode,
      ...(signal !== undefined && { signal }),
      timedOut: this.#timedOut,
      ...(this.#leftBehind && { leftBehind: true }),
      refusals,
      policies: policies.map(({ name, version }) => ({ name, version })),
      inForce: protections.inForce,
      missing: protections.missing,
    };
  }

  write(bytes: string | Uint8Array): void {
    this.#streams.write(bytes);
  }

  closeInput(): void {
    this.#streams.closeInput();
  }

  resize(columns: number, rows: number): void {
    this.#streams.resize(columns, rows);
  }

  signal(name: NodeJS.Signals): void {
    signalProcesses(this.#launcher, name);
  }

  async kill(): Promise<void> {
    this.#terminate();
    await this.result.catch(() => {});
  }

  /** The time that an approver takes does not count as the run's. */
  #ask(
    question: Question,
    answer: (answer: Answer | Reply) => void,
    ask: NonNullable<RunEvents["question"]>,
  ): void {
    if (this.#asked.size === 0) {
      clearTimeout(this.#alarm);
      this.#left -= performance.now() - this.#since;
    }
    this.#asked.add(question.id);
    ask(question, (given) => {
      this.#answered(question.id);
      answer(given);
    });
  }

  #answered(id: number): void {
    if (this.#asked.delete(id) && this.#asked.size === 0) this.#goOn();
  }

  #goOn(): void {
    this.#since = performance.now();
    this.#alarm = setTimeout(() => this.#timeIsOver(), Math.max(0, this.#left));
  }

  /** Processes that the command leaves running have a moment to end; then they are killed. */
  #mainExited(): void {
    this.#orphans = setTimeout(() => {
      this.#leftBehind = true;
      this.#terminate();
    }, ORPHANS_MS);
  }

  #timeIsOver(): void {
    this.#timedOut = true;
    this.#terminate();
  }

  #terminate(): void {
    if (this.#launcher !== 0) signalProcesses(this.#launcher, "SIGTERM");
    this.#dying ??= setTimeout(() => this.#session?.end(), GRACE_MS);
  }
}

/**
 * Landlock enforces this even where no question is asked. It cannot name a path that does not exist yet. For such a grant
 * it gets the parent folder, and the rules on paths restrict the name in it.
 */
function writable({ workspace, home, writable, config }: RuntimeCheckOptions): string[] {
  const caches = [".cache", ".npm/_cacache", ".npm/_logs", ".cargo/registry", "go/pkg"];
  return [
    ...new Set([
      workspace,
      ...["/tmp", "/var/tmp", tmpdir(), "/dev/shm"],
      ...caches.map((cache) => join(home, cache)),
      ...[...writable, ...writableFolders(allowancesOf(config?.config.allow ?? [], workspace, home))].map(
        (path) => (existsSync(path) ? path : dirname(path)),
      ),
    ]),
  ].filter((path) => existsSync(path));
}
