import type { Tree, TreeCursor } from "@lezer/common";
import { parser } from "@lezer/python";

/** A node of a Python program, without punctuation that says nothing. */
export interface Node {
  /** As the grammar calls it: `CallExpression`, `VariableName`, `+` … */
  readonly type: string;
  readonly from: number;
  readonly to: number;
  readonly kids: readonly Node[];
}

export interface Parsed {
  readonly root: Node;
  /** Where the text is no Python. */
  readonly errors: readonly { readonly from: number; readonly to: number }[];
}

/** Nobody nests deeper by hand, and the evaluator recurses. */
const DEPTH = 400;

export class TooDeep extends Error {}

export function parse(text: string): Parsed {
  const tree: Tree = parser.parse(bridged(text));
  const errors: { from: number; to: number }[] = [];
  const cursor = tree.cursor();
  return { root: build(cursor, 0, errors, ""), errors };
}

function build(
  cursor: TreeCursor,
  depth: number,
  errors: { from: number; to: number }[],
  above: string,
): Node {
  if (depth > DEPTH) throw new TooDeep();
  const { name: type, from, to } = cursor;
  if (cursor.type.isError && !(from === to && TOLERATED.has(above))) errors.push({ from, to });
  const kids: Node[] = [];
  if (cursor.firstChild()) {
    do kids.push(build(cursor, depth + 1, errors, type));
    while (cursor.nextSibling());
    cursor.parent();
  }
  return { type, from, to, kids };
}

/** Where the grammar misses something that is Python: a bare `yield`, patterns of `case`. */
const TOLERATED = new Set([
  "YieldExpression",
  "YieldStatement",
  "MatchClause",
  "OrPattern",
  "ClassPattern",
  "Decorator",
]);

/** What the grammar does not know yet, spelled as what it knows, of the same length. */
function bridged(text: string): string {
  let result = text;
  if (/\bexcept\s*\*/.test(result)) result = result.replace(/(\bexcept\s*)\*/g, "$1 ");
  if (/\bwith\s*\(/.test(result)) result = withoutParentheses(result);
  return result;
}

/** `with (a as b, c as d):` without its parentheses, commas at the end and line ends. */
function withoutParentheses(text: string): string {
  return text.replace(
    /^([ \t]*(?:async[ \t]+)?with[ \t]*)\(((?:[^()\n]|\n|\([^()]*(?:\([^()]*\)[^()]*)*\)){0,2000})\)(?=[ \t]*:)/gm,
    (whole, start: string, inner: string) =>
      /\bas\b/.test(inner) ? `${start} ${inner.replace(/[\r\n\\]/g, " ").replace(/,(\s*)$/, " $1")} ` : whole,
  );
}
