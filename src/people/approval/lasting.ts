import { HermesError } from "../../nouns/errors.js";
import type { ApprovalRow, Store } from "../../record/store/store.js";
import type { KeptAnswer } from "./allow-list.js";
import { coverageOf, itemOf } from "./approval-item.js";
import { EXACT_COMMAND } from "./preset-answer.js";

/** An answer that holds for always: what the user's hermes.yaml keeps, with what the store knows of it. */
export interface LastingAnswer {
  /** As hermes.yaml has it: `exact:` and a digest, or a key such as `recursive delete`. */
  readonly key: string;
  readonly grants: boolean;
  readonly what: string;
  /** What it covers, in one sentence. */
  readonly covers: string;
  readonly policy?: string;
  readonly rule?: string;
  readonly program?: string;
  readonly path?: string;
  readonly cwd?: string;
  readonly by?: string;
  /** Milliseconds since 1970. */
  readonly time?: number;
}

export async function lastingAnswers(
  store: Store,
  kept: readonly KeptAnswer[],
): Promise<readonly LastingAnswer[]> {
  const found: LastingAnswer[] = [];
  for (const { list, key, comment } of kept) {
    const grants = list === "allow";
    const row = key.startsWith(EXACT_COMMAND)
      ? newest(
          await store.approvals({
            digest: key.slice(EXACT_COMMAND.length),
            state: [grants ? "granted" : "refused"],
          }),
        )
      : undefined;
    found.push({ key, grants, ...(row ? known(row) : unknown(key, comment)) });
  }
  return found;
}

/** By its key, or by the beginning of its digest. */
export function findLasting(all: readonly LastingAnswer[], id: string): LastingAnswer {
  const wrong = (message: string) => new HermesError("APPROVAL", { id, message });
  const exact = all.find(({ key }) => key === id);
  if (exact) return exact;
  const begins =
    id.length >= SHORTEST ? all.filter(({ key }) => key.startsWith(`${EXACT_COMMAND}${id}`)) : [];
  if (begins.length > 1) throw wrong(`${begins.length} answers begin so: write more of it`);
  if (!begins[0]) throw wrong("there is no such answer for always: see hermes approvals always");
  return begins[0];
}

const SHORTEST = 4;

function newest(rows: readonly ApprovalRow[]): ApprovalRow | undefined {
  return rows.findLast(({ scope }) => scope === "always");
}

function known(row: ApprovalRow): Omit<LastingAnswer, "key" | "grants"> {
  const item = itemOf(row);
  const { findings, detail } = item;
  const text = (name: string) => (typeof detail[name] === "string" ? { [name]: detail[name] } : {});
  return {
    what: row.what,
    covers: coverageOf(item),
    rule: findings.map(({ rule }) => rule).join(", "),
    ...text("policy"),
    ...text("program"),
    ...text("path"),
    ...text("cwd"),
    ...(row.answeredBy !== null && { by: row.answeredBy }),
    ...(row.answered !== null && { time: row.answered }),
  };
}

/** Written by hand, or answered with another store. */
function unknown(key: string, comment: string): Omit<LastingAnswer, "key" | "grants"> {
  return key.startsWith(EXACT_COMMAND)
    ? { what: comment || key, covers: "exactly this" }
    : { what: comment || key, covers: `every finding with the key ${key}` };
}
