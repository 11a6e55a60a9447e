import { type Process, programName } from "../processes.js";
import {
  BoundedMap,
  type Evidence,
  evidence,
  type Finding,
  MAX_FINDINGS,
  type Pattern,
  type Step,
} from "./pattern.js";

const OTHERS = /^\/proc\/(\d+)\/(mem|environ|maps|fd\/\d+)$/;

/** A process looks into another one: by ptrace, or through /proc. */
export class LooksIntoOthers implements Pattern {
  readonly #found = new Map<string, Finding>();

  step({ act, record, process }: Step): void {
    const { does, path } = act;
    const other = path === undefined ? undefined : OTHERS.exec(path)?.[1];
    const reads = other !== undefined && does.includes("read") && Number(other) !== process.pid;
    if (!reads && !(does.includes("ptrace") && record.args.request !== "PTRACE_TRACEME")) return;
    const key = `${process.id} ${record.name} ${path ?? ""}`;
    if (this.#found.has(key) || this.#found.size >= MAX_FINDINGS) return;
    this.#found.set(key, {
      pattern: "looks-into-others",
      severity: "warning",
      title: `${programName(process)} looked into another process (${path ?? record.name})`,
      evidence: [evidence(record, process)],
    });
  }

  findings(): readonly Finding[] {
    return [...this.#found.values()];
  }
}

const MANY = 10;

/** A process goes on trying after it was refused: it looks for what is permitted. */
export class Probing implements Pattern {
  readonly #by = new BoundedMap<number, { process: Process; subjects: Set<string>; proofs: Evidence[] }>(
    10_000,
  );

  step({ act, record, process }: Step): void {
    if (record.action !== "deny") return;
    const refused = this.#by.get(process.id) ?? { process, subjects: new Set(), proofs: [] };
    this.#by.set(process.id, refused);
    if (refused.subjects.size < 1_000) refused.subjects.add(act.path ?? act.address ?? record.name);
    if (refused.proofs.length < 5) refused.proofs.push(evidence(record, process));
  }

  findings(): readonly Finding[] {
    return [...this.#by.values()]
      .filter(({ subjects }) => subjects.size >= MANY)
      .slice(0, MAX_FINDINGS)
      .map(({ process, subjects, proofs }) => ({
        pattern: "probing",
        severity: "warning",
        title: `${programName(process)} went on after refusals: ${subjects.size} different things were denied`,
        evidence: proofs,
      }));
  }
}
