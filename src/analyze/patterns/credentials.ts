import { isInternetAddress } from "../network.js";
import { lineage, programName } from "../processes.js";
import {
  BoundedMap,
  type Evidence,
  evidence,
  type Finding,
  type Known,
  MAX_FINDINGS,
  type Pattern,
  type Step,
} from "./pattern.js";

/** A process that has read a secret, or one that comes from it or that it comes from, talks to the network. */
export class CredentialThenConnect implements Pattern {
  readonly #known: Known;
  /** By process: the secrets it has read. */
  readonly #read = new BoundedMap<number, Map<string, Evidence>>(10_000);
  readonly #found = new Map<string, Finding>();

  constructor(known: Known) {
    this.#known = known;
  }

  step(step: Step): void {
    if (step.failed && step.record.errno !== "EINPROGRESS") return;
    const { does, path, address } = step.act;
    if (path !== undefined && does.includes("read") && !does.includes("list")) this.#reads(step, path);
    else if (address !== undefined && does.includes("connect") && isInternetAddress(address))
      this.#connects(step, address);
  }

  #reads({ record, process }: Step, path: string): void {
    if (!this.#known.secrets.of(path)) return;
    const proof = evidence(record, process);
    // What a child has read can reach its parent through a pipe.
    for (const { id } of lineage(process)) {
      const secrets = this.#read.get(id) ?? new Map<string, Evidence>();
      if (secrets.size < 10 && !secrets.has(path)) secrets.set(path, proof);
      this.#read.set(id, secrets);
    }
  }

  #connects({ record, process }: Step, address: string): void {
    for (const { id } of lineage(process)) {
      const secrets = this.#read.get(id);
      if (!secrets) continue;
      const key = `${process.id} ${address}`;
      if (this.#found.has(key) || this.#found.size >= MAX_FINDINGS) return;
      const [first] = secrets.keys();
      const more = secrets.size > 1 ? ` and ${secrets.size - 1} more` : "";
      this.#found.set(key, {
        pattern: "credential-then-connect",
        severity: "alert",
        title: `${programName(process)} connected to ${address} after ${first}${more} had been read`,
        evidence: [...secrets.values(), evidence(record, process)],
      });
      return;
    }
  }

  findings(): readonly Finding[] {
    return [...this.#found.values()];
  }
}
