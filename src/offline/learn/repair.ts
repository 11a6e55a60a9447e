import { readFileSync } from "node:fs";
import { isSeq, LineCounter, parseDocument } from "yaml";
import { HermesError } from "../../nouns/errors.js";
import type { UsedSecrets } from "../analyze/secrets.js";
import { escapePattern, patternsOfNames } from "../analyze/shape.js";
import { generalise, type PathPattern } from "./generalise.js";
import type { FileUse, Observations } from "./observations.js";
import { namesOf, pathClass } from "./path-class.js";
import { addressLines, byWords, group, type LearnedRule } from "./rules.js";
import { sumOf } from "./sighting.js";
import { ruleLines } from "./write-policy.js";

/** A rule that would let pass what was refused. */
export interface Proposal {
  readonly rule: LearnedRule;
  /** The rule as it would be written. */
  readonly text: string;
  /** It would hand out a secret. */
  readonly secret: boolean;
}

/** The smallest additions for what was refused: one for each file, program, peer and effect. */
export function proposals(
  refused: Observations,
  secrets: UsedSecrets,
  taken: ReadonlySet<string>,
): Proposal[] {
  const ids = new Set(taken);
  const proposal = (rule: LearnedRule, secret: boolean): Proposal => {
    let id = rule.id;
    for (let i = 2; ids.has(id); i++) id = `${rule.id}-${i}`;
    ids.add(id);
    const named = { ...rule, id };
    return { rule: named, text: ruleLines(named).join("\n"), secret };
  };
  return [
    ...byWords([...refused.files.values()], patternsOf).flatMap(({ words, patterns }) =>
      patterns.map(({ text, seen, uses }) => {
        const secret = uses.some(({ real }) => secrets.of(real) !== undefined);
        return proposal(
          { id: `added-${words[0]}`, action: "allow", words, path: [{ text, seen }], seen },
          secret,
        );
      }),
    ),
    ...[...refused.programs.values()].map(({ path, seen }) =>
      proposal(
        {
          id: "added-run",
          action: "allow",
          words: ["exec"],
          path: [{ text: pathPattern(path), seen }],
          seen,
        },
        false,
      ),
    ),
    ...[...refused.peers.values()].map((peer) => {
      const { word, exe, seen } = peer;
      const process = word === "connect" && exe !== "" ? { process: [pathPattern(exe)] } : {};
      return proposal(
        {
          id: `added-${word}`,
          action: "allow",
          words: [word],
          address: addressLines(peer),
          ...process,
          seen,
        },
        false,
      );
    }),
    ...[...refused.others.values()].map(({ word, detail, seen }) => {
      const where = word === "signal" ? { where: { sig: [Number(detail)] } } : {};
      return proposal({ id: `added-${word}`, action: "allow", words: [word], ...where, seen }, false);
    }),
  ];
}

/** What belongs to the system is public, and comes in crowds (a library and where it is looked for); the rest one by one. */
function patternsOf(uses: readonly FileUse[]): (PathPattern & { readonly uses: readonly FileUse[] })[] {
  const system = uses.filter(({ exact }) => pathClass(exact) === "system");
  const rest = uses.filter((use) => !system.includes(use));
  return [
    ...generalise(system).map((pattern) => ({ ...pattern, uses: [] })),
    ...[...group(rest, patternOf)].map(([text, same]) => ({
      text,
      place: pathClass(same[0]!.exact),
      files: same.length,
      seen: sumOf(same.map(({ seen }) => seen)),
      uses: same,
    })),
  ];
}

function patternOf({ exact, temporary }: FileUse): string {
  const { root, names } = namesOf(exact);
  const parts = patternsOfNames(names, { temporary });
  return parts.length === 0 ? root || "/" : `${root}/${parts.join("/")}`;
}

function pathPattern(path: string): string {
  const { root, names } = namesOf(path);
  return `${root}/${names.map(escapePattern).join("/")}`;
}

/** A policy's text with rules added before all others, where they decide first. */
export function withRules(file: string, rules: readonly string[]): string {
  const text = readFileSync(file, "utf8");
  const at = firstRule(file, text);
  return `${text.slice(0, at)}  # Added by hermes learn --repair.\n${rules.join("\n\n")}\n\n${text.slice(at)}`;
}

export function idsIn(file: string): Set<string> {
  const { rules } = (parseDocument(readFileSync(file, "utf8")).toJS() ?? {}) as { rules?: { id?: string }[] };
  return new Set((rules ?? []).flatMap(({ id }) => id ?? []));
}

/** Where the line of the first rule begins, or the comment above it. */
function firstRule(file: string, text: string): number {
  const counter = new LineCounter();
  const rules = parseDocument(text, { lineCounter: counter }).get("rules", true);
  const refuse = (message: string) => new HermesError("POLICY_INVALID", { file, message });
  if (!isSeq(rules) || rules.flow || rules.items.length === 0)
    throw refuse("its rules are not a list with a line for each: add the proposals (--json) by hand");
  const { line, col } = counter.linePos(rules.range![0]);
  if (col !== 3) throw refuse("its rules are not indented by two spaces: add the proposals (--json) by hand");
  const lines = text.split("\n");
  let first = line - 1;
  while (/^\s*#/.test(lines[first - 1] ?? "")) first--;
  return lines.slice(0, first).reduce((sum, each) => sum + each.length + 1, 0);
}
