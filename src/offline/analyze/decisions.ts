import { argumentsText } from "../../record/trace/function-text.js";
import type { CallRecord, FunctionRecord } from "../../record/trace/records.js";

/** What one rule did to one kind of call. */
export interface DecisionFacts {
  readonly action: string;
  readonly policy: string;
  readonly rule: string;
  readonly reason: string;
  readonly call: string;
  count: number;
  readonly examples: string[];
}

const EXAMPLES = 5;
const MAX_KINDS = 5_000;

/** Decisions other than a plain allow, by rule. */
export class Decisions {
  readonly #kinds = new Map<string, DecisionFacts>();

  take(record: CallRecord | FunctionRecord): void {
    const { action, policy = "", rule = "", reason = "", name } = record;
    const key = [action, policy, rule, name, rule === "" ? reason : ""].join("\0");
    let facts = this.#kinds.get(key);
    if (!facts) {
      if (this.#kinds.size >= MAX_KINDS) return;
      facts = { action, policy, rule, reason, call: name, count: 0, examples: [] };
      this.#kinds.set(key, facts);
    }
    facts.count++;
    const example = record.kind === "function" ? argumentsText(record, 48) : subject(record);
    if (example !== "" && facts.examples.length < EXAMPLES && !facts.examples.includes(example))
      facts.examples.push(example);
  }

  list(): DecisionFacts[] {
    return [...this.#kinds.values()].sort((a, b) => b.count - a.count);
  }
}

/** What a call was about, in a few words: a command line, a path, an address, a descriptor. */
export function subject({ args, path, target }: CallRecord): string {
  if (Array.isArray(args.argv)) return args.argv.join(" ");
  if (path !== undefined) return path;
  const { addr } = args; // of mmap and its kin a number
  return typeof addr === "string" && !addr.startsWith("0x") ? addr : (target ?? "");
}
