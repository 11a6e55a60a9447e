import type { CallEvent } from "../../nouns/event.js";
import { ask, deny, type Verdict } from "../../nouns/verdict.js";
import { type EnforcementPoint, enforcedAt } from "../guard/command/enforced-at.js";
import type { Finding } from "../guard/finding.js";
import type { Guard } from "../guard/guard.js";

/**
 * Judges a program again when it starts, by the arguments that it really gets. They are judged as a command line in
 * which nothing is left to expand.
 */
export class ExecJudge {
  readonly #guard: Guard;
  readonly #approved: ReadonlySet<string>;
  readonly #known = new Map<string, Verdict | undefined>();

  constructor(guard: Guard, approved: readonly string[]) {
    this.#guard = guard;
    this.#approved = new Set(approved);
  }

  judge(event: CallEvent): Verdict | undefined {
    const { argv, path } = event;
    if (!argv) return deny("The program's arguments cannot be read, so they cannot be judged.");
    // The kernel runs the file; the caller chooses argv[0]. Some programs act by argv[0], so both are judged.
    const called = argv[0] ?? "";
    const words = [path ?? called, ...argv.slice(1)];
    const { cwd } = event.process;
    const real = this.#judgeWords(words, cwd);
    return real?.action === "deny" || baseName(called) === baseName(words[0]!)
      ? real
      : stricter(real, this.#judgeWords(argv, cwd));
  }

  #judgeWords(words: readonly string[], cwd: string): Verdict | undefined {
    const command = words.map(quoted).join(" ");
    const key = `${cwd}\0${command}`;
    if (this.#known.has(key)) return this.#known.get(key);
    const { findings } = this.#guard.check({ kind: "command", input: command, fields: { cwd } });
    const verdict = this.#verdict(findings.filter(isForExec));
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    if (command.length <= LONGEST_KNOWN) this.#known.set(key, verdict);
    return verdict;
  }

  #verdict(findings: readonly Finding[]): Verdict | undefined {
    const refusal = findings.find(({ action }) => action === "deny");
    if (refusal) return { ...deny(refusal.reason, "EPERM"), rule: refusal.rule };
    const question = findings.find(({ action, rule }) => action === "ask" && !this.#approved.has(rule));
    return question && { ...ask(question.reason), rule: question.rule };
  }
}

const MOST_KNOWN = 500;
const LONGEST_KNOWN = 4000;

/**
 * Findings on how a text is written say nothing about expanded arguments. Effects on files and addresses are judged
 * when the program opens or connects, by what it really reaches.
 */
const NOT_HERE: ReadonlySet<EnforcementPoint> = new Set(["code", "open", "connect"]);

/**
 * Findings in code of other languages do not count here: what that code runs, opens and connects to is checked at run
 * time.
 */
function isForExec({ layer, rule, action }: Finding): boolean {
  return (
    action !== "allow" && (layer === "patterns" || (layer === "command" && !NOT_HERE.has(enforcedAt(rule))))
  );
}

function stricter(a: Verdict | undefined, b: Verdict | undefined): Verdict | undefined {
  return b?.action === "deny" || !a ? b : a;
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Quotes a word for a shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
