import type { SyntaxNode } from "./tree.js";

/** The parts of `x.name` and `x[index]`. */
export function memberParts(node: SyntaxNode): {
  base: SyntaxNode | undefined;
  name: SyntaxNode | undefined;
  index: readonly SyntaxNode[];
} {
  const [base] = node.kids;
  const name = node.kids.find(({ type }) => type === "PropertyName");
  const open = node.kids.findIndex(({ type }) => type === "[");
  return { base, name, index: open < 0 ? [] : node.kids.slice(open + 1, -1) };
}

const SYMBOLS = /^[^A-Za-z]/;
const KEYWORDS = new Set([
  "for",
  "in",
  "if",
  "else",
  "async",
  "await",
  "and",
  "or",
  "not",
  "is",
  "lambda",
  "as",
  "from",
  "yield",
  "print",
  "import",
]);
const OPERATORS = new Set([
  "ArithOp",
  "BitOp",
  "CompareOp",
  "AssignOp",
  "UpdateOp",
  "FormatConversion",
  "PropertyName",
]);

export function isExpression({ type }: SyntaxNode): boolean {
  return !SYMBOLS.test(type) && !KEYWORDS.has(type) && !OPERATORS.has(type);
}

export function isOperand(node: SyntaxNode): boolean {
  return node.type === "VariableName" || node.type === "String" || node.type === "FormatString";
}
