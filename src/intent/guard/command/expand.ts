import {
  type ArithmeticExpression,
  type ParameterExpansionPart,
  parse,
  type Script,
  type Word as WordNode,
  type WordPart,
} from "unbash";
import type { Span } from "../finding.js";
import { expandShellBraces } from "./braces.js";
import { applyOperation, selectValues } from "./parameters.js";
import { type ShellScope, SPECIAL } from "./scope.js";
import { HOLE, type Invocation, type Word } from "./script.js";

/** What expansion needs of the reader. */
export interface Expander {
  readonly scope: ShellScope;
  /** Counts work; throws when a script needs too much of it. */
  spend(amount: number): void;
  locate(pos: number, end: number): Span;
  /** Reads a nested script and returns what it would print. */
  substitute(script: Script | undefined, how: "$(…)" | "<(…)" | ">(…)"): Printed;
  /** The path under which a program finds the output of `<(…)`. */
  stream(text: string): string;
  /** Reads the substitutions in a value that the shell expands a second time. */
  expandAgain(text: string): void;
}

export interface Printed {
  readonly text: string;
  readonly from: readonly Invocation[];
}

const WORDS_AT_MOST = 512;

/** The words that one word of the script expands to. */
export function expandWord(node: WordNode, shell: Expander): Word[] {
  shell.spend(1);
  const span = shell.locate(node.pos, node.end);
  if (!node.parts) return [plain(expandTilde(node.value, node.text, shell.scope), span)];
  if (hasBraces(node.parts)) return expandBraceWord(node, span, shell);
  const fields = new Fields(shell, span);
  fields.add(node.parts, false);
  return fields.done();
}

const plain = (text: string, span: Span): Word => ({ text, span, glob: false, variables: [], from: [] });

/** Expands without splitting into words: assignments, redirections, here-strings, `[[ … ]]`. */
export function expandText(node: WordNode, shell: Expander): Word {
  shell.spend(1);
  const span = shell.locate(node.pos, node.end);
  if (!node.parts) return plain(expandTilde(node.value, node.text, shell.scope), span);
  return expandParts(node.parts, span, shell);
}

export function expandParts(parts: readonly WordPart[], span: Span, shell: Expander): Word {
  const fields = new Fields(shell, span);
  fields.add(parts, true);
  const [only = plain("", span)] = fields.done();
  return only;
}

function hasBraces(parts: readonly WordPart[]): boolean {
  return parts.some((part) => part.type === "BraceExpansion");
}

/** The shell expands braces first: each alternative is then a word of its own. */
function expandBraceWord(node: WordNode, span: Span, shell: Expander): Word[] {
  const written = expandShellBraces(node.text, WORDS_AT_MOST);
  if (written.length === 1 && written[0] === node.text) {
    const fields = new Fields(shell, span);
    fields.add(node.parts!, false);
    return fields.done();
  }
  shell.spend(written.length < WORDS_AT_MOST ? written.length : Number.POSITIVE_INFINITY);
  return written.flatMap((text) => {
    const command = parse(`: ${text}`).commands[0]?.command;
    if (command?.type !== "Command") return [plain(HOLE, span)];
    const fixed: Expander = { ...around(shell), locate: () => span };
    return command.suffix.flatMap((inner) => (inner.type === "Word" ? expandWord(inner, fixed) : []));
  });
}

function around(shell: Expander): Expander {
  return {
    scope: shell.scope,
    spend: (amount) => shell.spend(amount),
    locate: (pos, end) => shell.locate(pos, end),
    substitute: (script, how) => shell.substitute(script, how),
    stream: (text) => shell.stream(text),
    expandAgain: (text) => shell.expandAgain(text),
  };
}

function expandTilde(value: string, written: string, scope: ShellScope): string {
  if (!written.startsWith("~")) return value;
  const [, user, rest] = /^~([^/]*)(.*)$/s.exec(value) ?? [];
  const home = scope.get("HOME")?.[0] ?? HOLE;
  if (user === "") return home + rest;
  if (user === "+") return scope.cwd + rest;
  if (user === "root") return `/root${rest}`;
  return /^[a-z_][\w-]*$/.test(user ?? "") ? `/home/${user}${rest}` : value;
}

/** Collects the fields that the parts of a word are split into. */
class Fields {
  readonly #shell: Expander;
  readonly #span: Span;
  readonly #words: Word[] = [];
  #text = "";
  #begun = false;
  #glob = false;
  #variables: string[] = [];
  #from: Invocation[] = [];

  constructor(shell: Expander, span: Span) {
    this.#shell = shell;
    this.#span = span;
  }

  done(): Word[] {
    this.#end();
    return this.#words;
  }

  add(parts: readonly WordPart[], quoted: boolean): void {
    for (const [i, part] of parts.entries()) this.#part(part, quoted, i === 0 && !quoted);
  }

  #part(part: WordPart, quoted: boolean, first: boolean): void {
    switch (part.type) {
      case "Literal":
        this.#append(first ? expandTilde(part.value, part.text, this.#shell.scope) : part.value);
        break;
      case "SingleQuoted":
      case "AnsiCQuoted":
        this.#append(part.value);
        break;
      case "DoubleQuoted":
      case "LocaleString":
        this.#begun = true;
        this.add(part.parts, true);
        break;
      case "Glob":
      case "ExtendedGlob":
        this.#glob = true;
        this.#append(part.text);
        break;
      case "BraceExpansion":
        if (part.parts) this.add(part.parts, quoted);
        else this.#append(part.text);
        break;
      case "SimpleExpansion":
        this.#variable(part.text.slice(1), quoted);
        break;
      case "ParameterExpansion": {
        const read = (word: WordNode) => expandText(word, this.#shell).text;
        const values = selectValues(part, (name) => this.#value(name), read);
        this.#expandedAgain(part);
        const result = part.operation ? applyOperation(values, part.operation, read) : values;
        const onlyAsks = part.operation?.type === "Default" && part.operation.operator.endsWith("+");
        if (values === undefined && !onlyAsks) this.#variables.push(part.parameter);
        this.#expanded(result ?? [HOLE], quoted, /^[@]$/.test(part.index?.value ?? part.parameter));
        break;
      }
      case "CommandExpansion": {
        const { text, from } = this.#shell.substitute(part.script, "$(…)");
        this.#from.push(...from);
        this.#expanded([text.replace(/\n+$/, "")], quoted, false);
        break;
      }
      case "ProcessSubstitution": {
        const reads = part.operator === "<";
        const { text, from } = this.#shell.substitute(part.script, reads ? "<(…)" : ">(…)");
        this.#from.push(...from);
        this.#append(this.#shell.stream(reads ? text : HOLE));
        break;
      }
      case "ArithmeticExpansion":
        this.#append(arithmetic(part.expression, this.#shell));
        break;
    }
  }

  /** `${x@P}` expands the value of x; `${!x}` looks up the name in x, subscript included. */
  #expandedAgain({ parameter, prefix, operation }: ParameterExpansionPart): void {
    const prompt = operation?.type === "Transform" && operation.operand.value === "P";
    if (!prompt && prefix !== "!") return;
    for (const value of this.#value(parameter) ?? []) this.#shell.expandAgain(value);
  }

  #variable(name: string, quoted: boolean): void {
    const values = this.#value(name);
    if (values === undefined) this.#variables.push(name);
    this.#expanded(values ?? [HOLE], quoted, name === "@");
  }

  #value(name: string): readonly string[] | undefined {
    const { scope } = this.#shell;
    if (name === "@" || name === "*") return scope.arguments;
    if (name === "#") return scope.arguments && [String(scope.arguments.length)];
    const special = SPECIAL.get(name);
    if (special !== undefined) return scope.get(name) ?? [special];
    if (/^[1-9]\d*$/.test(name)) return scope.arguments && [scope.arguments[Number(name) - 1] ?? ""];
    return scope.get(name);
  }

  #expanded(values: readonly string[], quoted: boolean, separate: boolean): void {
    if (quoted && !separate) this.#append(values.join(" "));
    else this.#each(values, quoted);
  }

  #each(values: readonly string[], quoted: boolean): void {
    for (const [i, value] of values.entries()) {
      if (i > 0) this.#end();
      if (quoted) this.#append(value);
      else this.#split(value);
    }
  }

  /** An unquoted expansion is split into fields, and its wildcards are active. */
  #split(value: string): void {
    const separators = this.#shell.scope.get("IFS")?.[0] ?? " \t\n";
    if (/[*?[]/.test(value)) this.#glob = true;
    let piece = "";
    for (const character of value) {
      if (!separators.includes(character)) piece += character;
      else {
        if (piece !== "") this.#append(piece);
        piece = "";
        this.#end();
      }
    }
    if (piece !== "") this.#append(piece);
  }

  #append(text: string): void {
    this.#begun = true;
    this.#text += text;
  }

  #end(): void {
    if (!this.#begun) return;
    this.#shell.spend(1);
    this.#words.push({
      text: this.#text,
      span: this.#span,
      glob: this.#glob,
      variables: this.#variables,
      from: this.#from,
    });
    this.#text = "";
    this.#begun = false;
  }
}

/** Results of arithmetic are rarely dangerous, but letters can be made from them. */
export function arithmetic(expression: ArithmeticExpression | undefined, shell: Expander): string {
  const value = evaluate(expression, shell);
  return value === undefined ? HOLE : String(value);
}

function evaluate(node: ArithmeticExpression | undefined, shell: Expander): number | undefined {
  shell.spend(1);
  if (node?.type === "ArithmeticGroup") return evaluate(node.expression, shell);
  if (node?.type === "ArithmeticWord") return number(node.value, shell);
  if (node?.type === "ArithmeticCommandExpansion") {
    shell.substitute(node.script, "$(…)");
    return undefined;
  }
  if (node?.type === "ArithmeticUnary") {
    const value = evaluate(node.operand, shell);
    return value !== undefined && node.operator === "-" ? -value : undefined;
  }
  if (node?.type === "ArithmeticTernary") {
    for (const part of [node.test, node.consequent, node.alternate]) evaluate(part, shell);
    return undefined;
  }
  if (node?.type !== "ArithmeticBinary") return undefined;
  const left = evaluate(node.left, shell);
  const right = evaluate(node.right, shell);
  return left === undefined || right === undefined ? undefined : OPERATORS[node.operator]?.(left, right);
}

const OPERATORS: Readonly<Record<string, (a: number, b: number) => number>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => Math.trunc(a / (b || 1)),
  "%": (a, b) => a % (b || 1),
  "^": (a, b) => a ^ b,
  "|": (a, b) => a | b,
  "&": (a, b) => a & b,
  "<<": (a, b) => a << b,
  ">>": (a, b) => a >> b,
};

function number(text: string, shell: Expander): number | undefined {
  const name = /^\$?\{?([A-Za-z_]\w*)\}?$/.exec(text)?.[1];
  const value = (name === undefined ? text : shell.scope.get(name)?.[0])?.trim();
  if (name !== undefined && value !== undefined) shell.expandAgain(value);
  const [, base, digits] = /^(\d{1,2})#(\w+)$/.exec(value ?? "") ?? [];
  if (base && digits) {
    const parsed = Number.parseInt(digits, Math.min(36, Math.max(2, Number(base))));
    return Number.isNaN(parsed) ? undefined : parsed;
  }
  if (/^0[0-7]+$/.test(value ?? "")) return Number.parseInt(value!, 8);
  return value !== undefined && /^(-?\d+|0x[\da-f]+)$/i.test(value) ? Number(value) : undefined;
}
