import { closeSync, openSync, readSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { HermesError } from "../../nouns/errors.js";
import { UsedSecrets } from "../../offline/analyze/secrets.js";
import { Observations } from "../../offline/learn/observations.js";
import { idsIn, type Proposal, proposals, withRules } from "../../offline/learn/repair.js";
import { loadPolicy } from "../../policy/load.js";
import { readTrace } from "../../record/trace/reader.js";
import { paint, print, say } from "../views/output.js";
import type { LearnFlags } from "./learn.js";

/** Adds to a policy what it refused wrongly. Exits 0 when nothing is left to add, else 1. */
export async function repairCommand(
  file: string,
  traces: readonly string[],
  flags: LearnFlags,
): Promise<number> {
  if (traces.length === 0)
    throw new HermesError("USAGE", {
      message: "--repair needs a trace of what was refused: hermes learn --repair p.yaml t.jsonl",
    });
  if (!/\.ya?ml$/.test(file))
    throw new HermesError("USAGE", { message: "--repair works on policies in YAML" });
  const found = await findProposals(file, traces);
  if (flags.json && !flags.yes) {
    print(`${JSON.stringify({ policy: file, proposals: found.map(described) })}\n`);
    return found.length > 0 ? 1 : 0;
  }
  const accepted = flags.yes ? found.filter(({ secret }) => !secret) : ask(found);
  if (accepted.length > 0) await add(file, accepted);
  if (flags.json)
    print(
      `${JSON.stringify({ policy: file, added: accepted.map(described), left: found.filter((p) => !accepted.includes(p)).map(described) })}\n`,
    );
  else report(file, found, accepted);
  return accepted.length === found.length ? 0 : 1;
}

async function findProposals(file: string, traces: readonly string[]): Promise<Proposal[]> {
  const policy = await loadPolicy(file);
  const refused = new Observations();
  for (const trace of traces) {
    const observer = refused.begin({ refusedBy: policy.name });
    await readTrace(trace, (record) => observer.take(record));
  }
  return proposals(refused, await UsedSecrets.load(), idsIn(file));
}

function described({ rule, text, secret }: Proposal) {
  const { id, words, seen } = rule;
  return {
    id,
    allow: words,
    secret,
    count: seen.count,
    by: [...seen.by],
    first: seen.first,
    last: seen.last,
    text,
  };
}

/** Writes atomically, and only a policy that loads. */
async function add(file: string, accepted: readonly Proposal[]): Promise<void> {
  const draft = join(dirname(file), `.${process.pid}.repaired.yaml`);
  try {
    writeFileSync(
      draft,
      withRules(
        file,
        accepted.map(({ text }) => text),
      ),
      { mode: 0o600 },
    );
    await loadPolicy(draft);
    renameSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
}

function report(file: string, found: readonly Proposal[], accepted: readonly Proposal[]): void {
  if (found.length === 0) say(`hermes: ${file} refused nothing in this trace\n`);
  else say(`hermes: ${file}: ${accepted.length} of ${found.length} additions made\n`);
  for (const { rule, secret } of found.filter((proposal) => !accepted.includes(proposal)))
    say(
      `hermes: not added${secret ? " (a secret)" : ""}: ${rule.id} ${rule.words.join(", ")} ${(rule.path ?? rule.address ?? []).map(({ text }) => text).join(" ")}\n`,
    );
}

/** Asks about each addition. Without a terminal, nothing is added. */
function ask(found: readonly Proposal[]): Proposal[] {
  if (found.length === 0) return [];
  let terminal: number;
  try {
    terminal = openSync("/dev/tty", "r");
  } catch {
    for (const { text } of found) print(`${text}\n\n`);
    say(
      "hermes: there is no terminal to ask on: --yes adds everything except secrets, --json lists the additions\n",
    );
    return [];
  }
  const p = paint(2);
  const accepted: Proposal[] = [];
  try {
    for (const [i, proposal] of found.entries()) {
      say(
        `\n${proposal.text}\n${proposal.secret ? p("red", "This is a secret. ") : ""}Add it? (${i + 1} of ${found.length}) [y]es [n]o [a]ll the rest except secrets [q]uit: `,
      );
      const answer = readLine(terminal);
      if (answer.startsWith("y")) accepted.push(proposal);
      if (answer.startsWith("a")) return [...accepted, ...found.slice(i).filter(({ secret }) => !secret)];
      if (answer === "" || answer.startsWith("q")) break;
    }
  } finally {
    closeSync(terminal);
  }
  return accepted;
}

/** Empty at end of input; an empty line means no. */
function readLine(fd: number): string {
  const byte = Buffer.alloc(1);
  let line = "";
  while (readSync(fd, byte) === 1) {
    if (byte[0] === 10) return line.trim().toLowerCase() || "no";
    line += byte.toString("latin1");
  }
  return line.trim().toLowerCase();
}
