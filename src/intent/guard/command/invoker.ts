import type { Function as FunctionNode } from "unbash";
import { evaluatedBy, runBuiltin } from "./builtins.js";
import { outputOf } from "./output.js";
import { runsFromFile } from "./project-scripts.js";
import type { ReaderState } from "./reader-state.js";
import type { DefinedFunction } from "./scope.js";
import { HOLE, type Input, type Invocation, programName, type Word } from "./script.js";
import { suspectedCommands } from "./suspected-commands.js";
import { type InnerCommand, innerCommands } from "./unwrap.js";
import type { WrittenFiles } from "./written-files.js";

/** What the reader knows of an invocation before it is recorded. */
type Parts = Pick<Invocation, "argv" | "assignments" | "redirects" | "input" | "span">;

/** What invoking needs of the reader. */
export interface TextReader {
  readText(
    text: string,
    label: string,
    within: Invocation["span"],
    args?: readonly string[],
    filed?: boolean,
  ): string;
  run(node: FunctionNode["body"], input?: Input): string;
  expandAgain(text: string): void;
}

/** Records invocations, and has the reader read what each of them would run itself. */
export class Invoker {
  readonly #state: ReaderState;
  readonly #files: WrittenFiles;
  readonly #reader: TextReader;
  /** Functions and aliases that are being read. */
  readonly #calling = new Set<string>();

  constructor(state: ReaderState, files: WrittenFiles, reader: TextReader) {
    this.#state = state;
    this.#files = files;
    this.#reader = reader;
  }

  /** Reads a command with its words expanded; returns what it would print. A function, an alias, or a program. */
  invoke(parts: Parts): string {
    const { argv, input, span } = parts;
    this.#state.spend(1 + argv.length);
    const name = argv[0]?.text ?? "";
    const { functions, aliases } = this.#state.scope;
    const defined = functions.get(name);
    if (defined) return this.#call(name, defined, argv, input);
    const alias = aliases.get(name);
    if (alias !== undefined && !this.#calling.has(name)) {
      const text = [alias, ...argv.slice(1).map(requote)].join(" ");
      return this.#calls(name, () => this.#reader.readText(text, `alias ${name}`, span));
    }
    return this.#program(this.emit(parts));
  }

  /** Records an invocation. */
  emit({ argv, assignments, redirects, input, span }: Parts): Invocation {
    const { via, filed, suspected } = this.#state.text;
    const program = programName(argv[0]?.text ?? "");
    const { cwd } = this.#state.scope;
    const invocation = { argv, program, assignments, redirects, input, cwd, via, span, filed, suspected };
    this.#state.reading.invocations.push(invocation);
    return invocation;
  }

  #program(invocation: Invocation): string {
    const state = this.#state;
    runBuiltin(invocation, state.scope);
    for (const text of evaluatedBy(invocation)) this.#reader.expandAgain(text);
    let printed: string | undefined;
    const inners = innerCommands(invocation);
    for (const inner of inners) printed = this.#inner(inner, invocation);
    if (!state.text.suspected && inners.every(isDoubtful))
      for (const inner of suspectedCommands(invocation)) this.#suspected(inner, invocation);
    const read = (path: string, written?: boolean) => this.#files.read(path, state.scope.cwd, written);
    for (const inner of runsFromFile(invocation, read)) this.#inner(inner, invocation);
    const text = printed ?? outputOf(invocation, state.reading.home);
    this.#files.addOutput(invocation, text);
    return text;
  }

  #suspected(inner: InnerCommand, invocation: Invocation): void {
    const text = { ...this.#state.text, suspected: true };
    this.#state.inside(text, () => this.#inner(inner, invocation));
  }

  /** Reads what an invocation would run: code, a script, or another command. */
  #inner(inner: InnerCommand, { input, span }: Invocation): string {
    const state = this.#state;
    const via = [...state.text.via, inner.label];
    if (inner.kind === "code") {
      const { filed, suspected } = state.text;
      state.reading.code.push({ ...inner, via, filed, suspected });
      return HOLE;
    }
    if (inner.kind === "script") {
      const args = inner.args?.map(({ text }) => text);
      const read = () => {
        if (inner.zero) state.scope.set("0", [inner.zero.text]);
        return this.#reader.readText(inner.text, inner.label, inner.span, args, inner.filed);
      };
      return inner.here ? read() : state.subshell(read);
    }
    if (inner.argv.length === 0) return HOLE;
    const parts = { argv: inner.argv, assignments: [], redirects: [], input, span };
    return state.subshell(() => state.inside({ ...state.text, via }, () => this.invoke(parts)));
  }

  #call(name: string, defined: DefinedFunction, argv: readonly Word[], input: Input | undefined): string {
    const state = this.#state;
    defined.called = true;
    if (this.#calling.has(name)) {
      state.reading.forkBomb ??= argv[0]!.span;
      return HOLE;
    }
    const outer = state.scope.arguments;
    state.scope.arguments = argv.slice(1).map(({ text }) => text);
    const text = { ...state.text, source: defined.source };
    const printed = this.#calls(name, () => state.inside(text, () => this.#reader.run(defined.body, input)));
    state.scope.arguments = outer;
    return printed;
  }

  #calls(name: string, read: () => string): string {
    this.#calling.add(name);
    try {
      return read();
    } finally {
      this.#calling.delete(name);
    }
  }
}

/** Code in another language, or a wrapper with unknown options: `tool -x CMD` seems to run `-x`. */
const isDoubtful = (inner: InnerCommand) =>
  inner.kind === "code" || (inner.kind === "argv" && /^(-|$)/.test(inner.argv[0]?.text ?? ""));

/** One word for a shell that reads it again; wildcards stay active. */
function requote({ text, glob }: Word): string {
  return glob ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
