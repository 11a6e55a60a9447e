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
  type Word as WordNode,
} from "unbash";
import type { Span } from "../finding.js";
import { either, possibleCommands } from "./alternatives.js";
import { type ListReader, readControl } from "./control.js";
import { expandText, expandWord, type Printed } from "./expand.js";
import { Invoker, type TextReader } from "./invoker.js";
import { ReaderState, type SourceText } from "./reader-state.js";
import type { CommandReading } from "./reading.js";
import { readAssignment, readRedirects } from "./redirects.js";
import type { ShellScope } from "./scope.js";
import { HOLE, type Input, type Word } from "./script.js";
import { isCutOff, unreadParts } from "./unread-parts.js";
import { WrittenFiles } from "./written-files.js";

type Node = SyntaxNode | CompoundCommand | FunctionNode["body"];

/**
 * Walks a script as a shell would, without running anything, until only plain invocations are left:
 * - `reader-state.ts` tracks variables, functions, aliases and the working directory, and limits depth and work;
 * - this file walks the syntax tree, `control.ts` the conditions and loops (both branches of each);
 * - `expand.ts` expands words, `invoker.ts` follows functions, aliases, wrappers and files that a command runs.
 */
export class Reader implements ListReader, TextReader {
  readonly state: ReaderState;
  readonly #files: WrittenFiles;
  readonly #invoker: Invoker;
  /** Every parsed text, and the nodes of all of them that the reader has walked. */
  readonly #parsed: { readonly script: Script; readonly text: SourceText }[] = [];
  readonly #walked = new Set<object>();

  constructor(source: string, scope: ShellScope, readFile: (path: string) => string | undefined) {
    this.state = new ReaderState(source, scope);
    this.#files = new WrittenFiles(readFile);
    this.#invoker = new Invoker(this.state, this.#files, this);
  }

  readAll(): CommandReading {
    this.#parse(this.state.text.source);
    for (const { script, text } of this.#parsed) this.#readRest(script, text);
    return this.state.reading;
  }

  #parse(source: string): string {
    const script = parse(source);
    this.#parsed.push({ script, text: this.state.text });
    return this.#script(script);
  }

  /** Reads what the walk did not reach: functions that nothing calls, commands where the grammar expects a value. */
  #readRest(script: Script, text: SourceText): void {
    const isRead = (node: object) => this.#walked.has(node);
    for (let left = unreadParts(script, text.source, isRead); left.length > 0; ) {
      for (const node of left) this.state.inside(text, () => this.#readLeft(node));
      left = unreadParts(script, text.source, isRead);
    }
  }

  #readLeft(node: SyntaxNode): void {
    if (node.type === "Script") this.substitute(node, "$(…)");
    else if (isCutOff(node)) {
      this.#walked.add(node);
      this.#notParsed();
    } else this.run(node as Node);
  }

  get scope(): ShellScope {
    return this.state.scope;
  }

  spend(amount: number): void {
    this.state.spend(amount);
  }

  locate(pos: number, end: number): Span {
    return this.state.locate(pos, end);
  }

  substitute(script: Script | undefined, how: string): Printed {
    if (!script) return this.#notParsed();
    const { state } = this;
    const outer = state.text;
    const within = script.source === undefined ? outer.within : (outer.within ?? { start: 0, end: 0 });
    const text = { ...outer, source: script.source ?? outer.source, within, via: [...outer.via, how] };
    return state.subshell(() => state.inside(text, () => state.collect(() => this.#script(script))));
  }

  #notParsed(): Printed {
    this.state.addError("a substitution cannot be read");
    return { text: HOLE, from: [] };
  }

  stream(text: string): string {
    return this.#files.addStream(text);
  }

  expandAgain(text: string): void {
    if (!/`|\$[({]/.test(text)) return;
    this.spend(1);
    const within = this.locate(0, this.state.text.source.length);
    // In a here-document quotes are plain text, as they are where the shell expands a value.
    const script = `: <<${DELIMITER}\n${text}\n${DELIMITER}\n`;
    this.state.subshell(() => this.readText(script, "expanded again", within));
  }

  /** Reads text that a program would hand to a shell; returns what it would print. */
  readText(text: string, label: string, within: Span, args?: readonly string[], filed = false): string {
    this.spend(1 + text.length / 4096);
    const outer = this.state.text;
    const inner = {
      ...outer,
      source: text,
      within,
      via: [...outer.via, label],
      filed: filed || outer.filed,
    };
    return this.state.inside(inner, () => {
      const before = this.scope.arguments;
      if (args) this.scope.arguments = args;
      const printed = this.#parse(text);
      this.scope.arguments = before;
      return printed;
    });
  }

  #script(script: Script & { errors?: readonly { message: string; pos: number }[] | undefined }): string {
    if (!this.state.text.suspected)
      for (const { message, pos } of script.errors ?? []) this.state.addError(message, pos);
    this.#walked.add(script);
    return this.#statements(script.commands);
  }

  #statements(statements: readonly Statement[], input?: Input): string {
    let printed = "";
    for (const { command } of statements) printed += this.run(command, input);
    return printed;
  }

  list({ commands }: CompoundList, input?: Input): string {
    return this.#statements(commands, input);
  }

  /** Walks one node; returns what it would print. */
  run(node: Node, input?: Input): string {
    this.spend(1);
    this.#walked.add(node);
    switch (node.type) {
      case "Command":
        return this.#command(node, input);
      case "Pipeline":
        return this.#pipeline(node);
      case "AndOr": {
        const before = this.scope.copy();
        const printed = node.commands.map((command) => this.run(command, input));
        this.scope.merge(before);
        return printed.reduce((text, one, i) =>
          node.operators[i - 1] === "||" ? either(text, one) : text + one,
        );
      }
      case "Statement":
        return this.run(node.command, input);
      case "CompoundList":
        return this.list(node, input);
      case "Subshell":
        return this.state.subshell(() => this.list(node.body, input));
      case "BraceGroup":
        return this.list(node.body, input);
      case "Redirected":
        return this.#redirected(node.command, node.redirects, input);
      case "Function":
        return this.#define(node);
      case "Coproc":
        return this.run(node.body, input);
      default:
        return readControl(node, input, this);
    }
  }

  #define(node: FunctionNode): string {
    const { source } = this.state.text;
    this.scope.functions.set(node.name.value, { body: node.body, source, called: false });
    return "";
  }

  #pipeline({ commands }: Pipeline): string {
    // A pipeline of one command has only `!` or `time` before it and runs in this shell.
    if (commands.length === 1) return this.run(commands[0]!);
    const { state } = this;
    let input: Input | undefined;
    for (const command of commands) {
      const { text, from } = state.subshell(() => state.collect(() => this.run(command, input)));
      const variables = from.flatMap(({ argv }) => argv.flatMap((w) => w.variables));
      input = { text, from: [...(input?.from ?? []), ...from], kind: "pipe", variables };
    }
    return input?.text ?? "";
  }

  #redirected(node: CompoundCommand, redirections: readonly Redirection[], piped: Input | undefined): string {
    const { redirects, here } = readRedirects(redirections, this);
    const input = here ?? piped;
    const span = this.locate(node.pos, node.end);
    if (redirects.length > 0) this.#invoker.emit({ argv: [], assignments: [], redirects, input, span });
    return this.run(node, input);
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
        this.#invoker.emit({ argv: [], assignments, redirects, input, span });
      return "";
    }
    const argv = words.flatMap((one) => (one.type === "Word" ? expandWord(one, this) : this.#declared(one)));
    return possibleCommands(argv)
      .map((one) => this.#invoker.invoke({ argv: one, assignments, redirects, input, span }))
      .reduce(either);
  }

  #streamed(node: WordNode): { value: Word; values: string[] } {
    const value = expandText(node, this);
    return { value, values: [value.text] };
  }

  /** `export X=y`: an argument that is an assignment too. */
  #declared(node: Assignment): Word {
    const { name, value, values } = readAssignment(node, this);
    this.scope.set(name, values);
    return { ...value, text: `${name}=${value.text}` };
  }
}

/** Ends a here-document; no value contains it by chance. */
const DELIMITER = "END_OF_A_VALUE";

/** The parser takes the process substitution of `X=<(…) command` for the command's name. */
function valueOfPrefix({ name, prefix }: Command): WordNode | undefined {
  return name?.parts?.[0]?.type === "ProcessSubstitution" && prefix.at(-1)?.end === name.pos
    ? name
    : undefined;
}
