import type { Audit } from "../audit/audit.js";
import type { RunningHere } from "./agent.js";
import type { AppliedPolicy } from "./applied.js";
import type { Line } from "./line.js";
import { type Trial, tryOnTraces } from "./trial.js";

interface Wanted {
  readonly wanted: number | null;
  readonly trial: number | null;
}

interface Given {
  readonly serial: number;
  readonly policy: string;
  readonly signature: string | null;
  readonly text: string;
}

/** Takes what the fleet wants in force here, and counts what comes of it. */
export class PolicyWatch {
  readonly #line: Line;
  readonly #policy: AppliedPolicy;
  readonly #audit: Pick<Audit, "record">;
  readonly #traces: () => readonly string[];
  /** What was refused, so that it is not tried again and again. */
  #refused: number | undefined;
  #trouble: string | null = null;
  #tried: number | undefined;
  #trial: Trial | undefined;
  /** Counts of each run when it was last looked at. */
  #before = new Map<number, Pick<RunningHere, "calls" | "denied">>();
  #calls = 0;
  #denied = 0;
  #anew = false;
  /** There is something to tell. */
  news = false;

  constructor(
    line: Line,
    policy: AppliedPolicy,
    audit: Pick<Audit, "record">,
    traces: () => readonly string[],
  ) {
    this.#line = line;
    this.#policy = policy;
    this.#audit = audit;
    this.#traces = traces;
  }

  async look(): Promise<void> {
    const [row] = await this.#line.ask<Wanted>("SELECT wanted, trial FROM host WHERE id = me()");
    const { wanted = null, trial = null } = row ?? {};
    if (wanted !== null && wanted !== this.#refused && wanted !== this.#policy.serial)
      await this.#take(wanted);
    if (trial !== null && trial !== this.#tried) await this.#try(trial);
  }

  async #take(serial: number): Promise<void> {
    const given = await this.#fetch(serial);
    if (!given) return;
    try {
      await this.#policy.apply(given, given.text);
      this.#refused = undefined;
      this.#trouble = null;
      this.#calls = 0;
      this.#denied = 0;
      this.#anew = true;
      await this.#audit.record("policy", { name: "fleet", version: given.policy, file: this.#policy.file });
    } catch (error) {
      this.#refused = serial;
      this.#trouble = (error as Error).message;
      await this.#audit.record("config", { what: `fleet: ${this.#trouble}`, detail: { serial } });
    }
    this.news = true;
  }

  async #fetch(serial: number): Promise<Given | undefined> {
    const [given] = await this.#line.ask<Given>(
      `SELECT r.serial, r.policy, r.signature, p.text FROM release r JOIN policy p ON p.version = r.policy
       WHERE r.serial = $1`,
      [serial],
    );
    return given;
  }

  /** What it would change, on what this host has recorded; the traces stay here. */
  async #try(serial: number): Promise<void> {
    const given = await this.#fetch(serial);
    if (!given) return;
    this.#tried = serial;
    this.#trial = { serial, ...(await tryOnTraces(given.text, this.#policy, this.#traces())) };
    this.news = true;
  }

  /** What was decided since the last look; the first look after a change belongs to what was before. */
  count(runs: readonly RunningHere[]): void {
    for (const { pid, calls, denied } of this.#anew ? [] : runs) {
      const before = this.#before.get(pid) ?? { calls: 0, denied: 0 };
      // A number that was used before, by another run.
      const same = calls >= before.calls && denied >= before.denied;
      this.#calls += calls - (same ? before.calls : 0);
      this.#denied += denied - (same ? before.denied : 0);
    }
    this.#anew = false;
    if (runs.length !== this.#before.size || runs.some(({ pid }) => !this.#before.has(pid))) this.news = true;
    this.#before = new Map(runs.map(({ pid, calls, denied }) => [pid, { calls, denied }]));
  }

  report() {
    this.news = false;
    const trial = this.#trial;
    this.#trial = undefined;
    return {
      applied: this.#policy.serial,
      calls: this.#calls,
      denied: this.#denied,
      trouble: this.#trouble,
      trial,
    };
  }
}
