import { isInternetAddress } from "../network.js";
import { lineage, processName } from "../processes.js";
import { habitOf, weighed } from "./habits.js";
import {
  type BehaviourPattern,
  BoundedMap,
  type CallEvidence,
  type EffectStep,
  evidence,
  type Known,
  MAX_FINDINGS,
  type PatternFinding,
} from "./pattern.js";

/** A process that has read a secret, or one that comes from it or that it comes from, talks to the network. */
export class CredentialThenConnect implements BehaviourPattern {
  readonly #known: Known;
  /** By process: the secrets it has read. */
  readonly #read = new BoundedMap<number, Map<string, CallEvidence>>(10_000);
  readonly #found = new Map<string, PatternFinding>();

  constructor(known: Known) {
    this.#known = known;
  }

  step(step: EffectStep): void {
    if (step.failed && step.record.errno !== "EINPROGRESS") return;
    const { does, path, address } = step.effect;
    if (path !== undefined && does.includes("read") && !does.includes("list")) this.#reads(step, path);
    else if (address !== undefined && does.includes("connect") && isInternetAddress(address))
      this.#connects(step, address);
  }

  #reads({ record, process }: EffectStep, path: string): void {
    if (!this.#known.secrets.of(path)) return;
    const proof = evidence(record, process);
    // What a child has read can reach its parent through a pipe.
    for (const { id } of lineage(process)) {
      const secrets = this.#read.get(id) ?? new Map<string, CallEvidence>();
      if (secrets.size < 10 && !secrets.has(path)) secrets.set(path, proof);
      this.#read.set(id, secrets);
    }
  }

  #connects({ record, process }: EffectStep, address: string): void {
    for (const { id } of lineage(process)) {
      const secrets = this.#read.get(id);
      if (!secrets) continue;
      const habit = habitOf("credential-then-connect", process, { files: [...secrets.keys()], address });
      const key = `${process.id} ${habit?.reason ?? address}`;
      if (this.#found.has(key) || this.#found.size >= MAX_FINDINGS) return;
      const [first] = secrets.keys();
      const more = secrets.size > 1 ? ` and ${secrets.size - 1} more` : "";
      const finding: PatternFinding = {
        pattern: "credential-then-connect",
        severity: "alert",
        title: `${processName(process)} connected to ${address} after ${first}${more} had been read`,
        evidence: [...secrets.values(), evidence(record, process)],
      };
      this.#found.set(key, weighed(finding, habit));
      return;
    }
  }

  findings(): readonly PatternFinding[] {
    return [...this.#found.values()];
  }
}
