import { PACKAGE_VERSION } from "../../nouns/version.js";
import { MAX_SHAPES } from "./commands.js";
import type { Run } from "./observations.js";
import { GENERALISATION_LIMITS } from "./path-class.js";
import type { LearnedRule, RuleLine } from "./rules.js";
import type { Sighting } from "./sighting.js";

/** A policy as a person would like to read it: rules with where they come from. */
export function policyText(name: string, rules: readonly LearnedRule[], runs: readonly Run[]): string {
  const { system, workspace, home } = GENERALISATION_LIMITS;
  const lines = [
    `# Learned by hermes ${PACKAGE_VERSION} from ${runs.length} ${runs.length === 1 ? "run" : "runs"}:`,
    ...runs.slice(-8).map(({ started, command }) => `#   ${started}  ${comment(command.join(" "), 90)}`),
    "# What was seen is allowed, the rest is refused. Process numbers, hashes, versions and the random part of temporary names",
    `# are wildcards. So are all names of a folder from ${system.files} seen on (workspace ${workspace.files}, home ${home.files}), everything below it from`,
    `# ${system.below} patterns on (workspace ${workspace.below}, home ${home.below}), and arguments of a program from ${MAX_SHAPES + 1} kinds on. Names on the command line are`,
    "# parameters: others with their extension may stand there. × is how often; confidence is high for what every one of",
    "# several runs did, low for a wildcard that rests on one file.",
    `name: ${scalar(name)}`,
    `description: ${scalar(`What ${runs.at(-1)?.command[0] ?? "the program"} was seen doing.`)}`,
    "default: deny",
    "rules:",
    ...rules.flatMap((rule) => [...ruleLines(rule), ""]),
  ];
  return `${lines.join("\n").trimEnd()}\n`;
}

/** One rule, with its provenance above it. */
export function ruleLines(rule: LearnedRule): string[] {
  const { id, action, words, path, address, argv, process, where, errno, reason, note, seen, confidence } =
    rule;
  const head = [
    ...(note === undefined ? [] : [note]),
    ...(seen.count > 0 ? [provenance(seen)] : []),
    ...(confidence === undefined ? [] : [`confidence ${confidence}`]),
  ];
  return [
    ...(head.length > 0 ? [`  # ${comment(head.join("; "), 200)}`] : []),
    `  - id: ${scalar(id)}`,
    `    ${action}: ${words.length === 1 ? scalar(words[0]!) : flow(words)}`,
    ...list("path", path),
    ...list("address", address),
    ...(argv ? [`    argv: ${flow(argv)}`] : []),
    ...(process
      ? [`    process: ${process.length === 1 ? scalar(process[0]!) : `{ exe: ${flow(process)} }`}`]
      : []),
    ...(where
      ? [`    where: { ${Object.entries(where).map(([key, values]) => `${key}: [${values.join(", ")}]`)} }`]
      : []),
    ...(errno === undefined ? [] : [`    errno: ${errno}`]),
    ...(reason === undefined ? [] : [`    reason: ${scalar(reason)}`]),
  ];
}

function list(key: string, lines: readonly RuleLine[] | undefined): string[] {
  if (!lines) return [];
  const [only] = lines;
  if (lines.length === 1) return [`    ${key}: ${scalar(only!.text)}`];
  const texts = lines.map(({ text }) => scalar(text));
  const width = Math.min(60, Math.max(...texts.map((text) => text.length)));
  return [
    `    ${key}:`,
    ...lines.map((line, i) => {
      const seen =
        line.seen.count > 0
          ? `${" ".repeat(Math.max(0, width - texts[i]!.length))}  # ${comment(brief(line), 80)}`
          : "";
      return `      - ${texts[i]}${seen}`;
    }),
  ];
}

function brief({ files, seen }: RuleLine): string {
  return `${files !== undefined && files > 1 ? `${files} files, ` : ""}${seen.count}× ${[...seen.by].slice(0, 3).join(", ")}`;
}

function provenance({ count, by, first, last, runs }: Sighting): string {
  const users = [...by].slice(0, 4).join(", ") + (by.size > 4 ? " …" : "");
  const times = first === last ? stamp(first) : `${stamp(first)} to ${stamp(last)}`;
  return `${count}×${users === "" ? "" : ` by ${users}`}, ${runs.size} ${runs.size === 1 ? "run" : "runs"}, ${times}`;
}

function stamp(time: number): string {
  return new Date(time * 1000).toISOString().slice(0, 19).replace("T", " ");
}

/** One line: control characters are replaced. */
function comment(text: string, limit: number): string {
  const line = text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\ud800-\udfff]/gu, "?");
  return line.length > limit ? `${line.slice(0, limit)}…` : line;
}

const PLAIN = /^[A-Za-z/~][\w/.~+-]*$/;
const NOT_TEXT = /^(true|false|null|yes|no|on|off|y|n|~)$/i;

function scalar(text: string): string {
  return PLAIN.test(text) && !NOT_TEXT.test(text) ? text : JSON.stringify(text);
}

function flow(texts: readonly string[]): string {
  return `[${texts.map(scalar).join(", ")}]`;
}
