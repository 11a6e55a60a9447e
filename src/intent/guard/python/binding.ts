import { dumpsEnvironment, setsVariable } from "./environment.js";
import type { Evaluator } from "./evaluate.js";
import { PythonScope } from "./scope.js";
import { isExpression, memberParts } from "./syntax.js";
import type { SyntaxNode } from "./tree.js";
import { any, elements, knownText, list, options, PY_UNKNOWN, type PyValue } from "./value.js";

const LONGEST_LOOP = 1024;

/** `element for target in iterable if condition`: evaluated where the elements are known, else visited once. */
export function comprehension(machine: Evaluator, kids: readonly SyntaxNode[], scope: PythonScope): PyValue {
  const inner = new PythonScope(scope);
  const first = kids.findIndex((kid) => kid.type === "for");
  const into = kids.findIndex((kid, i) => i > first && kid.type === "in");
  const source = kids[into + 1];
  if (first < 0 || into < 0 || !source) return machine.all(kids, scope);
  const iterable = iterate(machine, source, inner);
  const rest = kids.slice(into + 2);
  const body = kids.slice(0, first).filter(({ type }) => type !== "async");
  const targets = kids.slice(first + 1, into);
  const known = elements(iterable);
  const plain = rest.length === 0 && body.length === 1;
  if (!known || !plain || known.length > LONGEST_LOOP) {
    bindTargets(machine, targets, known ? any(known) : PY_UNKNOWN, inner, true);
    clauses(machine, rest, inner);
    for (const node of body) if (isExpression(node)) machine.evaluate(node, inner);
    return known && known.length === 0 ? list([]) : PY_UNKNOWN;
  }
  return list(
    known.map((value) => {
      bindTargets(machine, targets, value, inner, false);
      return machine.evaluate(body[0]!, inner);
    }),
  );
}

function clauses(machine: Evaluator, rest: readonly SyntaxNode[], scope: PythonScope): void {
  for (let i = 0; i < rest.length; i++) {
    if (rest[i]!.type !== "for") {
      if (isExpression(rest[i]!)) machine.evaluate(rest[i]!, scope);
      continue;
    }
    const into = rest.findIndex((kid, j) => j > i && kid.type === "in");
    if (into < 0 || !rest[into + 1]) return;
    const known = elements(iterate(machine, rest[into + 1]!, scope));
    bindTargets(machine, rest.slice(i + 1, into), known ? any(known) : PY_UNKNOWN, scope, true);
    i = into + 1;
  }
}

/** The elements of a loop. */
export function iterate(machine: Evaluator, node: SyntaxNode, scope: PythonScope): PyValue {
  const value = machine.evaluate(node, scope);
  if (options(value).some((option) => option.t === "environ")) dumpsEnvironment(machine.report, node);
  return value;
}

/** Assigns values to targets (`a`, `a, b`, `x.y`, `d[k]`). */
export function bindTargets(
  machine: Evaluator,
  targets: readonly SyntaxNode[],
  value: PyValue,
  scope: PythonScope,
  maybe: boolean,
): void {
  const named = targets.filter(
    ({ type }) =>
      type !== "," && type !== "*" && type !== "(" && type !== ")" && type !== "[" && type !== "]",
  );
  if (named.length === 1 && !targets.some(({ type }) => type === ","))
    bindOne(machine, named[0]!, value, scope, maybe);
  else
    for (const [i, target] of named.entries()) {
      const part = options(value).map((option) => elements(option)?.[i] ?? PY_UNKNOWN);
      bindOne(machine, target, any(part), scope, maybe);
    }
}

function bindOne(
  machine: Evaluator,
  target: SyntaxNode,
  value: PyValue,
  scope: PythonScope,
  maybe: boolean,
): void {
  switch (target.type) {
    case "VariableName":
      scope.set(machine.name(target), value, maybe);
      return;
    case "TupleExpression":
    case "ArrayExpression":
    case "ParenthesizedExpression":
      bindTargets(machine, target.kids, value, scope, maybe);
      return;
    case "MemberExpression":
      bindMember(machine, target, value, scope);
      return;
    default:
      machine.all(target.kids, scope);
  }
}

function bindMember(machine: Evaluator, target: SyntaxNode, value: PyValue, scope: PythonScope): void {
  const { base, name, index } = memberParts(target);
  const of = base ? machine.evaluate(base, scope) : PY_UNKNOWN;
  if (name) {
    const values = machine.attributes.get(machine.name(name)) ?? [];
    if (values.length < 12) machine.attributes.set(machine.name(name), [...values, value]);
    if (of.t === "ref" && of.path === "builtins")
      machine.report.add(
        "ask",
        "python-import",
        `This replaces ${of.path}.${machine.name(name)} for all code that runs later.`,
        target,
      );
    return;
  }
  const keys = index.filter(isExpression).map((node) => machine.evaluate(node, scope));
  if (of.t === "environ" && keys[0]) setsVariable(machine.report, keys[0], value, target);
  if (of.t === "dict" && base?.type === "VariableName" && keys[0]) {
    const key = knownText(keys[0]);
    if (key !== undefined)
      scope.set(machine.name(base), { t: "dict", entries: new Map([...of.entries, [key, value]]) }, true);
  }
  // A part of it changed, so its value is unknown now.
  if ((of.t === "list" || of.t === "bytes") && base?.type === "VariableName")
    scope.set(machine.name(base), PY_UNKNOWN, false);
}
