import type { Tree, TreeCursor } from "@lezer/common";
import { parser } from "@lezer/python";

/** A node of a Python program, without meaningless punctuation. */
export interface SyntaxNode {
  /** The grammar's name: `CallExpression`, `VariableName`, `+` … */
  readonly type: string;
  readonly from: number;
  readonly to: number;
  readonly kids: readonly SyntaxNode[];
}

interface Parsed {
  readonly root: SyntaxNode;
  /** Where the text is no Python. */
  readonly errors: readonly { readonly from: number; readonly to: number }[];
}

/** The evaluator recurses; code written by hand is not deeper. */
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
): SyntaxNode {
  if (depth > DEPTH) throw new TooDeep();
  const { name: type, from, to } = cursor;
  if (cursor.type.isError && !(from === to && TOLERATED.has(above))) errors.push({ from, to });
  const kids: SyntaxNode[] = [];
  if (cursor.firstChild()) {
    do kids.push(build(cursor, depth + 1, errors, type));
    while (cursor.nextSibling());
    cursor.parent();
  }
  return { type, from, to, kids };
}

/** Node types in which the grammar reports errors although the text is Python: a bare `yield`, patterns of `case`. */
const TOLERATED = new Set([
  "YieldExpression",
  "YieldStatement",
  "MatchClause",
  "OrPattern",
  "ClassPattern",
  "PatternArgList",
  "Decorator",
]);

/**
 * Rewrites syntax that the grammar does not know to known syntax of the same length. Only the parser sees this: names
 * and values are read from the script itself.
 */
const BRIDGES: readonly (readonly [
  hint: RegExp,
  pattern: RegExp,
  replace: (...match: string[]) => string,
])[] = [
  // except* ValueError
  [/\bexcept\s*\*/, /(\bexcept\s*)\*/g, (_, start) => `${start} `],
  // 1. and 1.e5
  [/\d\./, /(?<![\w.])(\d[\d_]*)\.(?![\w.])|(?<![\w.])(\d[\d_]*)\.(?=[eEjJ])/gm, (_, a, b) => `${a ?? b}0`],
  // A form feed starts a line like any other.
  [/\f/, /(^|\n)?\f/g, (_, start) => (start === undefined ? " " : `${start}\n`)],
  // with open(a) as (b, c):
  [/\bas\s*\(/, /(\bas\s*)\(([^()\n]*)\)(?=\s*[:,])/g, (_, start, names) => `${start} ${names} `],
  // with (a as b, c as d):
  [
    /\bwith\s*\(/,
    /^([ \t]*(?:async[ \t]+)?with[ \t]*)\(((?:[^()]|\([^()]*(?:\([^()]*\)[^()]*)*\)){0,2000})\)(?=[ \t]*:)/gm,
    (whole, start, inner) =>
      /\bas\b/.test(inner!)
        ? `${start} ${inner!.replace(/[\r\n\\]/g, " ").replace(/,(\s*)$/, " $1")} `
        : whole!,
  ],
  // with open(a) as self.b: and as b[0]:
  [
    /\bas\s+\w+[.[]/,
    /(\bas[ \t]+\w+)((?:\.\w+|\[[^\]\n]{0,120}\]){1,8})(?=[ \t]*[:,)])/g,
    (_, start, rest) => start + rest!.replace(/\W/g, "_"),
  ],
  // with a as [b, c]:
  [/\bas\s*\[/, /(\bas\s*)\[([^[\]\n]{0,300})\](?=\s*[:,])/g, (_, start, names) => `${start} ${names} `],
  // a[*b], for a in *b, *c:
  [
    /[[,]\s*\*|\bin\s+\*/,
    /((?<=[\w)\]])\[\s*|\bfor\s[^:\n]{0,300}\bin\s+)\*(?!\*)/g,
    (_, start) => `${start} `,
  ],
  [
    /\bin\s+\w[^:\n]{0,300},\s*\*/,
    /(\bfor\s[^:\n]{0,300}\bin\s[^:\n]{0,300},\s*)\*(?=\w)/g,
    (_, start) => `${start} `,
  ],
  // lambda a, /, b: c
  [/\blambda\b[^:\n]{0,300}\//, /(\blambda\b[^:\n]{0,300},\s*)\/(?=\s*[,:])/g, (_, start) => `${start}_`],
  // @a[0].b and @(a := b): any expression may decorate.
  [/^[ \t]*@/m, /^([ \t]*)@(?![ \t]*[\w.]+[ \t]*(?:\(|#|\r?$))/gm, (_, start) => `${start}+`],
  // case A(b=1) | C(): the grammar knows no names and no empty parentheses here.
  [
    /^[ \t]*case\s.*(?:=|\(\s*\))/m,
    /^([ \t]*case\s)((?:(?!\sif\s)[^:\n])*)/gm,
    (_, start, pattern) =>
      start + pattern!.replace(/(\w\s*)=(?!=)/g, "$1,").replace(/(?<=\w)\((\s*)\)/g, "_$1_"),
  ],
  // A byte order mark at the start.
  [/^\ufeff/, /^\ufeff/g, () => "\n"],
  // for a, *b in c
  [
    /\bfor\b[^:\n]{0,300}\*/,
    /(\bfor\s[\w\s,()]{0,300})\*(?=\w+[\w\s,()]*\sin\b)/g,
    (_, start) => `${start} `,
  ],
  // case ast.BinOp():
  [
    /^[ \t]*case\s.*\w\./m,
    /^([ \t]*case\s[^:\n]*)/gm,
    (_, line) => line!.replace(/(\w)\.(?=[A-Za-z_])/g, "$1_"),
  ],
];

function bridged(text: string): string {
  let result = text;
  for (const [hint, pattern, replace] of BRIDGES)
    if (hint.test(result)) result = result.replace(pattern, replace);
  return result;
}
