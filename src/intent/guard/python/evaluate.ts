import { comprehension } from "./binding.js";
import { apply, type PyArguments } from "./calls.js";
import { item, operate, shown, slice } from "./constants.js";
import { BUILTINS, dangerOf, HANDED_ON, INTERPRETER_ATTRIBUTES, isPowerful } from "./dangers.js";
import { dumpsEnvironment, ENVIRON_METHODS, readsVariable } from "./environment.js";
import { FindingCollector } from "./finding-collector.js";
import { parseLiteral, withoutEscapes } from "./literal.js";
import { isWebClient } from "./requests.js";
import { PythonScope } from "./scope.js";
import { isExpression, isOperand, memberParts } from "./syntax.js";
import type { SyntaxNode } from "./tree.js";
import {
  any,
  canonicalName,
  climbs,
  constantOf,
  elements,
  knownText,
  list,
  NONE,
  number,
  options,
  PY_UNKNOWN,
  type PyValue,
  pyBytes,
  pyText,
  ref,
} from "./value.js";

export class TooMuch extends Error {}

/** Enough for a long script, but not for one that makes the guard run its loops. */
const STEPS = 150_000;
/** `"{0.__class__.__init__.__globals__}".format(x)` */
const FORMAT_ATTACK = /\{[^{}]*[.[]__(?:globals|builtins|subclasses|mro|base|bases|init|class|dict)__/;

/** Evaluates expressions as far as their values are known; reports what is dangerous about them. */
export class Evaluator {
  readonly source: string;
  readonly report: FindingCollector;
  /** Values that were assigned to an attribute of that name, on any object. */
  readonly attributes = new Map<string, PyValue[]>();
  /** The arguments that functions of the script were called with. */
  readonly calledWith = new Map<SyntaxNode, PyArguments[]>();
  /** Functions that are being followed right now, and how many were. */
  readonly followed = new Set<SyntaxNode>();
  calls = 0;
  depth = 0;
  readonly #judgeInner: (source: string, report: FindingCollector) => void;
  #steps = 0;

  /** `judge` judges scripts that are text inside this one. */
  constructor(
    source: string,
    report: FindingCollector,
    judge: (source: string, report: FindingCollector) => void,
  ) {
    this.source = source;
    this.report = report;
    this.#judgeInner = judge;
  }

  text(node: SyntaxNode): string {
    return this.source.slice(node.from, node.to);
  }

  /** An identifier as Python reads it: compatibility forms are normalized. */
  name(node: SyntaxNode): string {
    const name = this.text(node);
    return /^[\x20-\x7e]*$/.test(name) ? name : name.normalize("NFKC");
  }

  /** Counts the work that the script causes. */
  charge(steps: number): void {
    this.#steps += steps;
    if (this.#steps > STEPS) throw new TooMuch();
  }

  /** `called`: the value is about to be called, and is judged with its arguments. */
  evaluate(node: SyntaxNode | undefined, scope: PythonScope, called = false): PyValue {
    // Where the text is no Python, any child may be missing.
    if (!node) return PY_UNKNOWN;
    this.charge(1);
    const value = this.#value(node, scope);
    for (const option of options(value)) if (option.t === "ref") this.#judge(option.path, node, called);
    return value;
  }

  /** Visits everything below a node that is no expression itself. */
  all(nodes: readonly SyntaxNode[], scope: PythonScope): PyValue {
    for (const node of nodes) if (node.kids.length > 0 || isOperand(node)) this.evaluate(node, scope);
    return PY_UNKNOWN;
  }

  /** A value that was made from text or imported, not written as a name. */
  judgeBuilt(value: PyValue, node: SyntaxNode): void {
    for (const option of options(value)) if (option.t === "ref") this.#judge(option.path, node, true);
  }

  #judge(path: string, node: SyntaxNode, called: boolean): void {
    const danger = dangerOf(path);
    // A script of its own has the runtime's tools to fetch with; one that runs as a command may do what curl does.
    if (danger && !(this.report.context.within && isWebClient(path)))
      this.report.add(danger.action, danger.rule, `${shortly(path)}: ${danger.reason}`, node);
    const [, module, method] = /^(\w+)\.__dict__(?:\.(\w+))?$/.exec(path) ?? [];
    const taken = method === undefined ? !called : !/^(?:get|pop|__getitem__)$/.test(method);
    if (module !== undefined && taken && isPowerful(module))
      this.report.add(
        "deny",
        "python-dynamic",
        `The part of ${module} that this uses is known only at run time.`,
        node,
      );
    if (!called && HANDED_ON.has(path))
      this.report.add("deny", "python-delete", `${path} is passed on, to be called elsewhere.`, node);
  }

  #value(node: SyntaxNode, scope: PythonScope): PyValue {
    const { type, kids } = node;
    switch (type) {
      case "VariableName":
        return this.lookUp(this.name(node), scope);
      case "String": {
        const { text: v, bytes: raw } = parseLiteral(this.text(node));
        if (FORMAT_ATTACK.test(v))
          this.report.add(
            "deny",
            "python-introspection",
            "This format string reaches into the interpreter.",
            node,
          );
        return raw ? pyBytes(v) : pyText(v);
      }
      case "FormatString":
        return this.#formatted(node, scope);
      case "ContinuedString":
        return kids.map((kid) => this.evaluate(kid, scope)).reduce((a, b) => operate("+", a, b));
      case "Number":
        return numeral(this.text(node));
      case "Boolean":
        return number(this.text(node) === "True" ? 1 : 0);
      case "None":
        return NONE;
      case "ParenthesizedExpression":
        return kids[1] ? this.evaluate(kids[1], scope) : PY_UNKNOWN;
      case "TupleExpression":
      case "ArrayExpression":
      case "SetExpression":
        return this.sequence(kids.slice(1, -1), scope);
      case "DictionaryExpression":
        return this.#dictionary(kids, scope);
      case "ArrayComprehensionExpression":
      case "SetComprehensionExpression":
      case "ComprehensionExpression":
      case "DictionaryComprehensionExpression":
        return comprehension(this, kids.slice(1, -1), scope);
      case "MemberExpression":
        return this.#member(node, scope);
      case "CallExpression":
        return this.#call(node, scope);
      case "BinaryExpression":
        return this.#binary(kids, scope);
      case "UnaryExpression": {
        const value = this.evaluate(kids.at(-1)!, scope);
        return value.t === "number" && this.text(kids[0]!) === "-" ? number(-value.v) : PY_UNKNOWN;
      }
      case "ConditionalExpression": {
        const [yes, , condition, , no] = kids;
        if (condition) this.evaluate(condition, scope);
        return any([yes, no].flatMap((kid) => (kid ? [this.evaluate(kid, scope)] : [])));
      }
      case "NamedExpression": {
        const value = this.evaluate(kids.at(-1)!, scope);
        if (kids[0]?.type === "VariableName") scope.set(this.name(kids[0]), value, true);
        return value;
      }
      case "LambdaExpression":
        return this.#lambda(node, scope);
      case "AwaitExpression":
        return this.evaluate(kids.at(-1)!, scope);
      default:
        return this.all(kids, scope);
    }
  }

  lookUp(name: string, scope: PythonScope): PyValue {
    const known = scope.get(name);
    if (known) return known;
    if (name === "__builtins__") return ref("builtins");
    if (BUILTINS.has(name)) return ref(`builtins.${name}`);
    const stars = scope.imported.filter(isPowerful);
    return stars.length > 0 ? any(stars.map((module) => this.attribute(ref(module), name))) : PY_UNKNOWN;
  }

  #formatted(node: SyntaxNode, scope: PythonScope): PyValue {
    const raw = /^[a-z]*r[a-z]*["']/i.test(this.text(node));
    let result: string | undefined = "";
    const quote = /^[a-zA-Z]*("""|'''|"|')/.exec(this.text(node))!;
    let at = node.from + quote[0].length;
    const piece = (to: number) => {
      const body = this.source.slice(at, to).replaceAll("{{", "{").replaceAll("}}", "}");
      return raw ? body : withoutEscapes(body, false);
    };
    for (const kid of node.kids) {
      if (kid.type !== "FormatReplacement") continue;
      const before = piece(kid.from);
      const inner = kid.kids.find((k) => k.type !== "{");
      const value = inner ? this.evaluate(inner, scope) : PY_UNKNOWN;
      if (options(value).some((option) => option.t === "environ")) dumpsEnvironment(this.report, kid);
      this.all(
        kid.kids.filter((k) => k !== inner),
        scope,
      );
      const known = shown(value);
      result = result === undefined || known === undefined ? undefined : result + before + known;
      at = kid.to;
    }
    return result === undefined
      ? PY_UNKNOWN
      : pyText(result + piece(Math.max(at, node.to - quote[1]!.length)));
  }

  /** Elements between commas; `*x` is spread where it is known. */
  sequence(kids: readonly SyntaxNode[], scope: PythonScope): PyValue {
    const items: PyValue[] = [];
    let spread = false;
    for (const kid of kids) {
      if (kid.type === ",") continue;
      if (kid.type === "*") {
        spread = true;
        continue;
      }
      const value = this.evaluate(kid, scope);
      const inner = spread ? elements(value) : [value];
      spread = false;
      items.push(...(inner ?? [PY_UNKNOWN]).slice(0, 4096));
    }
    return list(items);
  }

  #dictionary(kids: readonly SyntaxNode[], scope: PythonScope): PyValue {
    const entries = new Map<string, PyValue>();
    let environ = false;
    for (let i = 1; i < kids.length - 1; i++) {
      const kid = kids[i]!;
      if (kid.type === ",") continue;
      if (kid.type === "**") {
        const inner = this.evaluate(kids[++i]!, scope);
        if (inner.t === "dict") for (const [key, value] of inner.entries) entries.set(key, value);
        environ ||= inner.t === "environ";
        continue;
      }
      const key = this.evaluate(kid, scope);
      if (kids[i + 1]?.type !== ":" || !kids[i + 2]) continue;
      const value = this.evaluate(kids[i + 2]!, scope);
      i += 2;
      entries.set(key.t === "number" ? String(key.v) : (knownText(key) ?? `\0${i}`), value);
    }
    return environ ? { t: "environ" } : { t: "dict", entries };
  }

  #binary(kids: readonly SyntaxNode[], scope: PythonScope): PyValue {
    const values = kids.filter(isExpression).map((kid) => this.evaluate(kid, scope));
    const operator = kids.find((kid) => !isExpression(kid));
    if (values.length !== 2 || !operator) return PY_UNKNOWN;
    const word = this.text(operator);
    if (word === "and" || word === "or") return any(values);
    return this.operated(word, values[0]!, values[1]!);
  }

  operated(operator: string, a: PyValue, b: PyValue): PyValue {
    const [left, right] = [options(a), options(b)];
    if (left.length * right.length > 16) return PY_UNKNOWN;
    return any(left.flatMap((x) => right.map((y) => operate(operator, x, y))));
  }

  #lambda(node: SyntaxNode, scope: PythonScope): PyValue {
    const parameters = node.kids.find(({ type }) => type === "ParamList");
    const body = node.kids.at(-1)!;
    const inner = new PythonScope(scope);
    for (const { name, fallback } of this.parameters(parameters, scope)) inner.set(name, fallback, false);
    if (body !== parameters) this.evaluate(body, inner);
    return { t: "function", node, scope };
  }

  /** Names of parameters in order, with their defaults. */
  parameters(
    list: SyntaxNode | undefined,
    scope: PythonScope,
  ): { name: string; fallback: PyValue; star: string }[] {
    const found: { name: string; fallback: PyValue; star: string }[] = [];
    let star = "";
    const kids = list?.kids ?? [];
    for (let i = 0; i < kids.length; i++) {
      const kid = kids[i]!;
      if (kid.type === "*" || kid.type === "**") star = kid.type;
      else if (kid.type === "VariableName") {
        found.push({ name: this.name(kid), fallback: PY_UNKNOWN, star });
        star = "";
      } else if (kid.type === "TypeDef") this.all(kid.kids, scope);
      else if (kid.type === "AssignOp" && kids[i + 1] && found.length > 0) {
        const fallback = any([this.evaluate(kids[++i]!, scope), PY_UNKNOWN]);
        found[found.length - 1] = { ...found.at(-1)!, fallback };
      }
    }
    return found;
  }

  #member(node: SyntaxNode, scope: PythonScope): PyValue {
    const { base, name, index } = memberParts(node);
    if (!base) return this.all(node.kids, scope);
    const of = this.evaluate(base, scope, true);
    if (name) return any(options(of).map((option) => this.attribute(option, this.name(name), node)));
    return any(options(of).map((option) => this.#subscript(option, index, node, scope)));
  }

  /** An attribute apart from its object, as in a decorator. */
  member(of: PyValue, name: SyntaxNode): PyValue {
    const value = any(options(of).map((option) => this.attribute(option, this.name(name), name)));
    this.judgeBuilt(value, name);
    return value;
  }

  /** Judges code in a string like the script around it. */
  script(source: string, at: SyntaxNode): void {
    if (this.depth > 6)
      this.report.add("deny", "python-too-complex", "This nests code within code too deep to be judged.", at);
    const inner = new FindingCollector(this.report.context, at);
    this.#judgeInner(source, inner);
    this.report.absorb(inner);
  }

  #subscript(of: PyValue, index: readonly SyntaxNode[], node: SyntaxNode, scope: PythonScope): PyValue {
    if (index.some(({ type }) => type === ":")) return this.#slice(of, index, scope);
    const key = index.filter(isExpression).map((kid) => this.evaluate(kid, scope))[0] ?? PY_UNKNOWN;
    if (of.t === "environ") {
      readsVariable(this.report, key, node);
      return PY_UNKNOWN;
    }
    return any(options(key).map((option) => this.itemOf(of, option, node, scope)));
  }

  /** `x[key]`, also where x is the dictionary of a module or of all names. */
  itemOf(of: PyValue, key: PyValue, node: SyntaxNode, scope?: PythonScope): PyValue {
    const name = knownText(key);
    if (of.t === "ref" && name !== undefined) {
      if (of.path === "sys.modules") return ref(name);
      if (of.path === "builtins") return this.attribute(of, name, node);
      if (of.path.endsWith(".__dict__")) return this.attribute(ref(of.path.slice(0, -9)), name, node);
    }
    if (of.t === "result" && /^builtins\.(?:globals|locals|vars)$/.test(of.of) && name !== undefined) {
      const [subject] = of.args;
      if (subject) return this.attribute(subject, name, node);
      return scope ? this.lookUp(name, scope.module) : PY_UNKNOWN;
    }
    if (of.t === "ref" && name === undefined && (of.path === "builtins" || of.path.endsWith(".__dict__")))
      this.report.add(
        "deny",
        "python-dynamic",
        `The part of ${of.path} that this uses is known only at run time.`,
        node,
      );
    // An element of `__bases__` or `__mro__` still leads up to `object`.
    return climbs(of) ? of : item(of, key);
  }

  #slice(of: PyValue, index: readonly SyntaxNode[], scope: PythonScope): PyValue {
    const parts: (PyValue | undefined)[] = [undefined];
    for (const kid of index) {
      if (kid.type === ":") parts.push(undefined);
      else if (isExpression(kid)) parts[parts.length - 1] = this.evaluate(kid, scope);
    }
    if (parts.some((part) => part !== undefined && part.t !== "number")) return PY_UNKNOWN;
    const [start, stop, step] = parts.map((part) => (part as { v: number } | undefined)?.v);
    return slice(of, start, stop, step);
  }

  attribute(of: PyValue, name: string, node?: SyntaxNode): PyValue {
    if (node) this.#judgeAttribute(of, name, node);
    if (of.t === "ref") {
      if (name === "__self__" && of.path.startsWith("builtins.")) return ref("builtins");
      const path = canonicalName(`${of.path}.${name}`);
      return constantOf(path) ?? { t: "ref", path };
    }
    if (of.t === "environ" && node && !ENVIRON_METHODS.has(name)) dumpsEnvironment(this.report, node);
    if (of.t === "temporary") return name === "name" || name === "parent" ? of : { t: "member", of, name };
    if (of.t === "path" && name === "parent") return { t: "path", v: `${of.v}/..` };
    const given = this.attributes.get(name);
    if (given && (of.t === "unknown" || of.t === "function" || of.t === "result" || of.t === "member"))
      return any([...given, { t: "member", of, name }]);
    return { t: "member", of, name };
  }

  #judgeAttribute(of: PyValue, name: string, node: SyntaxNode): void {
    const action = Object.hasOwn(INTERPRETER_ATTRIBUTES, name) ? INTERPRETER_ATTRIBUTES[name] : undefined;
    if (action)
      this.report.add(action, "python-introspection", `${name} leads into the interpreter itself.`, node);
    if (name === "__subclasses__" && climbs(of))
      this.report.add(
        "deny",
        "python-introspection",
        "This searches all classes of the interpreter for one that runs programs.",
        node,
      );
  }

  #call(node: SyntaxNode, scope: PythonScope): PyValue {
    const [calleeNode, list] = [node.kids[0]!, node.kids.at(-1)!];
    const callee = this.evaluate(calleeNode, scope, true);
    const args = this.arguments(list, scope);
    return any(options(callee).map((option) => apply(this, option, args, node, scope)));
  }

  arguments(listNode: SyntaxNode, scope: PythonScope): PyArguments {
    const kids = listNode.kids.slice(1, -1);
    const args: PyArguments = { positional: [], keywords: new Map(), open: false };
    if (kids.some(({ type }) => type === "for"))
      return { ...args, positional: [comprehension(this, kids, scope)] };
    for (let i = 0; i < kids.length; i++) {
      const kid = kids[i]!;
      if (kid.type === ",") continue;
      if (kid.type === "*" || kid.type === "**")
        this.#spread(args, kid.type, this.evaluate(kids[++i]!, scope));
      else if (
        kid.type === "VariableName" &&
        kids[i + 1]?.type === "AssignOp" &&
        this.text(kids[i + 1]!) === "="
      ) {
        args.keywords.set(this.name(kid), kids[i + 2] ? this.evaluate(kids[i + 2]!, scope) : PY_UNKNOWN);
        i += 2;
      } else args.positional.push(this.evaluate(kid, scope));
    }
    return args;
  }

  #spread(args: PyArguments, star: string, value: PyValue): void {
    if (star === "*") {
      const items = elements(value);
      if (items) args.positional.push(...items.slice(0, 1000));
      else args.open = true;
    } else if (value.t === "dict") for (const [key, inner] of value.entries) args.keywords.set(key, inner);
    else if (value.t === "environ") args.positional.push(value);
    else args.open = true;
  }
}

function numeral(source: string): PyValue {
  const plain = source.replaceAll("_", "").toLowerCase();
  const value = Number(plain.replace(/[jl]$/, ""));
  return Number.isFinite(value) ? number(value) : PY_UNKNOWN;
}

/** Without the prefix of the builtins module. */
function shortly(path: string): string {
  return path.replace(/^builtins\./, "");
}
