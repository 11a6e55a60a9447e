import { forEachChild, type Script, type SyntaxNode } from "unbash";

/** Nodes that run something. All others only lead to them. */
const RUNS = new Set<SyntaxNode["type"]>([
  "Script",
  "Command",
  "Pipeline",
  "AndOr",
  "Redirected",
  "If",
  "For",
  "ArithmeticFor",
  "Select",
  "While",
  "Subshell",
  "BraceGroup",
  "Case",
  "TestCommand",
  "ArithmeticCommand",
  "Function",
  "Coproc",
]);

/** A text without any of these has no commands beyond those that the reader walks anyway. */
const NESTS = /[`(${]|\bdo\b|\bfunction\b/;

/** The parser ends a substitution too early where a slash in it looks like the end of a pattern. */
export const isCutOff = (node: SyntaxNode): boolean =>
  node.type === "CommandExpansion" && !/^\$\(.*\)$|^`(?:.*[^\\])?`$|^\$\{.*\}$/s.test(node.text);

/**
 * The outermost commands of a script that the reader has not read. It follows the grammar that it understands;
 * commands elsewhere (in a subscript, a pattern, the offset of a slice) are found here.
 */
export function unreadParts(script: Script, source: string, isRead: (node: object) => boolean): SyntaxNode[] {
  if (!NESTS.test(source)) return [];
  const left: SyntaxNode[] = [];
  const look = (node: SyntaxNode) => {
    if ((RUNS.has(node.type) || isCutOff(node)) && !isRead(node)) left.push(node);
    else forEachChild(node, look);
  };
  look(script);
  return left;
}
