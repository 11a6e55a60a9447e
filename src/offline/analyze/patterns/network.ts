import { isInternetAddress } from "../network.js";
import { processName, type TracedProcess } from "../processes.js";
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

const BEACONS = 5;
/** How much the time between two contacts may vary, as a share of its mean. */
const STEADY = 0.25;
/** Contacts that follow each other faster than this are one conversation. */
const APART = 0.05;

/** The same peer is contacted again and again at a steady pace. */
export class Beaconing implements BehaviourPattern {
  readonly #known: Known;
  readonly #proofs = new BoundedMap<string, CallEvidence[]>(10_000);

  constructor(known: Known) {
    this.#known = known;
  }

  step({ effect, record, process }: EffectStep): void {
    const { does, address } = effect;
    if (address === undefined || !does.includes("connect") || !isInternetAddress(address)) return;
    const proofs = this.#proofs.get(address) ?? [];
    if (proofs.length < BEACONS) proofs.push(evidence(record, process));
    this.#proofs.set(address, proofs);
  }

  findings(): readonly PatternFinding[] {
    const found: PatternFinding[] = [];
    for (const { address, direction, contacts, gaps } of this.#known.network.peers.values()) {
      if (direction !== "out" || contacts < BEACONS || gaps.mean < APART || found.length >= MAX_FINDINGS)
        continue;
      const deviation = Math.sqrt(gaps.squares / gaps.count);
      if (deviation > STEADY * gaps.mean) continue;
      const proofs = this.#proofs.get(address);
      if (!proofs) continue;
      found.push({
        pattern: "beaconing",
        severity: "warning",
        title: `${address} was contacted ${contacts} times, every ${gaps.mean.toPrecision(2)} s (± ${Math.round((100 * deviation) / gaps.mean)} %)`,
        evidence: proofs,
      });
    }
    return found;
  }
}

const SCANNED = 15;

/** A process tries many addresses or ports, most of them in vain. */
export class PortScan implements BehaviourPattern {
  readonly #tried = new BoundedMap<
    number,
    { process: TracedProcess; addresses: Set<string>; failed: number; proofs: CallEvidence[] }
  >(1_000);

  step({ effect, record, process }: EffectStep): void {
    const { does, address } = effect;
    if (address === undefined || !does.includes("connect") || !isInternetAddress(address)) return;
    const tried = this.#tried.get(process.id) ?? { process, addresses: new Set(), failed: 0, proofs: [] };
    this.#tried.set(process.id, tried);
    if (tried.addresses.has(address) || tried.addresses.size >= 10_000) return;
    tried.addresses.add(address);
    if (record.errno !== undefined && record.errno !== "EISCONN") tried.failed++;
    if (tried.proofs.length < 5) tried.proofs.push(evidence(record, process));
  }

  findings(): readonly PatternFinding[] {
    return [...this.#tried.values()]
      .filter(({ addresses, failed }) => addresses.size >= SCANNED && failed > addresses.size / 2)
      .slice(0, MAX_FINDINGS)
      .map(({ process, addresses, failed, proofs }) => ({
        pattern: "port-scan",
        severity: "warning",
        title: `${processName(process)} tried ${addresses.size} addresses, ${failed} of them in vain`,
        evidence: proofs,
      }));
  }
}

/** Where cloud machines hand out their credentials. */
const METADATA = /^(169\.254\.(169\.254|170\.2)|168\.63\.129\.16|100\.100\.100\.200|\[fd00:ec2::254\]):/;

export const handsOutCredentials = (address: string) => METADATA.test(address);

export class MetadataService implements BehaviourPattern {
  readonly #found = new Map<string, PatternFinding>();

  step({ effect, record, process }: EffectStep): void {
    const { does, address } = effect;
    if (address === undefined || !does.includes("connect") || !handsOutCredentials(address)) return;
    if (record.action === "deny" || record.action === "kill" || this.#found.has(address)) return;
    this.#found.set(address, {
      pattern: "metadata-service",
      severity: "alert",
      title: `${processName(process)} asked ${address}, which hands out the machine's credentials`,
      evidence: [evidence(record, process)],
    });
  }

  findings(): readonly PatternFinding[] {
    return [...this.#found.values()];
  }
}
