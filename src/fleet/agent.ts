import { PACKAGE_VERSION } from "../nouns/version.js";
import type { AnswerService } from "../people/approval/answer-service.js";
import type { Audit } from "../record/audit/audit.js";
import type { Store } from "../record/store/store.js";
import type { AppliedPolicy } from "./applied-policy.js";
import { Delivery } from "./delivery.js";
import {
  ANSWERS_CHANNEL,
  HostConnection,
  type HostConnectionOptions,
  POLICIES_CHANNEL,
} from "./host-connection.js";
import { PolicyWatch } from "./policy-watch.js";
import { type Offline, QuestionRelay } from "./questions.js";
import { FLEET_PROTOCOL } from "./rights.js";
import type { TraceStorage } from "./trace-storage.js";
import { Uploads } from "./uploads.js";

export interface FleetAgentOptions extends Pick<HostConnectionOptions, "firstPause" | "longestPause"> {
  readonly url: string;
  /** The store of this host's sessions. */
  readonly store: Store;
  readonly audit: Audit;
  readonly answers: AnswerService;
  readonly policy: AppliedPolicy;
  /** What happens to questions while the fleet is unreachable. Read each time. */
  readonly offline: () => Offline;
  /** What `doctor` finds. */
  readonly protections: readonly { readonly name: string; readonly state: string }[];
  /** Supervised programs on this host. */
  readonly runs: () => Promise<readonly RunningHere[]>;
  /** Recorded traces, newest first, for trials of policies. */
  readonly traces?: () => readonly string[];
  /** Where traces are uploaded. */
  readonly uploads?: TraceStorage;
  /** How many delivered records stay on this host; default: all. */
  readonly keep?: number;
  readonly log: (text: string) => void;
  /** Milliseconds. */
  readonly beat?: number;
  readonly tick?: number;
  readonly look?: number;
  /** A restart or failover of the server does not count as an outage yet. */
  readonly offlineAfter?: number;
}

export interface RunningHere {
  readonly pid: number;
  readonly command: string;
  readonly calls: number;
  readonly denied: number;
}

const SESSIONS_SHOWN = 50;

/**
 * The host's side of the fleet. It works sequentially over one connection: sends heartbeats, fetches its policy, forwards
 * questions and answers, delivers records. Sessions do not depend on it. After a crash at any point, the next agent resumes
 * from the state in the server and in this host's store.
 */
export class FleetAgent {
  readonly #options: FleetAgentOptions;
  readonly #line: HostConnection;
  readonly #delivery: Delivery;
  readonly #questions: QuestionRelay;
  readonly #policies: PolicyWatch;
  readonly #uploads: Uploads | undefined;
  readonly #stopListening: () => void;
  #wake: () => void = () => {};
  #woken = false;
  #news = { policy: true, answers: true };
  #id: string | undefined;
  #closed = false;
  #greeted = false;
  #lastBeat = Number.NEGATIVE_INFINITY;
  #running: readonly RunningHere[] = [];
  #counting: Promise<void> | undefined;
  #trouble: string | null = null;
  #state = "";
  readonly #over: Promise<void>;

  constructor(options: FleetAgentOptions) {
    this.#options = options;
    const { url, store, audit, answers, policy, offline, log } = options;
    this.#line = new HostConnection({
      url,
      ...(options.firstPause !== undefined && { firstPause: options.firstPause }),
      ...(options.longestPause !== undefined && { longestPause: options.longestPause }),
      notice: (channel, payload) => this.#hear(channel, payload),
      changed: (up, why) => {
        const state = up ? `connected to ${this.#line.name}` : `not connected: ${why}`;
        if (state !== this.#state) log(state);
        this.#state = state;
        if (!up) {
          this.#greeted = false;
          this.#questions.lost();
        }
        this.#news = { policy: true, answers: true };
        this.#poke();
      },
    });
    this.#delivery = new Delivery(this.#line, store, audit.chain, options.keep);
    this.#questions = new QuestionRelay(this.#line, store, answers, offline);
    this.#policies = new PolicyWatch(this.#line, policy, audit, options.traces ?? (() => []));
    const { uploads, traces } = options;
    this.#uploads = uploads && traces && new Uploads(this.#line, uploads, traces);
    this.#stopListening = store.onApprovals(() => this.#poke());
    this.#over = this.#work();
  }

  get up(): boolean {
    return this.#line.up && this.#greeted;
  }

  /** Answers for other hosts are ignored: in a large fleet they are most notifications. */
  #hear(channel: string, payload: string): void {
    if (channel === POLICIES_CHANNEL) this.#news.policy = true;
    else if (channel === ANSWERS_CHANNEL && payload === this.#id) this.#news.answers = true;
    else return;
    this.#poke();
  }

  /** Checks now instead of at the next interval. */
  #poke(): void {
    this.#woken = true;
    this.#wake();
  }

  async #work(): Promise<void> {
    const { tick = 500, look: often = 2_000, log } = this.#options;
    let lastLook = Number.NEGATIVE_INFINITY;
    while (!this.#closed) {
      // Polls too, because a proxy may swallow notifications.
      const due = performance.now() - lastLook > often;
      const news = { policy: due || this.#news.policy, answers: due || this.#news.answers };
      this.#news = { policy: false, answers: false };
      if (due) lastLook = performance.now();
      try {
        if (await this.#pass(news)) continue;
      } catch (error) {
        if (this.#line.up) {
          const message = (error as Error).message;
          if (message !== this.#trouble) log(message);
          this.#trouble = message;
        }
      }
      await this.#rest(tick);
    }
  }

  /** Returns whether more work is due at once. */
  async #pass(news: { readonly policy: boolean; readonly answers: boolean }): Promise<boolean> {
    if (!this.#line.up) {
      if (this.#line.downFor > (this.#options.offlineAfter ?? 2_000)) await this.#questions.answerOffline();
      return false;
    }
    if (!this.#greeted) await this.#greet();
    if (news.policy) await this.#policies.look();
    await this.#questions.exchange(news.answers);
    const more = await this.#delivery.deliver();
    await this.#beat();
    this.#uploads?.look((message) => {
      this.#trouble = message;
    });
    return more;
  }

  async #greet(): Promise<void> {
    const [row] = await this.#line.ask<{ id: string | null; speaks: boolean }>(
      "SELECT me() AS id, speaks($1) AS speaks",
      [FLEET_PROTOCOL],
    );
    if (!row?.id) throw new Error("the server has no host for this role (was it revoked?)");
    if (!row.speaks)
      throw new Error(
        `the server no longer supports agents of protocol ${FLEET_PROTOCOL}: update this agent`,
      );
    await this.#delivery.begin();
    this.#id = row.id;
    this.#greeted = true;
    this.#lastBeat = Number.NEGATIVE_INFINITY;
  }

  async #beat(): Promise<void> {
    const { beat = 5_000, protections } = this.#options;
    const due = performance.now() - this.#lastBeat >= beat;
    if (due) this.#countRuns();
    if (!due && !this.#policies.news) return;
    this.#lastBeat = performance.now();
    const running = this.#running.slice(0, SESSIONS_SHOWN).map(({ pid, command }) => ({ pid, command }));
    const { applied, calls, denied, trouble, trial } = this.#policies.report();
    await this.#line.ask(
      `UPDATE host SET seen = server_now(), version = $1, protections = $2, sessions = $3, applied = $4,
         calls = $5, denied = $6, trouble = $7, trial_result = COALESCE($8, trial_result) WHERE id = me()`,
      [
        PACKAGE_VERSION,
        JSON.stringify(protections.map(({ name, state }) => ({ name, state }))),
        JSON.stringify(running),
        applied,
        calls,
        denied,
        trouble ?? this.#trouble,
        trial === undefined ? null : JSON.stringify(trial),
      ],
    );
    this.#trouble = null;
  }

  /** In parallel: a busy session may be slow to answer. */
  #countRuns(): void {
    this.#counting ??= this.#options
      .runs()
      .then((runs) => {
        this.#running = runs;
        this.#policies.count(runs);
        if (this.#policies.news) this.#poke();
      })
      .catch((error) => this.#options.log((error as Error).message))
      .finally(() => {
        this.#counting = undefined;
      });
  }

  async #rest(ms: number): Promise<void> {
    if (!this.#woken && !this.#closed)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    this.#wake = () => {};
    this.#woken = false;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stopListening();
    this.#wake();
    await this.#over;
    await this.#counting;
    await this.#uploads?.close();
    await this.#line.close();
  }
}
