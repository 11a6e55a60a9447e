import { counted } from "../../../nouns/counted.js";
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
import { startsLater } from "./starts-later.js";

interface Failures {
  readonly process: TracedProcess;
  opens: number;
  absent: number;
  refused: number;
  readonly proofs: CallEvidence[];
}

const MANY_ABSENT = 200;
const MANY_REFUSED = 10;
const PROOFS = 5;

/** A process opens many files in vain: it looks for something, or tries how far it gets. */
export class FailedOpens implements BehaviourPattern {
  readonly #by = new BoundedMap<number, Failures>(10_000);

  step({ effect, record, process, failed }: EffectStep): void {
    if (effect.path === undefined || !record.name.startsWith("open")) return;
    const failures = this.#by.get(process.id) ?? { process, opens: 0, absent: 0, refused: 0, proofs: [] };
    this.#by.set(process.id, failures);
    failures.opens++;
    if (!failed) return;
    const refused = record.errno === "EACCES" || record.errno === "EPERM" || record.action === "deny";
    if (refused) failures.refused++;
    else if (record.errno === "ENOENT") failures.absent++;
    if (!refused && failures.refused > 0) return;
    failures.proofs.push(evidence(record, process));
    if (failures.proofs.length > PROOFS) failures.proofs.shift();
  }

  findings(): readonly PatternFinding[] {
    return [...this.#by.values()]
      .filter(
        ({ opens, absent, refused }) =>
          refused >= MANY_REFUSED || (absent >= MANY_ABSENT && absent > 0.7 * opens),
      )
      .filter(({ process, refused }) => refused >= MANY_REFUSED || !habitOf("failed-opens", process))
      .slice(0, MAX_FINDINGS)
      .map(({ process, opens, absent, refused, proofs }) => ({
        pattern: "failed-opens",
        severity: refused >= MANY_REFUSED ? "warning" : "notice",
        title: `${processName(process)} opened ${absent + refused} of ${counted(opens, "file")} in vain (${absent} not there, ${refused} refused)`,
        evidence: proofs,
      }));
  }
}

/** Something is put where it will be run, or believed, later. */
export class Persistence implements BehaviourPattern {
  readonly #found = new Map<string, PatternFinding>();

  step({ effect, record, process, failed }: EffectStep): void {
    const { does, path } = effect;
    if (failed || path === undefined || !does.includes("write") || does[0] === "delete") return;
    const because = startsLater(path);
    if (because === undefined || this.#found.has(path) || this.#found.size >= MAX_FINDINGS) return;
    this.#found.set(path, {
      pattern: "persistence",
      severity: "warning",
      title: `${processName(process)} wrote ${path}, which ${because}`,
      evidence: [evidence(record, process)],
    });
  }

  findings(): readonly PatternFinding[] {
    return [...this.#found.values()];
  }
}

const TRACKS = /^\/var\/log\/|\/\.[a-z]+_history$/;

/** Records of what happened are taken away or cut. */
export class CoveredTracks implements BehaviourPattern {
  readonly #found = new Map<string, PatternFinding>();

  step({ effect, record, process, failed }: EffectStep): void {
    const { does, path } = effect;
    if (failed || path === undefined || !TRACKS.test(path)) return;
    if (!does.includes("delete") && !does.includes("truncate")) return;
    if (this.#found.size >= MAX_FINDINGS) return;
    const deletes = does.includes("delete");
    const finding: PatternFinding = {
      pattern: "covered-tracks",
      severity: "alert",
      title: `${processName(process)} ${deletes ? "deleted" : "emptied"} ${path}`,
      evidence: [evidence(record, process)],
    };
    const habit = deletes ? undefined : habitOf(finding.pattern, process, { files: [path] });
    this.#found.set(path, weighed(finding, habit));
  }

  findings(): readonly PatternFinding[] {
    return [...this.#found.values()];
  }
}

const MASS = 100;

interface Deletions {
  readonly process: TracedProcess;
  count: number;
  /** Of each folder one file. */
  readonly files: Map<string, string>;
  readonly proofs: CallEvidence[];
}

const MAX_FOLDERS = 10_000;

/** Many files that were there before are deleted or moved away. */
export class MassDeletion implements BehaviourPattern {
  readonly #created = new BoundedMap<string, true>(200_000);
  readonly #by = new BoundedMap<number, Deletions>(1_000);

  step({ effect, record, process, failed }: EffectStep): void {
    const { does, path } = effect;
    if (failed || path === undefined) return;
    if (does.includes("create")) this.#created.set(path, true);
    if (!does.includes("delete") || path !== record.path || this.#created.has(path)) return;
    const deleted: Deletions = this.#by.get(process.id) ?? {
      process,
      count: 0,
      files: new Map(),
      proofs: [],
    };
    this.#by.set(process.id, deleted);
    deleted.count++;
    if (deleted.files.size < MAX_FOLDERS) deleted.files.set(path.slice(0, path.lastIndexOf("/")), path);
    if (deleted.proofs.length < 5) deleted.proofs.push(evidence(record, process));
  }

  findings(): readonly PatternFinding[] {
    return [...this.#by.values()]
      .filter(({ count }) => count >= MASS)
      .slice(0, MAX_FINDINGS)
      .map(({ process, count, files, proofs }) =>
        weighed(
          {
            pattern: "mass-deletion",
            severity: "warning",
            title: `${processName(process)} deleted or moved away ${count} files that it had not made`,
            evidence: proofs,
          },
          habitOf("mass-deletion", process, { files: [...files.values()] }),
        ),
      );
  }
}
