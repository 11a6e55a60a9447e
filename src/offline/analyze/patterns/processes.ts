import { processName, type TracedProcess } from "../processes.js";
import { habitOf, weighed } from "./habits.js";
import {
  type BehaviourPattern,
  BoundedMap,
  type CallEvidence,
  type EffectStep,
  evidence,
  MAX_FINDINGS,
  type PatternFinding,
} from "./pattern.js";

const OTHERS = /^\/proc\/(\d+)\/(mem|environ|maps|fd\/\d+)$/;

/** A process looks into another one: by ptrace, or through /proc. */
export class LooksIntoOthers implements BehaviourPattern {
  readonly #found = new Map<string, PatternFinding>();

  step({ effect, record, process }: EffectStep): void {
    const { does, path } = effect;
    const other = path === undefined ? undefined : OTHERS.exec(path)?.[1];
    const reads = other !== undefined && does.includes("read") && Number(other) !== process.pid;
    if (!reads && !(does.includes("ptrace") && record.args.request !== "PTRACE_TRACEME")) return;
    const key = `${process.id} ${record.name} ${path ?? ""}`;
    if (this.#found.has(key) || this.#found.size >= MAX_FINDINGS) return;
    const finding: PatternFinding = {
      pattern: "looks-into-others",
      severity: "warning",
      title: `${processName(process)} looked into another process (${path ?? record.name})`,
      evidence: [evidence(record, process)],
    };
    this.#found.set(key, weighed(finding, habitOf(finding.pattern, process)));
  }

  findings(): readonly PatternFinding[] {
    return [...this.#found.values()];
  }
}

const MANY = 10;

/** A process keeps trying after it was refused: it probes for what is permitted. */
export class Probing implements BehaviourPattern {
  readonly #by = new BoundedMap<
    number,
    { process: TracedProcess; subjects: Set<string>; proofs: CallEvidence[] }
  >(10_000);

  step({ effect, record, process }: EffectStep): void {
    if (record.action !== "deny") return;
    const refused = this.#by.get(process.id) ?? { process, subjects: new Set(), proofs: [] };
    this.#by.set(process.id, refused);
    if (refused.subjects.size < 1_000) refused.subjects.add(effect.path ?? effect.address ?? record.name);
    if (refused.proofs.length < 5) refused.proofs.push(evidence(record, process));
  }

  findings(): readonly PatternFinding[] {
    return [...this.#by.values()]
      .filter(({ subjects }) => subjects.size >= MANY)
      .slice(0, MAX_FINDINGS)
      .map(({ process, subjects, proofs }) => ({
        pattern: "probing",
        severity: "warning",
        title: `${processName(process)} went on after refusals: ${subjects.size} different things were denied`,
        evidence: proofs,
      }));
  }
}
