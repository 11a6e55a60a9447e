import {
  type Assignment,
  type Command,
  type CompoundCommand,
  type CompoundList,
  type Function as FunctionNode,
  type Pipeline,
  parse,
  type Redirection,
  type Script,
  type Statement,
  type SyntaxNode,
  type TestExpression,
  type Word as WordNode,
} from "unbash";
import type { Span } from "../finding.js";
import { either, readings } from "./alternatives.js";
import { evaluatedBy, runBuiltin } from "./builtins.js";
import { arithmetic, type Expander, expandText, expandWord, type Printed } from "./expand.js";
import { isAlwaysTrue, isRunaway } from "./loops.js";
import { outputOf } from "./output.js";
import { resolvePath } from "./places.js";
import { runsFromFile } from "./project.js";
import { type Reading, TooComplex } from "./reading.js";
import { readAssignment, readRedirects } from "./redirects.js";
import type { Scope } from "./scope.js";
import { HOLE, type Input, type Invocation, programName, type Word } from "./script.js";
import { suspects } from "./suspects.js";
import { isCutOff, unread } from "./unread.js";
import { type Inner, unwrap } from "./unwrap.js";

const DEPTH = 12;
const WORK = 4000;

/** What an invocation is made of. */
type Parts = Pick<Invocation, "argv" | "assignments" | "redirects" | "input" | "span">;

type Node = SyntaxNode | CompoundCommand | FunctionNode["body"];

/** Where the text that is being read stands: in the input itself, or in a word of it. */
interface Place {
  readonly source: string;
  readonly within: Span | undefined;
  readonly via: readonly string[];
  readonly filed: boolean;
  readonly suspected: boolean;
}

/**
 * Walks a script as a shell would, without running anything: keeps track of variables, functions, aliases and the working
 * directory, follows both branches of every condition, and unwraps what runs other commands, until only plain invocations
 * are left.
 */
export class Reader implements Expander {
  readonly reading: Reading;
  scope: Scope;
  #place: Place;
  #work = WORK;
  #depth = 0;
  readonly #calling = new Set<string>();
  /** Files that the script itself has written, as far as it is known what is in them. */
  readonly #written = new Map<string, string>();
  readonly #readFile: (path: string) => string | undefined;
  /** Every text that was parsed, and the parts of all of them that were walked through. */
  readonly #parsed: { readonly script: Script; readonly place: Place }[] = [];
  readonly #walked = new Set<object>();
  #streams = 63;

  constructor(source: string, scope: Scope, readFile: (path: string) => string | undefined) {
    this.scope = scope;
    this.#readFile = readFile;
    this.#place = { source, within: undefined, via: [], filed: false, suspected: false };
    this.reading = {
      invocations: [],
      code: [],
      errors: [],
      forkBomb: undefined,
      endless: undefined,
      home: scope.get("HOME")?.[0] ?? "",
    };
  }

  readAll(): Reading {
    this.#parse(this.#place.source);
    for (const { script, place } of this.#parsed) this.#rest(script, place);
    return this.reading;
  }

  #readRest(node: SyntaxNode): void {
    if (node.type === "Script") this.substitute(node, "$(…)");
    else if (isCutOff(node)) {
      this.#walked.add(node);
      this.#notParsed();
    } else this.#run(node as Node);
  }

  #parse(source: string): string {
    const script = parse(source);
    this.#parsed.push({ script, place: this.#place });
    return this.#script(script);
  }

  /** What was not come across while walking: functions that nothing calls, and commands where only a value is expected. */
  #rest(script: Script, place: Place): void {
    const isRead = (node: object) => this.#walked.has(node);
    for (let left = unread(script, place.source, isRead); left.length > 0; ) {
      for (const node of left) this.#in(place, () => this.#readRest(node));
      left = unread(script, place.source, isRead);
    }
  }

  spend(amount: number): void {
    this.#work -= amount;
    if (this.#work < 0) throw new TooComplex("it does more than can be judged");
  }

  locate(pos: number, end: number): Span {
    return this.#place.within ?? { start: pos, end };
  }

  substitute(script: Script | undefined, how: string): Printed {
    if (!script) return this.#notParsed();
    const within =
      script.source === undefined ? this.#place.within : (this.#place.within ?? { start: 0, end: 0 });
    const source = script.source ?? this.#place.source;
    const place = { ...this.#place, source, within, via: [...this.#place.via, how] };
    return this.#subshell(() => this.#in(place, () => this.#collect(() => this.#script(script))));
  }

  #notParsed(): Printed {
    const span = this.locate(0, Math.min(1, this.#place.source.length));
    this.reading.errors.push({ message: "a substitution cannot be read", span });
    return { text: HOLE, from: [] };
  }

  stream(text: string): string {
    const path = `/dev/fd/${this.#streams}`;
    if (this.#streams > 10) this.#streams--;
    this.#written.set(path, text);
    return path;
  }

  expandAgain(text: string): void {
    if (!/`|\$[({]/.test(text)) return;
    this.spend(1);
    const within = this.locate(0, this.#place.source.length);
    // In a here-document quotes are plain text, as they are where the shell expands a value.
    this.#subshell(() => this.readText(`: <<${UNLIKELY}\n${text}\n${UNLIKELY}\n`, "expanded again", within));
  }

  /** Reads text that some program would hand to a shell. */
  readText(text: string, label: string, within: Span, args?: readonly string[], filed = false): string {
    this.spend(1 + text.length / 4096);
    const place = {
      ...this.#place,
      source: text,
      within,
      via: [...this.#place.via, label],
      filed: filed || this.#place.filed,
    };
    return this.#in(place, () => {
      const before = this.scope.arguments;
      if (args) this.scope.arguments = args;
      const printed = this.#parse(text);
      this.scope.arguments = before;
      return printed;
    });
  }

  #in<T>(place: Place, act: () => T): T {
    const outer = this.#place;
    if (++this.#depth > DEPTH) throw new TooComplex("it is nested too deep");
    this.#place = place;
    try {
      return act();
    } finally {
      this.#place = outer;
      this.#depth--;
    }
  }

  #subshell<T>(act: () => T): T {
    const outer = this.scope;
    this.scope = outer.copy();
    try {
      return act();
    } finally {
      this.scope = outer;
    }
  }

  #collect(act: () => string): Printed {
    const first = this.reading.invocations.length;
    const text = act();
    return { text, from: this.reading.invocations.slice(first) };
  }

  #script(script: Script & { errors?: readonly { message: string; pos: number }[] | undefined }): string {
    for (const { message, pos } of this.#place.suspected ? [] : (script.errors ?? []))
      this.reading.errors.push({
        message,
        span: this.locate(pos, Math.min(pos + 1, this.#place.source.length)),
      });
    this.#walked.add(script);
    return this.#statements(script.commands);
  }

  #statements(statements: readonly Statement[]): string {
    let printed = "";
    for (const { command } of statements) printed += this.#run(command);
    return printed;
  }

  /** Walks one node; answers what it would print. */
  #run(node: Node, input?: Input): string {
    this.spend(1);
    this.#walked.add(node);
    switch (node.type) {
      case "Command":
        return this.#command(node, input);
      case "Pipeline":
        return this.#pipeline(node);
      case "AndOr": {
        const before = this.scope.copy();
        const printed = node.commands.map((command) => this.#run(command, input));
        this.scope.merge(before);
        return printed.reduce((text, one, i) =>
          node.operators[i - 1] === "||" ? either(text, one) : text + one,
        );
      }
      case "Statement":
        return this.#run(node.command, input);
      case "CompoundList":
        return this.#list(node, input);
      case "Subshell":
        return this.#subshell(() => this.#list(node.body, input));
      case "BraceGroup":
        return this.#list(node.body, input);
      case "Redirected":
        return this.#redirected(node.command, node.redirects, input);
      case "Function":
        return this.#define(node);
      case "Coproc":
        return this.#run(node.body, input);
      default:
        return this.#control(node, input);
    }
  }

  #list({ commands }: CompoundList, input?: Input): string {
    let printed = "";
    for (const { command } of commands) printed += this.#run(command, input);
    return printed;
  }

  /** Every branch may be taken: afterwards only what no branch has changed is known. */
  #control(node: Node, input: Input | undefined): string {
    const before = this.scope.copy();
    let printed = "";
    const each = (...lists: (CompoundList | undefined)[]) => {
      for (const list of lists) if (list) printed = either(printed, this.#list(list, input));
    };
    switch (node.type) {
      case "If":
        each(node.clause, node.then, ...node.elif.flatMap(({ clause, then }) => [clause, then]), node.else);
        break;
      case "While":
        each(node.clause, node.body);
        if (isAlwaysTrue(node.clause) && isRunaway(node.body, this.#place.source))
          this.reading.endless ??= this.locate(node.pos, node.end);
        break;
      case "ArithmeticFor":
        for (const one of [node.initialize, node.test, node.update]) if (one) arithmetic(one, this);
        each(node.body);
        if (!node.test && isRunaway(node.body, this.#place.source))
          this.reading.endless ??= this.locate(node.pos, node.end);
        break;
      case "For":
      case "Select":
        printed = this.#loop(node.name, node.wordlist, node.body, input);
        break;
      case "Case":
        expandText(node.word, this);
        each(...node.items.map(({ body }) => body));
        break;
      case "TestCommand":
        this.#test(node.expression);
        break;
      case "ArithmeticCommand":
        arithmetic(node.expression, this);
        break;
    }
    this.scope.merge(before);
    return printed;
  }

  #loop(
    name: WordNode,
    wordlist: readonly WordNode[] | undefined,
    body: CompoundList,
    input?: Input,
  ): string {
    const words =
      wordlist?.flatMap((one) => expandWord(one, this)) ?? this.scope.arguments?.map((text) => ({ text }));
    const values = words?.map(({ text }) => text) ?? [HOLE];
    let printed = "";
    for (const value of values.length > LOOPS_AT_MOST ? [...values.slice(0, LOOPS_AT_MOST), HOLE] : values) {
      this.scope.set(name.value, [value]);
      printed += this.#list(body, input);
    }
    return printed;
  }

  #test(expression: TestExpression): void {
    if (expression.type === "TestUnary") this.expandAgain(expandText(expression.operand, this).text);
    else if (expression.type === "TestBinary")
      for (const side of [expression.left, expression.right]) this.#compared(side, expression.operator);
    else if (expression.type === "TestLogical") for (const one of expression.operands) this.#test(one);
    else this.#test(expression.type === "TestNot" ? expression.operand : expression.expression);
  }

  /** Of numbers the shell evaluates what they are spelled with: a variable's value, a subscript. */
  #compared(side: WordNode, operator: string): void {
    const { text } = expandText(side, this);
    if (/^-(eq|ne|lt|le|gt|ge)$/.test(operator))
      for (const value of [text, ...(this.scope.get(text) ?? [])]) this.expandAgain(value);
  }

  #define(node: FunctionNode): string {
    this.scope.functions.set(node.name.value, { body: node.body, source: this.#place.source, called: false });
    return "";
  }

  #pipeline({ commands }: Pipeline): string {
    // Only `!` or `time` stands before it: it runs in this shell.
    if (commands.length === 1) return this.#run(commands[0]!);
    let input: Input | undefined;
    for (const command of commands) {
      const { text, from } = this.#subshell(() => this.#collect(() => this.#run(command, input)));
      const variables = from.flatMap(({ argv }) => argv.flatMap((w) => w.variables));
      input = { text, from: [...(input?.from ?? []), ...from], kind: "pipe", variables };
    }
    return input?.text ?? "";
  }

  #redirected(node: CompoundCommand, redirections: readonly Redirection[], input: Input | undefined): string {
    const { redirects, here } = readRedirects(redirections, this);
    if (redirects.length > 0)
      this.#emit({
        argv: [],
        assignments: [],
        redirects,
        input: here ?? input,
        span: this.locate(node.pos, node.end),
      });
    return this.#run(node, here ?? input);
  }

  #command(node: Command, piped: Input | undefined): string {
    const { redirects, here } = readRedirects(node.redirects, this);
    const input = here ?? piped;
    const assignments = node.prefix.flatMap((one) =>
      one.type === "Assignment" ? readAssignment(one, this) : [],
    );
    const span = this.locate(node.pos, node.end);
    const value = valueOfPrefix(node);
    if (value) assignments.push({ ...assignments.pop()!, ...this.#streamed(value) });
    const words = [...(node.name && !value ? [node.name] : []), ...node.args];
    if (words.length === 0) {
      for (const { name, values } of assignments) this.scope.set(name, values);
      if (redirects.length > 0 || assignments.length > 0)
        this.#emit({ argv: [], assignments, redirects, input, span });
      return "";
    }
    const argv = words.flatMap((one) => (one.type === "Word" ? expandWord(one, this) : this.#declared(one)));
    return readings(argv)
      .map((one) => this.#invoke({ argv: one, assignments, redirects, input, span }))
      .reduce(either);
  }

  #streamed(node: WordNode): { value: Word; values: string[] } {
    const value = expandText(node, this);
    return { value, values: [value.text] };
  }

  /** `export X=y`: an argument that is an assignment as well. */
  #declared(node: Assignment): Word {
    const { name, value, values } = readAssignment(node, this);
    this.scope.set(name, values);
    return { ...value, text: `${name}=${value.text}` };
  }

  /** A command with its words known: a function, an alias, a builtin that changes the shell, or a program. */
  #invoke(parts: Parts): string {
    const { argv, input, span } = parts;
    this.spend(1 + argv.length);
    const name = argv[0]?.text ?? "";
    const defined = this.scope.functions.get(name);
    if (defined) return this.#call(name, defined, argv, input);
    const alias = this.scope.aliases.get(name);
    if (alias !== undefined && !this.#calling.has(name))
      return this.#calls(name, () =>
        this.readText([alias, ...argv.slice(1).map(requote)].join(" "), `alias ${name}`, span),
      );
    const invocation = this.#emit(parts);
    runBuiltin(invocation, this.scope);
    for (const text of evaluatedBy(invocation)) this.expandAgain(text);
    let printed: string | undefined;
    const inners = unwrap(invocation);
    for (const inner of inners) printed = this.#inner(inner, invocation);
    if (!this.#place.suspected && inners.every(isDoubtful))
      for (const inner of suspects(invocation)) this.#suspected(inner, invocation);
    for (const inner of runsFromFile(invocation, (path, written) => this.#fileText(path, written)))
      this.#inner(inner, invocation);
    const text = printed ?? outputOf(invocation, this.reading.home);
    this.#write(invocation, text);
    return text;
  }

  /** A script that is written and then run is as known as one that is typed. */
  #write({ argv, redirects, cwd }: Invocation, text: string): void {
    const targets = redirects.filter(({ operator }) => operator !== "<").map(({ target }) => target.text);
    if (argv[0]?.text === "tee") targets.push(...argv.slice(1).map((one) => one.text));
    for (const target of targets) this.#written.set(resolvePath(target, cwd), text);
  }

  #fileText(path: string, only = false): { text: string; filed: boolean } | undefined {
    const full = resolvePath(path, this.scope.cwd);
    const written = this.#written.get(full);
    if (written !== undefined) return { text: written, filed: false };
    const text = only || full.includes(HOLE) ? undefined : this.#readFile(full);
    return text === undefined ? undefined : { text, filed: true };
  }

  #suspected(inner: Inner, invocation: Invocation): void {
    const place = { ...this.#place, suspected: true };
    this.#in(place, () => this.#inner(inner, invocation));
  }

  #inner(inner: Inner, { input, span }: Invocation): string {
    const via = [...this.#place.via, inner.label];
    if (inner.kind === "code") {
      const { filed, suspected } = this.#place;
      this.reading.code.push({ ...inner, via, filed, suspected });
      return HOLE;
    }
    if (inner.kind === "script") {
      const args = inner.args?.map(({ text }) => text);
      const read = () => {
        if (inner.zero) this.scope.set("0", [inner.zero.text]);
        return this.readText(inner.text, inner.label, inner.span, args, inner.filed);
      };
      return inner.here ? read() : this.#subshell(read);
    }
    if (inner.argv.length === 0) return HOLE;
    const parts = { argv: inner.argv, assignments: [], redirects: [], input, span };
    return this.#subshell(() => this.#in({ ...this.#place, via }, () => this.#invoke(parts)));
  }

  #emit(parts: Parts): Invocation {
    const { argv, assignments, redirects, input, span } = parts;
    const { via, filed, suspected } = this.#place;
    const program = programName(argv[0]?.text ?? "");
    const { cwd } = this.scope;
    const invocation = { argv, program, assignments, redirects, input, cwd, via, span, filed, suspected };
    this.reading.invocations.push(invocation);
    return invocation;
  }

  #call(
    name: string,
    defined: { body: FunctionNode["body"]; source: string; called: boolean },
    argv: readonly Word[],
    input: Input | undefined,
  ): string {
    defined.called = true;
    if (this.#calling.has(name)) {
      this.reading.forkBomb ??= argv[0]!.span;
      return HOLE;
    }
    const outer = this.scope.arguments;
    this.scope.arguments = argv.slice(1).map(({ text }) => text);
    const place = { ...this.#place, source: defined.source };
    const printed = this.#calls(name, () => this.#in(place, () => this.#run(defined.body, input)));
    this.scope.arguments = outer;
    return printed;
  }

  #calls(name: string, act: () => string): string {
    this.#calling.add(name);
    try {
      return act();
    } finally {
      this.#calling.delete(name);
    }
  }
}

const LOOPS_AT_MOST = 12;

/** Ends a here-document that nobody else has written. */
const UNLIKELY = "END_OF_A_VALUE";

/** Code in another language, or a wrapper whose options are not known: `tool -x CMD` seems to run `-x`. */
const isDoubtful = (inner: Inner) =>
  inner.kind === "code" || (inner.kind === "argv" && /^(-|$)/.test(inner.argv[0]?.text ?? ""));

/** The parser takes the stream of `X=<(…) command` for the command's name. */
function valueOfPrefix({ name, prefix }: Command): WordNode | undefined {
  return name?.parts?.[0]?.type === "ProcessSubstitution" && prefix.at(-1)?.end === name.pos
    ? name
    : undefined;
}

/** As one word for a shell that reads it again; wildcards stay active. */
function requote({ text, glob }: Word): string {
  return glob ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
