import { type CommandArguments, type CommandOption, readArguments } from "./arguments.js";
import type { Word } from "./script.js";

/**
 * A pattern is one line of a table. It says which command lines it matches, in the words of a command line:
 *
 *   git push !--dry-run            `push` is the first operand and `--dry-run` is not given
 *   git branch -D|--delete         one of these options, in a cluster or alone
 *   docker|podman run --privileged alternatives for a program or an operand
 *   aws * delete-*|terminate-*     operands may have wildcards
 *   dd ~of=/dev/*                  an operand in any position
 *   ssh -o:*ProxyCommand*          an option with a matching value
 *   npm --registry:!https://npm/*  an option with any other value
 *   git branch $                   no further operand
 */
type CommandPattern = (args: CommandArguments) => Word | undefined;

type Test = CommandPattern;

/** What comes after the programs. */
function compilePattern(tokens: readonly string[]): CommandPattern {
  const operands = tokens.filter((token) => !/^[-~!$]/.test(token)).map(alternatives);
  const closed = tokens.includes("$");
  const tests: Test[] = tokens.filter((token) => /^[-~]/.test(token)).map((token) => compileTest(token));
  const refusals: Test[] = tokens
    .filter((token) => token.startsWith("!"))
    .map((token) => compileTest(token.slice(1)));
  return (args) => {
    let evidence: Word | undefined;
    if (closed && args.operands.length > operands.length) return undefined;
    for (const [i, matches] of operands.entries()) {
      const operand = args.operands[i];
      if (!operand || !matches(operand.text)) return undefined;
      evidence = operand;
    }
    for (const test of tests) {
      const found = test(args);
      if (!found) return undefined;
      evidence = found;
    }
    if (refusals.some((test) => test(args))) return undefined;
    return evidence ?? NAME_ONLY;
  };
}

/** For a pattern that gives only the program's name. */
export const NAME_ONLY: Word = { text: "", span: { start: 0, end: 0 }, glob: false, variables: [], from: [] };

function compileTest(token: string): Test {
  if (token.startsWith("~")) {
    const matches = alternatives(token.slice(1));
    return ({ operands }) => operands.find(({ text }) => matches(text));
  }
  if (!token.startsWith("-")) {
    const matches = alternatives(token);
    return ({ operands }) => operands.find(({ text }) => matches(text));
  }
  const colon = token.indexOf(":");
  const names = new Set((colon < 0 ? token : token.slice(0, colon)).split("|"));
  const value = colon < 0 ? undefined : valueTest(token.slice(colon + 1));
  const wanted = (option: CommandOption) =>
    names.has(option.name) && (!value || value(option.value?.text ?? ""));
  return ({ options }) => options.find(wanted)?.word;
}

/** `!a|b*`: none of these. */
function valueTest(text: string): (candidate: string) => boolean {
  if (!text.startsWith("!")) return alternatives(text);
  const known = alternatives(text.slice(1));
  return (candidate) => !known(candidate);
}

/** `a|b*`: one of these, wildcards allowed. */
function alternatives(text: string): (candidate: string) => boolean {
  const plain = new Set<string>();
  const wild: RegExp[] = [];
  for (const one of text.split("|"))
    if (/[*?]/.test(one))
      wild.push(
        new RegExp(
          `^${one
            .replace(/[.+^${}()[\]\\]/g, "\\$&")
            .replaceAll("*", ".*")
            .replaceAll("?", ".")}$`,
          "s",
        ),
      );
    else plain.add(one);
  return (candidate) => plain.has(candidate) || wild.some((matcher) => matcher.test(candidate));
}

/** Rules for many programs, found by name. A program's patterns are compiled when it is first met. */
export class CommandPatternTable<T> {
  readonly #texts = new Map<string, { readonly text: string; readonly value: T }[]>();
  readonly #rows = new Map<string, { readonly matches: CommandPattern; readonly value: T }[]>();
  readonly #values: (program: string) => ReadonlySet<string>;

  constructor(
    rows: Iterable<readonly [value: T, ...patterns: string[]]>,
    values: (program: string) => ReadonlySet<string>,
  ) {
    this.#values = values;
    for (const [value, ...patterns] of rows)
      for (const text of patterns)
        for (const program of text.split(" ", 1)[0]!.split("|")) {
          const known = this.#texts.get(program);
          if (known) known.push({ text, value });
          else this.#texts.set(program, [{ text, value }]);
        }
  }

  knows(program: string): boolean {
    return this.#texts.has(program);
  }

  match(program: string, words: readonly Word[]): { readonly value: T; readonly word: Word }[] {
    const rows = this.#rowsOf(program);
    if (!rows) return [];
    const args = readArguments(words, this.#values(program));
    return rows.flatMap(({ matches, value }) => {
      const word = matches(args);
      return word ? [{ value, word }] : [];
    });
  }

  #rowsOf(program: string) {
    const known = this.#rows.get(program);
    if (known) return known;
    const rows = this.#texts.get(program)?.map(({ text, value }) => ({
      matches: compilePattern(text.split(" ").slice(1)),
      value,
    }));
    if (rows) this.#rows.set(program, rows);
    return rows;
  }
}
