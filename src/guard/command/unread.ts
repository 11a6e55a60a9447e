import { forEachChild, type Script, type SyntaxNode } from "unbash";

/** Nodes that run something. Everything else only leads to them. */
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

/** A text without any of these holds no commands but those that the reader walks through anyway. */
const NESTS = /[`(${]|\bdo\b|\bfunction\b/;

/** The parser ends a substitution too early where a slash in it looks like the end of a pattern. */
export const isCutOff = (node: SyntaxNode): boolean =>
  node.type === "CommandExpansion" && !/^\$\(.*\)$|^`(?:.*[^\\])?`$|^\$\{.*\}$/s.test(node.text);

/**
 * The outermost parts of a script that run something and that nobody has read. The reader follows what it understands;
 * whatever the grammar allows beside that (a subscript, a pattern, the offset of a slice) is found here.
 */
export function unread(script: Script, source: string, isRead: (node: object) => boolean): SyntaxNode[] {
  if (!NESTS.test(source)) return [];
  const left: SyntaxNode[] = [];
  const look = (node: SyntaxNode) => {
    if ((RUNS.has(node.type) || isCutOff(node)) && !isRead(node)) left.push(node);
    else forEachChild(node, look);
  };
  look(script);
  return left;
}
