import type { Assignment, Redirection } from "unbash";
import { type Expander, expandParts, expandText, expandWord } from "./expand.js";
import { type Assigned, HOLE, type Input, type Redirected, word } from "./script.js";

const OPERATORS: Readonly<Record<string, Redirected["operator"]>> = {
  ">": ">",
  ">>": ">>",
  ">|": ">",
  "&>": ">",
  "&>>": ">>",
  ">&": ">",
  "<": "<",
  "<&": "<",
  "<>": "<>",
};

/** The files that a command is redirected to, and what is put on its stdin. */
export function readRedirects(
  nodes: readonly Redirection[],
  shell: Expander,
): { redirects: Redirected[]; here: Input | undefined } {
  const redirects: Redirected[] = [];
  let here: Input | undefined;
  for (const node of nodes) {
    if (node.type === "HereDoc") {
      const span = shell.locate(node.body.pos, node.body.end);
      const body = node.body.parts ? expandParts(node.body.parts, span, shell) : word(node.body.text, span);
      here = { text: body.text, from: body.from, kind: "here", variables: body.variables };
    } else if (node.type === "HereString") {
      const body = node.target ? expandText(node.target, shell) : word("", shell.locate(node.pos, node.end));
      here = { text: `${body.text}\n`, from: body.from, kind: "here", variables: body.variables };
    } else if (node.target) {
      const target = expandText(node.target, shell);
      const operator = OPERATORS[node.operator];
      if (!operator || (node.operator.endsWith("&") && /^(\d+-?|-)$/.test(target.text))) continue;
      redirects.push({ operator, target });
      const kind = target.from.length > 0 ? "pipe" : "file";
      if (operator === "<") here = { text: HOLE, from: target.from, kind, variables: [] };
    }
  }
  return { redirects, here };
}

/** The value that a variable is set to. */
export function readAssignment(
  { name, value, append, index, pos, end }: Assignment,
  shell: Expander,
): Assigned {
  const old = append ? (shell.scope.get(name) ?? [HOLE]) : undefined;
  if (value.type === "ArrayValue") {
    const elements = value.elements.flatMap((one) => expandWord(one, shell)).map(({ text }) => text);
    const values = [...(old ?? []), ...elements];
    return { name, value: word(values.join(" "), shell.locate(pos, end)), values };
  }
  const text = expandText(value, shell);
  const whole = old ? { ...text, text: old.join(" ") + text.text } : text;
  const assigned = index ? { ...whole, text: HOLE } : whole;
  return { name, value: assigned, values: [assigned.text] };
}
