import { type Token, tokensOf } from "./tokens.js";

/** A text that a script compares with the name of a call. */
export interface Comparison {
  readonly text: string;
  readonly line: number;
  /** name:lower(), name:upper(), or the name as it is. */
  readonly case: "lower" | "upper" | "exact";
}

/** What a script says of calls, as far as its text shows. */
export interface Mentioned {
  /** Every name and every string of it. */
  readonly words: readonly string[];
  /** Texts compared with the first parameter of on_syscall, and keys of tables that it looks up there. */
  readonly comparisons: readonly Comparison[];
}

/** Reads a script's text for the names of calls: which of them it knows cannot be seen by running it. */
export function mentionedBy(source: string): Mentioned {
  const tokens = tokensOf(source);
  const words = tokens.filter(({ kind }) => kind !== "symbol").map(({ text }) => text);
  const parameter = parameterOf(tokens);
  return { words, comparisons: parameter === undefined ? [] : comparisonsOf(tokens, parameter) };
}

/** `function on_syscall(name` or `on_syscall = function(name` */
function parameterOf(tokens: readonly Token[]): string | undefined {
  const at = tokens.findIndex(({ text }, i) => text === "on_syscall" && startsFunction(tokens, i));
  if (at < 0) return undefined;
  const open = tokens.findIndex(({ text }, i) => i > at && text === "(");
  const first = tokens[open + 1];
  return first?.kind === "name" ? first.text : undefined;
}

const startsFunction = (tokens: readonly Token[], at: number) =>
  tokens[at - 1]?.text === "function" ||
  (tokens[at + 1]?.text === "=" && tokens[at + 2]?.text === "function");

function comparisonsOf(tokens: readonly Token[], parameter: string): Comparison[] {
  const found: Comparison[] = [];
  for (const [at, { kind, text }] of tokens.entries()) {
    if (kind !== "name" || text !== parameter || tokens[at - 1]?.text === "." || tokens[at - 1]?.text === ":")
      continue;
    const changed = /^:(lower|upper)\(\)$/.exec(textOf(tokens, at + 1, 4))?.[1];
    const how = (changed ?? "exact") as Comparison["case"];
    const after = at + (changed ? 5 : 1);
    const beside = [
      isEquality(tokens[after]) ? tokens[after + 1] : undefined,
      isEquality(tokens[at - 1]) ? tokens[at - 2] : undefined,
    ];
    for (const one of beside)
      if (one?.kind === "string") found.push({ text: one.text, line: one.line, case: how });
    const table = tokens[at - 2];
    if (tokens[at - 1]?.text === "[" && tokens[after]?.text === "]" && table?.kind === "name")
      found.push(...keysOf(tokens, table.text).map((key) => ({ ...key, case: how })));
  }
  return found;
}

const textOf = (tokens: readonly Token[], from: number, count: number) =>
  tokens
    .slice(from, from + count)
    .map(({ text }) => text)
    .join("");
const isEquality = (token: Token | undefined) =>
  token?.kind === "symbol" && (token.text === "==" || token.text === "~=");

/** The keys of the table that is made under this name: `{ Open = …, ["SendTo"] = … }`. */
function keysOf(tokens: readonly Token[], name: string): { text: string; line: number }[] {
  const at = tokens.findIndex(
    ({ text, kind }, i) =>
      kind === "name" && text === name && tokens[i + 1]?.text === "=" && tokens[i + 2]?.text === "{",
  );
  if (at < 0) return [];
  const keys: { text: string; line: number }[] = [];
  let depth = 0;
  for (const [i, token] of tokens.slice(at + 2).entries()) {
    const [before, after] = [tokens[at + 1 + i]!, tokens[at + 3 + i]];
    if (token.kind === "symbol" && "{([".includes(token.text)) depth++;
    if (token.kind === "symbol" && "})]".includes(token.text) && --depth === 0) break;
    const starts = before.kind === "symbol" && ["{", ",", ";"].includes(before.text);
    if (depth === 1 && token.kind === "name" && after?.text === "=" && starts) keys.push(token);
    if (depth === 2 && token.kind === "string" && before.text === "[" && after?.text === "]")
      keys.push(token);
  }
  return keys;
}
