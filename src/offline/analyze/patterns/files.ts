import { processName, type TracedProcess } from "../processes.js";
import {
  type BehaviourPattern,
  BoundedMap,
  type CallEvidence,
  type EffectStep,
  evidence,
  MAX_FINDINGS,
  type PatternFinding,
} from "./pattern.js";

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
      .slice(0, MAX_FINDINGS)
      .map(({ process, opens, absent, refused, proofs }) => ({
        pattern: "failed-opens",
        severity: refused >= MANY_REFUSED ? "warning" : "notice",
        title: `${processName(process)} opened ${absent + refused} of ${opens} files in vain (${absent} were not there, ${refused} were refused)`,
        evidence: proofs,
      }));
  }
}

const STARTS_LATER: readonly (readonly [RegExp, string])[] = [
  [
    /\/\.(bashrc|bash_profile|bash_login|profile|zshrc|zprofile|zshenv|cshrc|kshrc)$|^\/etc\/(profile|bash\.bashrc|profile\.d\/.*)$/,
    "runs at every login",
  ],
  [/^\/etc\/(cron[^/]*|anacrontab)(\/|$)|^\/var\/spool\/cron\//, "runs by the clock"],
  [/^\/(etc|usr\/lib|lib|run)\/systemd\/(system|user)\/|\/\.config\/systemd\/user\//, "is a service"],
  [
    /\/\.config\/autostart\/|^\/etc\/(init\.d|rc[^/]*\.d|xdg\/autostart)\/|^\/etc\/rc\.local$/,
    "runs at every start",
  ],
  [/^\/etc\/ld\.so\.preload$/, "is loaded into every program"],
  [/\/\.ssh\/(authorized_keys2?|rc)$/, "opens the door for a key"],
  [/^\/etc\/(passwd|shadow|sudoers|sudoers\.d\/.*|pam\.d\/.*)$/, "decides who may do what"],
  [/\/\.git\/hooks\/(?!.*\.sample$)[^/]+$/, "runs at git commands"],
];

/** Something is put where it will be run, or believed, later. */
export class Persistence implements BehaviourPattern {
  readonly #found = new Map<string, PatternFinding>();

  step({ effect, record, process, failed }: EffectStep): void {
    const { does, path } = effect;
    if (failed || path === undefined || !does.includes("write") || does[0] === "delete") return;
    const row = STARTS_LATER.find(([pattern]) => pattern.test(path));
    if (!row || this.#found.has(path) || this.#found.size >= MAX_FINDINGS) return;
    this.#found.set(path, {
      pattern: "persistence",
      severity: "warning",
      title: `${processName(process)} wrote ${path}, which ${row[1]}`,
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
    if (this.#found.size < MAX_FINDINGS)
      this.#found.set(path, {
        pattern: "covered-tracks",
        severity: "alert",
        title: `${processName(process)} ${does.includes("delete") ? "deleted" : "emptied"} ${path}`,
        evidence: [evidence(record, process)],
      });
  }

  findings(): readonly PatternFinding[] {
    return [...this.#found.values()];
  }
}

const MASS = 100;

/** Many files that were there before are deleted or moved away. */
export class MassDeletion implements BehaviourPattern {
  readonly #created = new BoundedMap<string, true>(200_000);
  readonly #by = new BoundedMap<number, { process: TracedProcess; count: number; proofs: CallEvidence[] }>(
    1_000,
  );

  step({ effect, record, process, failed }: EffectStep): void {
    const { does, path } = effect;
    if (failed || path === undefined) return;
    if (does.includes("create")) this.#created.set(path, true);
    if (!does.includes("delete") || path !== record.path || this.#created.has(path)) return;
    const deleted = this.#by.get(process.id) ?? { process, count: 0, proofs: [] };
    this.#by.set(process.id, deleted);
    deleted.count++;
    if (deleted.proofs.length < 5) deleted.proofs.push(evidence(record, process));
  }

  findings(): readonly PatternFinding[] {
    return [...this.#by.values()]
      .filter(({ count }) => count >= MASS)
      .slice(0, MAX_FINDINGS)
      .map(({ process, count, proofs }) => ({
        pattern: "mass-deletion",
        severity: "warning",
        title: `${processName(process)} deleted or moved away ${count} files that it had not made`,
        evidence: proofs,
      }));
  }
}
