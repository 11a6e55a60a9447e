import type { Desk } from "../approval/desk.js";
import type { Audit } from "../audit/audit.js";
import type { Store } from "../store/store.js";
import { PACKAGE_VERSION } from "../version.js";
import type { AppliedPolicy } from "./applied.js";
import { Delivery } from "./delivery.js";
import { ANSWERS, Line, type LineOptions, POLICIES } from "./line.js";
import type { Place } from "./place.js";
import { PolicyWatch } from "./policy-watch.js";
import { type Offline, Questions } from "./questions.js";
import { PROTOCOL } from "./rights.js";
import { Uploads } from "./uploads.js";

export interface AgentOptions extends Pick<LineOptions, "firstPause" | "longestPause"> {
  readonly url: string;
  /** Of this host: what its sessions write. */
  readonly store: Store;
  readonly audit: Audit;
  readonly desk: Desk;
  readonly policy: AppliedPolicy;
  /** What becomes of questions while the fleet cannot be asked. Read each time. */
  readonly offline: () => Offline;
  /** What `doctor` finds. */
  readonly protections: readonly { readonly name: string; readonly state: string }[];
  /** What runs here under supervision. */
  readonly runs: () => Promise<readonly RunningHere[]>;
  /** Traces of the past, the newest first, for trials of policies. */
  readonly traces?: () => readonly string[];
  /** Where they are brought, for others to look at. */
  readonly uploads?: Place;
  /** How many records that were delivered stay on this host; default all. */
  readonly keep?: number;
  readonly log: (text: string) => void;
  /** Milliseconds. */
  readonly beat?: number;
  readonly tick?: number;
  readonly look?: number;
  /** A server that starts again, or another one that takes over, is not away yet. */
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
 * The host's end of the fleet. It does one thing after the other over one connection: tells that the host is there, takes
 * its policy, carries questions there and answers back, delivers records. Nothing of what it does is needed for a session
 * to be mediated: when it is killed at any point, the next one goes on where the server and this host's store say.
 */
export class Agent {
  readonly #options: AgentOptions;
  readonly #line: Line;
  readonly #delivery: Delivery;
  readonly #questions: Questions;
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

  constructor(options: AgentOptions) {
    this.#options = options;
    const { url, store, audit, desk, policy, offline, log } = options;
    this.#line = new Line({
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
    this.#questions = new Questions(this.#line, store, desk, offline);
    this.#policies = new PolicyWatch(this.#line, policy, audit, options.traces ?? (() => []));
    const { uploads, traces } = options;
    this.#uploads = uploads && traces && new Uploads(this.#line, uploads, traces);
    this.#stopListening = store.onApprovals(() => this.#poke());
    this.#over = this.#work();
  }

  get up(): boolean {
    return this.#line.up && this.#greeted;
  }

  /** Answers to other hosts are none of ours: with many hosts, they are most of what there is to hear. */
  #hear(channel: string, payload: string): void {
    if (channel === POLICIES) this.#news.policy = true;
    else if (channel === ANSWERS && payload === this.#id) this.#news.answers = true;
    else return;
    this.#poke();
  }

  /** Looks now instead of in a moment. */
  #poke(): void {
    this.#woken = true;
    this.#wake();
  }

  async #work(): Promise<void> {
    const { tick = 500, look: often = 2_000, log } = this.#options;
    let lastLook = Number.NEGATIVE_INFINITY;
    while (!this.#closed) {
      // Where a proxy swallows notices, we look by ourselves.
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

  /** Returns whether there is more to do at once. */
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
      [PROTOCOL],
    );
    if (!row?.id) throw new Error("the server knows this role, and no host that it belongs to");
    if (!row.speaks)
      throw new Error(`the server no longer serves agents of protocol ${PROTOCOL}: update this one`);
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

  /** Beside everything else: a session that is busy may take its time to tell. */
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
