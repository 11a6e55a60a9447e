import type { CallEvent } from "../event.js";
import { type Held, heldAt } from "../guard/command/held.js";
import type { Finding } from "../guard/finding.js";
import type { Guard } from "../guard/guard.js";
import { ask, deny, type Verdict } from "../verdict.js";

/**
 * What is run is judged once more as what it really is: the words that the program gets, however they came about. They
 * are judged as a command line in which nothing is left to expand.
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
    if (!argv) return deny("Its arguments cannot be read.");
    // What runs is the file; what it calls itself is the caller's choice. Some programs go by that, so both are judged.
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
    const verdict = this.#verdict(findings.filter(isAboutDeed));
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
 * How a text is written, or comes to be, says nothing about words that are there; what it does to files and addresses is
 * judged when it does it, and on what it really reaches.
 */
const NOT_HERE: ReadonlySet<Held> = new Set(["code", "open", "connect"]);

/** Code of other languages is seen at work too: what it runs, opens and connects to comes here. */
function isAboutDeed({ layer, rule, action }: Finding): boolean {
  return action !== "allow" && (layer === "patterns" || (layer === "command" && !NOT_HERE.has(heldAt(rule))));
}

function stricter(a: Verdict | undefined, b: Verdict | undefined): Verdict | undefined {
  return b?.action === "deny" || !a ? b : a;
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** One word of a shell, whatever it contains. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
