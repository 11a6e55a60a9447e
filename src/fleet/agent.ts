import type { Desk } from "../approval/desk.js";
import type { Audit } from "../audit/audit.js";
import type { Store } from "../store/store.js";
import { PACKAGE_VERSION } from "../version.js";
import type { AppliedPolicy } from "./applied.js";
import { Delivery } from "./delivery.js";
import { Line, type LineOptions } from "./line.js";
import { PolicyWatch } from "./policy-watch.js";
import { type Offline, Questions } from "./questions.js";
import { PROTOCOL } from "./rights.js";

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
  readonly #stopListening: () => void;
  #wake: () => void = () => {};
  #woken = false;
  #noticed = true;
  #closed = false;
  #greeted = false;
  #lastBeat = 0;
  #trouble: string | null = null;
  readonly #over: Promise<void>;

  constructor(options: AgentOptions) {
    this.#options = options;
    const { url, store, audit, desk, policy, offline, log } = options;
    this.#line = new Line({
      url,
      ...(options.firstPause !== undefined && { firstPause: options.firstPause }),
      ...(options.longestPause !== undefined && { longestPause: options.longestPause }),
      notice: () => this.#poke(true),
      changed: (up, why) => {
        log(up ? `connected to ${this.#line.name}` : `not connected: ${why}`);
        if (!up) {
          this.#greeted = false;
          this.#questions.lost();
        }
        this.#poke(false);
      },
    });
    this.#delivery = new Delivery(this.#line, store, audit.chain, options.keep);
    this.#questions = new Questions(this.#line, store, desk, offline);
    this.#policies = new PolicyWatch(this.#line, policy, audit, options.runs, options.traces ?? (() => []));
    this.#stopListening = store.onApprovals(() => this.#poke(false));
    this.#over = this.#work();
  }

  get up(): boolean {
    return this.#line.up && this.#greeted;
  }

  /** Looks now instead of in a moment. */
  #poke(noticed: boolean): void {
    this.#noticed ||= noticed;
    this.#woken = true;
    this.#wake();
  }

  async #work(): Promise<void> {
    const { tick = 500, look: often = 2_000, log } = this.#options;
    let lastLook = 0;
    while (!this.#closed) {
      // Where a proxy swallows notices, we look by ourselves.
      const look = this.#noticed || Date.now() - lastLook > often || Date.now() < lastLook;
      this.#noticed = false;
      if (look) lastLook = Date.now();
      try {
        if (await this.#pass(look)) continue;
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
  async #pass(look: boolean): Promise<boolean> {
    if (!this.#line.up) {
      if (this.#line.downFor > (this.#options.offlineAfter ?? 2_000)) await this.#questions.answerOffline();
      return false;
    }
    if (!this.#greeted) await this.#greet();
    if (look) await this.#policies.look();
    await this.#questions.exchange(look);
    const more = await this.#delivery.deliver();
    await this.#beat();
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
    this.#greeted = true;
    this.#lastBeat = 0;
  }

  async #beat(): Promise<void> {
    const { beat = 5_000, protections, runs } = this.#options;
    if (Date.now() - this.#lastBeat < beat && Date.now() >= this.#lastBeat && !this.#policies.news) return;
    this.#lastBeat = Date.now();
    const running = (await runs()).slice(0, SESSIONS_SHOWN).map(({ pid, command }) => ({ pid, command }));
    const { applied, calls, denied, trouble, trial } = await this.#policies.report();
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
    await this.#line.close();
  }
}
