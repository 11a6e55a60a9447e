import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "unbash";
import { describe, expect, it } from "vitest";
import { root } from "../../../support/root.js";
import { hidden } from "./hiding-places.js";
import { judged } from "./judged.js";

type Grammar = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

/**
 * Properties that the parser derives from others, names that no shell expands, and properties that only a text with
 * errors has.
 */
const DERIVED =
  /^(\w+\.type|Command\.(args|redirects)|(For|Select|Function|Coproc)\.name|Function\.body:CompoundList|Coproc\.body:CompoundList)$/;

/** The parser's grammar, from its own types: for every kind of node, which property holds which kinds. */
const GRAMMAR = readGrammar(readFileSync(join(root, "node_modules/unbash/dist/types.d.ts"), "utf8"));

function readGrammar(text: string): Grammar {
  const interfaces = new Map<string, { parent: string | undefined; body: string }>();
  for (const [, name, parent, body] of text.matchAll(/interface (\w+)(?: extends (\w+))? \{([\s\S]*?)\n\}/g))
    interfaces.set(name!, { parent, body: body! });
  const unions = new Map(
    [...text.matchAll(/^export type (\w+) = ([^;{]+);/gm)].map(([, n, of]) => [n!, of!]),
  );
  const bodyOf = (name: string): string => {
    const { parent, body } = interfaces.get(name)!;
    return (parent ? bodyOf(parent) : "") + body;
  };
  const kindOf = (name: string) => /readonly type: "(\w+)"/.exec(bodyOf(name))?.[1];
  const kinds = (type: string): string[] =>
    [...type.matchAll(/\b[A-Z]\w+/g)].flatMap(([name]) => {
      const union = unions.get(name);
      return union ? kinds(union) : interfaces.has(name) ? (kindOf(name) ?? []) : [];
    });
  const grammar = new Map<string, Map<string, Set<string>>>();
  for (const name of interfaces.keys()) {
    const kind = kindOf(name);
    if (!kind) continue;
    const row = grammar.get(kind) ?? new Map<string, Set<string>>();
    grammar.set(kind, row);
    for (const [, property, type] of bodyOf(name).matchAll(/readonly (\w+)\??: ([^;]+);/g)) {
      if (DERIVED.test(`${kind}.${property}`)) continue;
      const held = kinds(type!).filter((one) => !DERIVED.test(`${kind}.${property}:${one}`));
      if (held.length > 0) row.set(property!, new Set([...(row.get(property!) ?? []), ...held]));
    }
  }
  return grammar;
}

/** Kinds of node that can contain a command. */
function leadsToCommands(grammar: Grammar): ReadonlySet<string> {
  const leads = new Set(["Command"]);
  for (let before = 0; before < leads.size; ) {
    before = leads.size;
    for (const [kind, row] of grammar)
      if ([...row.values()].some((held) => [...held].some((one) => leads.has(one)))) leads.add(kind);
  }
  return leads;
}

interface Node {
  readonly type: string;
  readonly pos: number;
  readonly end: number;
  readonly [property: string]: unknown;
}

/** Every step of every path from a node to the commands below it that are called `name`. */
function* steps(node: Node, name: string, way: readonly string[] = []): Generator<readonly string[]> {
  if (node.type === "Command" && (node.name as { value?: string } | undefined)?.value === name) yield way;
  for (const property of GRAMMAR.get(node.type)?.keys() ?? []) {
    const held = node[property];
    for (const child of (Array.isArray(held) ? held : [held]) as (Node | undefined)[])
      if (child) yield* steps(child, name, [...way, `${node.type}.${property}`]);
  }
}

describe("a command is found in every place that the grammar allows", () => {
  const { check } = judged();

  it("the hiding places cover every property of every node that can lead to a command", () => {
    const leads = leadsToCommands(GRAMMAR);
    const all = [...GRAMMAR].flatMap(([kind, row]) =>
      [...row].flatMap(([property, held]) =>
        [...held].some((one) => leads.has(one)) ? [`${kind}.${property}`] : [],
      ),
    );
    const taken = new Set<string>();
    for (const script of hidden("shutdown"))
      for (const way of steps(parse(script) as unknown as Node, "shutdown"))
        for (const step of way) taken.add(step);
    expect(all.length).toBeGreaterThan(60);
    expect(all.filter((step) => !taken.has(step))).toEqual([]);
  });

  for (const command of ["rm -rf /", "shutdown now", "git push"])
    it(`${command}: in each of these places, and in places nested in places`, () => {
      let scripts = 0;
      const missed: string[] = [];
      for (const script of hidden(command, command === "shutdown now")) {
        scripts++;
        if (check(script).action === "allow") missed.push(script);
      }
      expect(missed).toEqual([]);
      expect(scripts).toBeGreaterThan(command === "shutdown now" ? 3000 : 300);
    });

  it("a harmless command stays harmless in all of them, except those that ask by themselves", () => {
    const asked = [...hidden("ls src")].filter((script) => check(script).action !== "allow");
    const own =
      /eval|PROMPT_COMMAND|PS[14]=|BASH_ENV|\bexec\b|bash -i|-i$|\| (sh|bash)|base64|bind|\$\{x\/+#?[`$]|^\. <|^trap [$`]|^[$`].*; true/;
    expect(asked.filter((script) => !own.test(script))).toEqual([]);
  });
});
