import { bindTargets, iterate } from "./binding.js";
import { bindArguments } from "./calls.js";
import type { Evaluator } from "./evaluate.js";
import { PythonScope } from "./scope.js";
import { isExpression } from "./syntax.js";
import type { SyntaxNode } from "./tree.js";
import { any, elements, list, options, PY_UNKNOWN, type PyValue, ref } from "./value.js";

/** Visits the statements of a script in order; bodies of functions come last, when all names are known. */
export class Statements {
  readonly #machine: Evaluator;
  readonly #later: (() => void)[] = [];
  /** How many loops surround the statement. */
  #loops = 0;

  constructor(machine: Evaluator) {
    this.#machine = machine;
  }

  run(root: SyntaxNode, scope: PythonScope): void {
    this.#block(root.kids, scope, false);
    for (let body = this.#later.shift(); body; body = this.#later.shift()) body();
  }

  #block(nodes: readonly SyntaxNode[], scope: PythonScope, maybe: boolean): void {
    for (const node of nodes) this.#statement(node, scope, maybe);
  }

  #statement(node: SyntaxNode, scope: PythonScope, maybe: boolean): void {
    const machine = this.#machine;
    const { type, kids } = node;
    switch (type) {
      case "ImportStatement":
        this.#import(node, scope, maybe);
        return;
      case "AssignStatement":
        this.#assign(kids, scope, maybe);
        return;
      case "UpdateStatement":
        this.#update(node, scope);
        return;
      case "FunctionDefinition":
        this.#function(node, scope, maybe);
        return;
      case "ClassDefinition":
        this.#class(node, scope, maybe);
        return;
      case "DecoratedStatement":
        for (const kid of kids) this.#statement(kid, scope, maybe);
        return;
      case "Decorator":
        this.#decorator(kids, scope);
        return;
      case "ForStatement":
        this.#for(kids, scope);
        return;
      case "WithStatement":
        this.#with(kids, scope, maybe);
        return;
      case "ScopeStatement":
        for (const kid of kids) if (kid.type === "VariableName") scope.globals.add(machine.name(kid));
        return;
      case "WhileStatement":
        this.#loop(kids, scope);
        return;
      case "IfStatement":
      case "TryStatement":
      case "MatchStatement":
      case "MatchBody":
      case "MatchClause":
        this.#branches(kids, scope);
        return;
      case "Body":
      case "StatementGroup":
        this.#block(kids, scope, maybe);
        return;
      case "ReturnStatement":
      case "YieldStatement":
        for (const kid of kids) if (isExpression(kid)) machine.evaluate(kid, scope);
        return;
      default:
        for (const kid of kids) if (isExpression(kid)) machine.evaluate(kid, scope);
    }
  }

  #loop(kids: readonly SyntaxNode[], scope: PythonScope): void {
    this.#loops++;
    this.#branches(kids, scope);
    this.#loops--;
  }

  #branches(kids: readonly SyntaxNode[], scope: PythonScope): void {
    for (const kid of kids) {
      if (kid.type === "Body" || kid.type.startsWith("Match")) this.#statement(kid, scope, true);
      else if (isExpression(kid)) this.#machine.evaluate(kid, scope);
    }
  }

  /** `import a.b as c, d`, `from a import (b as c, d)`, `from a import *`. */
  #import(node: SyntaxNode, scope: PythonScope, maybe: boolean): void {
    const machine = this.#machine;
    const words = node.kids.filter(({ type }) => type !== "(" && type !== ")");
    const from = words[0]?.type === "from";
    const start = from ? words.findIndex(({ type }) => type === "import") : 0;
    const module = from
      ? words
          .slice(1, start)
          .map((kid) => machine.name(kid))
          .join("")
      : "";
    for (const group of separated(words.slice(start + 1))) {
      const as = group.findIndex(({ type }) => type === "as");
      const path = (as < 0 ? group : group.slice(0, as)).map((kid) => machine.name(kid)).join("");
      const alias = as < 0 ? undefined : group[as + 1];
      if (from && path === "*") {
        scope.stars.push(module);
        machine.judgeBuilt(ref(module), node);
        continue;
      }
      const whole = from ? `${module}.${path}` : path;
      if (whole.startsWith(".")) {
        scope.set(alias ? machine.name(alias) : path, PY_UNKNOWN, maybe);
        continue;
      }
      const value = from ? machine.attribute(ref(module), path) : ref(whole);
      machine.judgeBuilt(value, node);
      if (alias) scope.set(machine.name(alias), value, maybe);
      else if (from) scope.set(path, value, maybe);
      else scope.set(path.split(".")[0]!, ref(path.split(".")[0]!), maybe);
    }
  }

  /** `a = b, c = value`, with annotations. */
  #assign(kids: readonly SyntaxNode[], scope: PythonScope, maybe: boolean): void {
    const machine = this.#machine;
    const groups: SyntaxNode[][] = [[]];
    for (const kid of kids) {
      if (kid.type === "AssignOp") groups.push([]);
      else if (kid.type === "TypeDef") machine.all(kid.kids, scope);
      else groups.at(-1)!.push(kid);
    }
    const last = groups.pop()!;
    if (groups.length === 0) return;
    const value = last.some(({ type }) => type === ",")
      ? machine.sequence(last, scope)
      : this.#single(last, scope);
    for (const targets of groups)
      bindTargets(machine, targets, this.#inLoop(value, targets, last), scope, maybe);
  }

  /** After one pass, a value that a loop changes step by step is unknown. */
  #inLoop(value: PyValue, targets: readonly SyntaxNode[], source: readonly SyntaxNode[]): PyValue {
    if (this.#loops === 0) return value;
    const names = new Set(
      targets.filter(({ type }) => type === "VariableName").map((node) => this.#machine.name(node)),
    );
    const uses = (node: SyntaxNode): boolean =>
      (node.type === "VariableName" && names.has(this.#machine.name(node))) || node.kids.some(uses);
    return source.some(uses) ? any([value, PY_UNKNOWN]) : value;
  }

  #single(nodes: readonly SyntaxNode[], scope: PythonScope): PyValue {
    const values = nodes.filter(isExpression).map((node) => this.#machine.evaluate(node, scope));
    return values.length === 1 ? values[0]! : list(values);
  }

  #update(node: SyntaxNode, scope: PythonScope): void {
    const machine = this.#machine;
    const [target, operator, ...rest] = node.kids;
    const value = this.#single(rest, scope);
    if (target?.type !== "VariableName" || !operator) {
      if (target) bindTargets(machine, [target], PY_UNKNOWN, scope, true);
      return;
    }
    const before = machine.lookUp(machine.name(target), scope);
    const word = machine.text(operator).slice(0, -1);
    const result = machine.operated(word, before, value);
    scope.set(machine.name(target), this.#loops > 0 ? any([result, PY_UNKNOWN]) : result, false);
  }

  #function(node: SyntaxNode, scope: PythonScope, maybe: boolean): void {
    const machine = this.#machine;
    const name = node.kids.find(({ type }) => type === "VariableName");
    const parameters = node.kids.find(({ type }) => type === "ParamList");
    machine.parameters(parameters, scope);
    for (const kid of node.kids) if (kid.type === "TypeDef") machine.all(kid.kids, scope);
    if (name) scope.set(machine.name(name), { t: "function", node, scope }, maybe);
    const body = node.kids.find(({ type }) => type === "Body");
    if (!body) return;
    this.#later.push(() => {
      const inner = new PythonScope(scope);
      bindArguments(machine, node, inner, machine.calledWith.get(node) ?? []);
      this.#statement(body, inner, false);
    });
  }

  /** A class body runs at once; its names become attributes. */
  #class(node: SyntaxNode, scope: PythonScope, maybe: boolean): void {
    const machine = this.#machine;
    const inner = new PythonScope(scope);
    const name = node.kids.find(({ type }) => type === "VariableName");
    for (const kid of node.kids) {
      if (kid.type === "ArgList") machine.arguments(kid, scope);
      if (kid.type === "Body") this.#statement(kid, inner, false);
    }
    for (const [attribute, value] of inner.own)
      machine.attributes.set(attribute, [...(machine.attributes.get(attribute) ?? []), value].slice(0, 12));
    if (name) scope.set(machine.name(name), PY_UNKNOWN, maybe);
  }

  #decorator(kids: readonly SyntaxNode[], scope: PythonScope): void {
    const machine = this.#machine;
    let value: PyValue = PY_UNKNOWN;
    for (const kid of kids) {
      if (kid.type === "VariableName") value = machine.evaluate(kid, scope);
      else if (kid.type === "PropertyName") value = machine.member(value, kid);
      else if (kid.type === "ArgList") machine.arguments(kid, scope);
      else if (isExpression(kid)) value = machine.evaluate(kid, scope);
    }
  }

  #for(kids: readonly SyntaxNode[], scope: PythonScope): void {
    const into = kids.findIndex(({ type }) => type === "in");
    const body = kids.findIndex(({ type }) => type === "Body");
    const start = kids.findIndex(({ type }) => type === "for");
    const sources = kids.slice(into + 1, body).filter(isExpression);
    const values = sources.map((node) => iterate(this.#machine, node, scope));
    const items =
      values.length === 1
        ? options(values[0]!).flatMap(
            (value) => elements(value) ?? [value.t === "result" ? value : PY_UNKNOWN],
          )
        : values;
    bindTargets(
      this.#machine,
      kids.slice(start + 1, into),
      items.length > 0 ? any(items.slice(0, 64)) : PY_UNKNOWN,
      scope,
      true,
    );
    this.#loop(kids.slice(body), scope);
  }

  #with(kids: readonly SyntaxNode[], scope: PythonScope, maybe: boolean): void {
    let value: PyValue = PY_UNKNOWN;
    for (const [i, kid] of kids.entries()) {
      if (kid.type === "Body") this.#statement(kid, scope, maybe);
      else if (kids[i - 1]?.type === "as") bindTargets(this.#machine, [kid], value, scope, maybe);
      else if (isExpression(kid)) value = this.#machine.evaluate(kid, scope);
    }
  }
}

function separated(nodes: readonly SyntaxNode[]): SyntaxNode[][] {
  const groups: SyntaxNode[][] = [[]];
  for (const node of nodes) {
    if (node.type === ",") groups.push([]);
    else groups.at(-1)!.push(node);
  }
  return groups.filter((group) => group.length > 0);
}
