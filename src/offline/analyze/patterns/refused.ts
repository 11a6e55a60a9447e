import type { Effect } from "../../../policy/effects.js";
import type { CallRecord } from "../../../record/trace/records.js";
import { isInternetAddress } from "../network.js";
import { processName, type TracedProcess } from "../processes.js";
import { habitOf, weighed } from "./habits.js";
import { handsOutCredentials } from "./network.js";
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
import { startsLater } from "./starts-later.js";

interface Attempts {
  readonly process: TracedProcess;
  readonly severity: PatternFinding["severity"];
  readonly what: string;
  readonly by: string;
  readonly targets: Set<string>;
  count: number;
  /** One call may do several things at once. */
  last: CallRecord | undefined;
  readonly proofs: CallEvidence[];
}

interface Deed {
  readonly severity: PatternFinding["severity"];
  readonly what: string;
}

const TARGETS = 1_000;
const SHOWN = 3;
const PROOFS = 5;
/** Where the system itself, or a fence, refuses. */
const REFUSALS = new Set(["EACCES", "EPERM", "EROFS"]);

/** A program tried what a policy forbids, or what the system keeps to itself: what it would have done, it wanted to do. */
export class RefusedAttempts implements BehaviourPattern {
  readonly #known: Known;
  readonly #attempts = new BoundedMap<string, Attempts>(1_000);

  constructor(known: Known) {
    this.#known = known;
  }

  step(step: EffectStep): void {
    const { effect, record, process } = step;
    const byPolicy = record.action === "deny" || record.action === "kill";
    if (!byPolicy && !REFUSALS.has(record.errno ?? "")) return;
    const deed = this.#deed(step);
    // What the system refuses to an ordinary user is an attempt only where it concerns secrets, or what starts later.
    if (!deed || (!byPolicy && deed.severity !== "alert")) return;
    const by = byPolicy ? ruleOf(record) : `the system (${record.errno})`;
    const key = `${processName(process)}\0${deed.what}\0${by}`;
    const attempts = this.#attempts.get(key) ?? {
      process,
      severity: byPolicy ? deed.severity : "warning",
      what: deed.what,
      by,
      targets: new Set(),
      count: 0,
      last: undefined,
      proofs: [],
    };
    this.#attempts.set(key, attempts);
    if (attempts.last === record) return;
    attempts.last = record;
    attempts.count++;
    if (attempts.targets.size < TARGETS) attempts.targets.add(effect.path ?? effect.address ?? record.name);
    if (attempts.proofs.length < PROOFS) attempts.proofs.push(evidence(record, process));
  }

  /** What would have been done, and how much that should worry. */
  #deed({ effect: { does, path, address } }: EffectStep): Deed | undefined {
    const [first] = does;
    if (first === undefined) return undefined;
    if (address !== undefined && does.includes("connect"))
      return {
        severity: isInternetAddress(address) ? "alert" : "warning",
        what: handsOutCredentials(address) ? "get the machine's credentials from" : "connect to",
      };
    if (path !== undefined && does.includes("write")) {
      const later = startsLater(path);
      return later === undefined
        ? { severity: "warning", what: WORDS[first] ?? "change" }
        : { severity: "alert", what: `write what ${later}:` };
    }
    if (path !== undefined && does.includes("read")) {
      const isSecret = !does.includes("list") && this.#known.secrets.of(path) !== undefined;
      return isSecret
        ? { severity: "alert", what: "read the secret" }
        : { severity: "notice", what: does.includes("list") ? "list" : "read" };
    }
    return { severity: "warning", what: WORDS[first] ?? first };
  }

  findings(): readonly PatternFinding[] {
    return [...this.#attempts.values()].slice(0, MAX_FINDINGS).map(findingOf);
  }
}

/** Effects as they read after "tried to". */
const WORDS: Partial<Record<Effect, string>> = {
  exec: "run",
  load: "load as code",
  create: "write",
  truncate: "write",
  mkdir: "make",
  mknod: "make",
  delete: "delete",
  rename: "move",
  link: "link",
  symlink: "link",
  bind: "listen at",
  signal: "signal another process:",
  ptrace: "look into another process:",
  mount: "mount:",
  namespace: "make a namespace:",
  setuid: "change its user:",
  settime: "set the clock:",
};

function findingOf({ process, severity, what, by, targets, count, proofs }: Attempts): PatternFinding {
  const shown = [...targets].slice(0, SHOWN);
  const more = targets.size > SHOWN ? ` and ${targets.size - SHOWN} more` : "";
  const times = count > targets.size ? ` (${count} times)` : "";
  const finding: PatternFinding = {
    pattern: "refused-attempt",
    severity,
    title: `${processName(process)} tried to ${what} ${shown.join(", ")}${more}${times}: refused by ${by}`,
    evidence: proofs,
  };
  const isRead = what === "read the secret";
  return isRead ? weighed(finding, habitOf(finding.pattern, process, { files: [...targets] })) : finding;
}

function ruleOf({ policy, rule, reason }: CallRecord): string {
  if (policy === undefined) return reason ?? "HERMES";
  return rule === undefined ? `${policy}${reason === undefined ? "" : `, ${reason}`}` : `${policy}/${rule}`;
}
