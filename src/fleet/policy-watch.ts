import type { Audit } from "../record/audit/audit.js";
import type { RunningHere } from "./agent.js";
import type { AppliedPolicy } from "./applied-policy.js";
import type { HostConnection } from "./host-connection.js";
import { type PolicyTrial, tryPolicyOnTraces } from "./trial.js";

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

/** Applies the policy that the fleet assigns to this host, and counts its decisions. */
export class PolicyWatch {
  readonly #line: HostConnection;
  readonly #policy: AppliedPolicy;
  readonly #audit: Pick<Audit, "record">;
  readonly #traces: () => readonly string[];
  /** The serial that was refused, so that it is not retried forever. */
  #refused: number | undefined;
  #trouble: string | null = null;
  #tried: number | undefined;
  #trial: PolicyTrial | undefined;
  /** The counts of each run at the last check. */
  #before = new Map<number, Pick<RunningHere, "calls" | "denied">>();
  #calls = 0;
  #denied = 0;
  #anew = false;
  /** The state changed and must be reported. */
  news = false;

  constructor(
    line: HostConnection,
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

  /** Simulates the policy on this host's traces; the traces stay here. */
  async #try(serial: number): Promise<void> {
    const given = await this.#fetch(serial);
    if (!given) return;
    this.#tried = serial;
    this.#trial = { serial, ...(await tryPolicyOnTraces(given.text, this.#policy, this.#traces())) };
    this.news = true;
  }

  /** Counts decisions since the last check. The first check after a change belongs to the previous policy. */
  count(runs: readonly RunningHere[]): void {
    for (const { pid, calls, denied } of this.#anew ? [] : runs) {
      const before = this.#before.get(pid) ?? { calls: 0, denied: 0 };
      // The pid was reused by another run.
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
