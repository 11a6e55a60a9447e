import { comprehension } from "./binding.js";
import { type Arguments, apply } from "./calls.js";
import { item, operate, shown, slice } from "./constants.js";
import { BUILTINS, dangerOf, HANDED_ON, INTERPRETER_ATTRIBUTES, isPowerful } from "./dangers.js";
import { dumpsEnvironment, ENVIRON_METHODS, readsVariable } from "./environment.js";
import { literal, withoutEscapes } from "./literal.js";
import { Report } from "./report.js";
import { isWebClient } from "./requests.js";
import { Scope } from "./scope.js";
import { isExpression, isOperand, memberParts } from "./syntax.js";
import type { Node } from "./tree.js";
import {
  any,
  bytes,
  canonical,
  climbs,
  constantOf,
  elements,
  list,
  NONE,
  number,
  options,
  ref,
  text,
  textOf,
  UNKNOWN,
  type Value,
} from "./value.js";

export class TooMuch extends Error {}

/** Enough for a long script, not for one that makes us run its loops. */
const STEPS = 150_000;
/** `"{0.__class__.__init__.__globals__}".format(x)` */
const FORMAT_ATTACK = /\{[^{}]*[.[]__(?:globals|builtins|subclasses|mro|base|bases|init|class|dict)__/;

/** Values of expressions, as far as they can be known; what is dangerous about them goes to the report. */
export class Evaluator {
  readonly source: string;
  readonly report: Report;
  /** Values that were given to an attribute of that name, of whatever object. */
  readonly attributes = new Map<string, Value[]>();
  /** What functions of the script were called with. */
  readonly calledWith = new Map<Node, Arguments[]>();
  /** Functions that are being followed right now, and how many were. */
  readonly followed = new Set<Node>();
  calls = 0;
  depth = 0;
  readonly #judgeInner: (source: string, report: Report) => void;
  #steps = 0;

  /** `judge` takes scripts that stand as text inside this one. */
  constructor(source: string, report: Report, judge: (source: string, report: Report) => void) {
    this.source = source;
    this.report = report;
    this.#judgeInner = judge;
  }

  text(node: Node): string {
    return this.source.slice(node.from, node.to);
  }

  /** An identifier as Python reads it: compatibility forms are the letters they look like. */
  name(node: Node): string {
    const name = this.text(node);
    return /^[\x20-\x7e]*$/.test(name) ? name : name.normalize("NFKC");
  }

  /** Work that the script makes us do. */
  charge(steps: number): void {
    this.#steps += steps;
    if (this.#steps > STEPS) throw new TooMuch();
  }

  /** `called`: the value is about to be called, which is judged with its arguments. */
  evaluate(node: Node | undefined, scope: Scope, called = false): Value {
    // In a script that is no Python, anything can be missing.
    if (!node) return UNKNOWN;
    this.charge(1);
    const value = this.#value(node, scope);
    for (const option of options(value)) if (option.t === "ref") this.#judge(option.path, node, called);
    return value;
  }

  /** Everything below a node that is no expression of its own. */
  all(nodes: readonly Node[], scope: Scope): Value {
    for (const node of nodes) if (node.kids.length > 0 || isOperand(node)) this.evaluate(node, scope);
    return UNKNOWN;
  }

  /** A value that was not written down as a name, but made from text or imported. */
  judgeBuilt(value: Value, node: Node): void {
    for (const option of options(value)) if (option.t === "ref") this.#judge(option.path, node, true);
  }

  #judge(path: string, node: Node, called: boolean): void {
    const danger = dangerOf(path);
    // A script of its own has the runtime's tools to fetch with; one that runs as a command does what curl does.
    if (danger && !(this.report.context.within && isWebClient(path)))
      this.report.add(danger.action, danger.rule, `${shortly(path)}: ${danger.reason}`, node);
    const [, module, method] = /^(\w+)\.__dict__(?:\.(\w+))?$/.exec(path) ?? [];
    const taken = method === undefined ? !called : !/^(?:get|pop|__getitem__)$/.test(method);
    if (module !== undefined && taken && isPowerful(module))
      this.report.add("deny", "python-dynamic", `Which part of ${module} it uses cannot be known.`, node);
    if (!called && HANDED_ON.has(path))
      this.report.add("deny", "python-delete", `${path} is handed on to be called elsewhere.`, node);
  }

  #value(node: Node, scope: Scope): Value {
    const { type, kids } = node;
    switch (type) {
      case "VariableName":
        return this.lookUp(this.name(node), scope);
      case "String": {
        const { text: v, bytes: raw } = literal(this.text(node));
        if (FORMAT_ATTACK.test(v))
          this.report.add(
            "deny",
            "python-introspection",
            "As a format, this text reaches into the interpreter.",
            node,
          );
        return raw ? bytes(v) : text(v);
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
        return kids[1] ? this.evaluate(kids[1], scope) : UNKNOWN;
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
        return value.t === "number" && this.text(kids[0]!) === "-" ? number(-value.v) : UNKNOWN;
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

  lookUp(name: string, scope: Scope): Value {
    const known = scope.get(name);
    if (known) return known;
    if (name === "__builtins__") return ref("builtins");
    if (BUILTINS.has(name)) return ref(`builtins.${name}`);
    const stars = scope.imported.filter(isPowerful);
    return stars.length > 0 ? any(stars.map((module) => this.attribute(ref(module), name))) : UNKNOWN;
  }

  #formatted(node: Node, scope: Scope): Value {
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
      const value = inner ? this.evaluate(inner, scope) : UNKNOWN;
      if (options(value).some((option) => option.t === "environ")) dumpsEnvironment(this.report, kid);
      this.all(
        kid.kids.filter((k) => k !== inner),
        scope,
      );
      const known = shown(value);
      result = result === undefined || known === undefined ? undefined : result + before + known;
      at = kid.to;
    }
    return result === undefined ? UNKNOWN : text(result + piece(Math.max(at, node.to - quote[1]!.length)));
  }

  /** Elements between commas; `*x` is spread where it is known. */
  sequence(kids: readonly Node[], scope: Scope): Value {
    const items: Value[] = [];
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
      items.push(...(inner ?? [UNKNOWN]).slice(0, 4096));
    }
    return list(items);
  }

  #dictionary(kids: readonly Node[], scope: Scope): Value {
    const entries = new Map<string, Value>();
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
      entries.set(key.t === "number" ? String(key.v) : (textOf(key) ?? `\0${i}`), value);
    }
    return environ ? { t: "environ" } : { t: "dict", entries };
  }

  #binary(kids: readonly Node[], scope: Scope): Value {
    const values = kids.filter(isExpression).map((kid) => this.evaluate(kid, scope));
    const operator = kids.find((kid) => !isExpression(kid));
    if (values.length !== 2 || !operator) return UNKNOWN;
    const word = this.text(operator);
    if (word === "and" || word === "or") return any(values);
    return this.operated(word, values[0]!, values[1]!);
  }

  operated(operator: string, a: Value, b: Value): Value {
    const [left, right] = [options(a), options(b)];
    if (left.length * right.length > 16) return UNKNOWN;
    return any(left.flatMap((x) => right.map((y) => operate(operator, x, y))));
  }

  #lambda(node: Node, scope: Scope): Value {
    const parameters = node.kids.find(({ type }) => type === "ParamList");
    const body = node.kids.at(-1)!;
    const inner = new Scope(scope);
    for (const { name, fallback } of this.parameters(parameters, scope)) inner.set(name, fallback, false);
    if (body !== parameters) this.evaluate(body, inner);
    return { t: "function", node, scope };
  }

  /** Names of parameters in order, with what they are when nothing is given. */
  parameters(list: Node | undefined, scope: Scope): { name: string; fallback: Value; star: string }[] {
    const found: { name: string; fallback: Value; star: string }[] = [];
    let star = "";
    const kids = list?.kids ?? [];
    for (let i = 0; i < kids.length; i++) {
      const kid = kids[i]!;
      if (kid.type === "*" || kid.type === "**") star = kid.type;
      else if (kid.type === "VariableName") {
        found.push({ name: this.name(kid), fallback: UNKNOWN, star });
        star = "";
      } else if (kid.type === "TypeDef") this.all(kid.kids, scope);
      else if (kid.type === "AssignOp" && kids[i + 1] && found.length > 0) {
        const fallback = any([this.evaluate(kids[++i]!, scope), UNKNOWN]);
        found[found.length - 1] = { ...found.at(-1)!, fallback };
      }
    }
    return found;
  }

  // ---------------------------------------------------------------- members and calls

  #member(node: Node, scope: Scope): Value {
    const { base, name, index } = memberParts(node);
    if (!base) return this.all(node.kids, scope);
    const of = this.evaluate(base, scope, true);
    if (name) return any(options(of).map((option) => this.attribute(option, this.name(name), node)));
    return any(options(of).map((option) => this.#subscript(option, index, node, scope)));
  }

  /** An attribute that stands apart from its object, as in a decorator. */
  member(of: Value, name: Node): Value {
    const value = any(options(of).map((option) => this.attribute(option, this.name(name), name)));
    this.judgeBuilt(value, name);
    return value;
  }

  /** Code inside a string, judged like the script around it. */
  script(source: string, at: Node): void {
    if (this.depth > 6) this.report.add("deny", "python-too-complex", "Code within code within code.", at);
    const inner = new Report(this.report.context, at);
    this.#judgeInner(source, inner);
    this.report.absorb(inner);
  }

  #subscript(of: Value, index: readonly Node[], node: Node, scope: Scope): Value {
    if (index.some(({ type }) => type === ":")) return this.#slice(of, index, scope);
    const key = index.filter(isExpression).map((kid) => this.evaluate(kid, scope))[0] ?? UNKNOWN;
    if (of.t === "environ") {
      readsVariable(this.report, key, node);
      return UNKNOWN;
    }
    return any(options(key).map((option) => this.itemOf(of, option, node, scope)));
  }

  /** `x[key]`, also where x is the dictionary of a module or of all names. */
  itemOf(of: Value, key: Value, node: Node, scope?: Scope): Value {
    const name = textOf(key);
    if (of.t === "ref" && name !== undefined) {
      if (of.path === "sys.modules") return ref(name);
      if (of.path === "builtins") return this.attribute(of, name, node);
      if (of.path.endsWith(".__dict__")) return this.attribute(ref(of.path.slice(0, -9)), name, node);
    }
    if (of.t === "result" && /^builtins\.(?:globals|locals|vars)$/.test(of.of) && name !== undefined) {
      const [subject] = of.args;
      if (subject) return this.attribute(subject, name, node);
      return scope ? this.lookUp(name, scope.module) : UNKNOWN;
    }
    if (of.t === "ref" && name === undefined && (of.path === "builtins" || of.path.endsWith(".__dict__")))
      this.report.add("deny", "python-dynamic", `Which part of ${of.path} it uses cannot be known.`, node);
    // One of the classes that something is made of is still a way up.
    return climbs(of) ? of : item(of, key);
  }

  #slice(of: Value, index: readonly Node[], scope: Scope): Value {
    const parts: (Value | undefined)[] = [undefined];
    for (const kid of index) {
      if (kid.type === ":") parts.push(undefined);
      else if (isExpression(kid)) parts[parts.length - 1] = this.evaluate(kid, scope);
    }
    if (parts.some((part) => part !== undefined && part.t !== "number")) return UNKNOWN;
    const [start, stop, step] = parts.map((part) => (part as { v: number } | undefined)?.v);
    return slice(of, start, stop, step);
  }

  attribute(of: Value, name: string, node?: Node): Value {
    if (node) this.#judgeAttribute(of, name, node);
    if (of.t === "ref") {
      if (name === "__self__" && of.path.startsWith("builtins.")) return ref("builtins");
      const path = canonical(`${of.path}.${name}`);
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

  #judgeAttribute(of: Value, name: string, node: Node): void {
    const action = Object.hasOwn(INTERPRETER_ATTRIBUTES, name) ? INTERPRETER_ATTRIBUTES[name] : undefined;
    if (action)
      this.report.add(action, "python-introspection", `${name} leads into the interpreter itself.`, node);
    if (name === "__subclasses__" && climbs(of))
      this.report.add(
        "deny",
        "python-introspection",
        "It goes through all classes of the interpreter to find one that runs programs.",
        node,
      );
  }

  #call(node: Node, scope: Scope): Value {
    const [calleeNode, list] = [node.kids[0]!, node.kids.at(-1)!];
    const callee = this.evaluate(calleeNode, scope, true);
    const args = this.arguments(list, scope);
    return any(options(callee).map((option) => apply(this, option, args, node, scope)));
  }

  arguments(listNode: Node, scope: Scope): Arguments {
    const kids = listNode.kids.slice(1, -1);
    const args: Arguments = { positional: [], keywords: new Map(), open: false };
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
        args.keywords.set(this.name(kid), kids[i + 2] ? this.evaluate(kids[i + 2]!, scope) : UNKNOWN);
        i += 2;
      } else args.positional.push(this.evaluate(kid, scope));
    }
    return args;
  }

  #spread(args: Arguments, star: string, value: Value): void {
    if (star === "*") {
      const items = elements(value);
      if (items) args.positional.push(...items.slice(0, 1000));
      else args.open = true;
    } else if (value.t === "dict") for (const [key, inner] of value.entries) args.keywords.set(key, inner);
    else if (value.t === "environ") args.positional.push(value);
    else args.open = true;
  }
}

function numeral(source: string): Value {
  const plain = source.replaceAll("_", "").toLowerCase();
  const value = Number(plain.replace(/[jl]$/, ""));
  return Number.isFinite(value) ? number(value) : UNKNOWN;
}

/** Without the module that everybody has. */
export function shortly(path: string): string {
  return path.replace(/^builtins\./, "");
}
