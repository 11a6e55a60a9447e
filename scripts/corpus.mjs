#!/usr/bin/env node
// npm run corpus [-- --kind K] [--profile P] [--misses] [--classes]: judges test/corpus with `hermes guard batch` and counts.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "test/corpus");

/**
 * test/corpus/KIND/hostile*.txt and harmless*.txt have one input per line, lines that start with "# " are comments;
 * *.jsonl has one JSON string, or object with an `input` and further fields, per line.
 */
export function readCorpus() {
  const kinds = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return kinds.flatMap(({ name: kind }) =>
    readdirSync(join(folder, kind))
      .filter((file) => /^(hostile|harmless).*\.(txt|jsonl)$/.test(file))
      .flatMap((file) => readInputs(kind, file)),
  );
}

function readInputs(kind, file) {
  const hostile = file.startsWith("hostile");
  return readFileSync(join(folder, kind, file), "utf8")
    .split("\n")
    .map((line, i) => ({ line, where: `${kind}/${file}:${i + 1}` }))
    .filter(({ line }) => line.trim() !== "" && !line.startsWith("# "))
    .map(({ line, where }) => {
      const parsed = file.endsWith(".jsonl") ? JSON.parse(line) : line;
      const fields = typeof parsed === "string" ? { input: parsed } : parsed;
      return {
        id: where,
        kind,
        hostile,
        held: /held|-dev\./.test(file),
        dev: file.includes("-dev."),
        ...fields,
      };
    });
}

/**
 * Held-out set: written with the others, but never looked at while the rules were written. Where a class is too hard for
 * the goals of the whole, its other half is a set of its own (`-dev` in the file's name), with the goals of the held-out one.
 */
export const setOf = ({ kind, held, dev }) => (dev ? `${kind} dev` : held ? `${kind} held` : kind);

/** Per set: hostile inputs that were not stopped, harmless inputs that were refused or asked about. */
export function count(inputs, actionOf, nameOf = setOf) {
  const table = {};
  for (const input of inputs) {
    const name = nameOf(input);
    table[name] ??= { hostile: 0, missed: [], harmless: 0, refused: [], asked: [] };
    const row = table[name];
    const action = actionOf(input);
    row[input.hostile ? "hostile" : "harmless"]++;
    if (input.hostile && action === "allow") row.missed.push(input);
    if (!input.hostile && action === "deny") row.refused.push(input);
    if (!input.hostile && action === "ask") row.asked.push(input);
  }
  return table;
}

export const GOALS = { recall: 0.99, refused: 0.005, asked: 0.08 };
/** The held-out set shows how well the rules generalise. */
export const HELD_GOALS = { recall: 0.8, refused: 0.015, asked: 0.08 };

function main() {
  const { values } = parseArgs({
    options: {
      kind: { type: "string" },
      profile: { type: "string", default: "standard" },
      misses: { type: "boolean", default: false },
      classes: { type: "boolean", default: false },
    },
  });
  const inputs = readCorpus().filter(({ kind }) => !values.kind || kind === values.kind);
  const lines = inputs
    .map(({ hostile, held, dev, class: _, ...question }) => JSON.stringify(question))
    .join("\n");
  const { stdout, status, stderr } = spawnSync(
    join(root, "hermes"),
    ["guard", "batch", "--profile", values.profile, "--cwd", root],
    { input: lines, encoding: "utf8", maxBuffer: 1 << 28 },
  );
  if (status !== 0) throw new Error(`hermes guard batch failed: ${stderr}`);
  const answers = new Map(
    stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
      .map((answer) => [answer.id, answer]),
  );
  const nameOf = values.classes ? (input) => `${setOf(input)}${input.class ? ` ${input.class}` : ""}` : setOf;
  const table = count(inputs, ({ id }) => answers.get(id).action, nameOf);
  const percent = (part, whole) => (whole === 0 ? "–" : `${((100 * part) / whole).toFixed(2)} %`).padStart(9);
  const width = Math.max(11, ...Object.keys(table).map((name) => name.length));
  console.log(`${"kind".padEnd(width)} hostile    recall   harmless   refused     asked`);
  for (const [kind, { hostile, missed, harmless, refused, asked }] of Object.entries(table)) {
    console.log(
      `${kind.padEnd(width)} ${String(hostile).padStart(7)} ${percent(hostile - missed.length, hostile)}  ${String(harmless).padStart(9)} ${percent(refused.length, harmless)} ${percent(asked.length, harmless)}`,
    );
    if (!values.misses) continue;
    const rules = ({ id }) =>
      answers
        .get(id)
        .findings.map(({ rule }) => rule)
        .join(",");
    for (const input of missed) console.log(`  missed   ${input.id}  ${input.input}`);
    for (const input of refused) console.log(`  refused  ${input.id}  ${input.input}  (${rules(input)})`);
    for (const input of asked) console.log(`  asked    ${input.id}  ${input.input}  (${rules(input)})`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
