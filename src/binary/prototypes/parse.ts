import type { FlagTable } from "../../abi/flags.js";
import { inOf, outOf } from "./direction.js";
import type { DeclarationScope } from "./scope.js";
import { TypeReader } from "./specifiers.js";
import { CTokens } from "./tokens.js";
import {
  type Choice,
  type CType,
  type Factor,
  type Failure,
  FUNCTION_TYPE,
  type Parameter,
  type Prototype,
  pointerTo,
} from "./types.js";

/**
 * Reads a text of declarations (docs/reference/prototypes.md) into a scope: C, with a few words more about what C leaves open.
 * Throws PROTOTYPES with file, line and column.
 */
export function readPrototypes(text: string, file: string, scope: DeclarationScope): void {
  new Parser(text, file, scope).read();
}

/** Words before the type of a parameter. */
interface Notes {
  readonly direction?: "in" | "out" | "inout";
  readonly factors?: readonly FactorWord[];
}

/** Arguments may be named before they are declared. */
interface FactorWord extends Omit<Factor, "value"> {
  readonly word: string;
  readonly at: number;
}

type Rest = { -readonly [K in "fails" | "more" | "choices"]?: Prototype[K] } & { returns: boolean };

const DIRECTIONS = new Set(["in", "out", "inout"]);
const FORMATS: Readonly<Record<string, NonNullable<Prototype["more"]>>> = {
  printf: "printf",
  scanf: "scanf",
  wprintf: "wide printf",
  strings: "strings",
};
const MAX_PARAMETERS = 64;

class Parser {
  readonly #tokens: CTokens;
  readonly #scope: DeclarationScope;
  readonly #types: TypeReader;
  #header: string | undefined;
  #modules: readonly string[] | undefined;

  constructor(text: string, file: string, scope: DeclarationScope) {
    this.#tokens = new CTokens(text, file);
    this.#scope = scope;
    this.#types = new TypeReader(this.#tokens, scope);
  }

  read(): void {
    while (this.#tokens.peek().kind !== "end") this.#declaration();
  }

  #declaration(): void {
    const tokens = this.#tokens;
    const { kind, text } = tokens.peek();
    if (kind === "include") this.#header = /<(.*)>/.exec(tokens.take().text)![1]!;
    else if (tokens.accept(";")) return;
    else if (text === "typedef") this.#typedef();
    else if (text === "flags" && tokens.peek(1).kind === "name" && (tokens.is("{", 2) || tokens.is(":", 2)))
      this.#flags();
    else if (text === "library" && tokens.peek(1).kind === "name") this.#library();
    else if (text === "alias" && tokens.peek(1).kind === "name") this.#alias();
    else this.#prototype();
  }

  /** `library libfoo, libbar;`: whose functions these are from here on. */
  #library(): void {
    this.#tokens.take();
    const modules = [this.#tokens.name("a library")];
    while (this.#tokens.accept(",")) modules.push(this.#tokens.name("a library"));
    this.#tokens.expect(";");
    this.#modules = modules;
  }

  /** `alias fopen64 = fopen;` */
  #alias(): void {
    this.#tokens.take();
    const name = this.#tokens.name("another name");
    this.#tokens.expect("=");
    const { at } = this.#tokens.peek();
    const of = this.#tokens.name("a function");
    if (!this.#scope.prototype(of)) throw this.#tokens.wrong(`the function "${of}" is not declared`, at);
    this.#tokens.expect(";");
    this.#scope.aliases.set(name, of);
  }

  /** `flags open : 3 { O_RDONLY, O_WRONLY, … }`: behind the colon the bits that are one number. */
  #flags(): void {
    this.#tokens.take();
    const name = this.#tokens.name("a name");
    const enumMask = this.#tokens.accept(":") ? this.#types.constant() : undefined;
    const values = this.#types.values();
    this.#tokens.accept(";");
    this.#scope.tables.set(name, { kind: "bits", values, ...(enumMask !== undefined && { enumMask }) });
  }

  #typedef(): void {
    this.#tokens.take();
    const { type: base, constant } = this.#types.base();
    const isFunction = this.#tokens.peek().kind === "name" && this.#tokens.is("(", 1);
    const { type, name } = this.#types.declarator(base, constant, false);
    if (name === undefined) throw this.#tokens.wrong("a typedef needs a name");
    if (isFunction || this.#tokens.is("(")) this.#types.skipBrackets();
    this.#tokens.expect(";");
    const made = isFunction ? FUNCTION_TYPE : flavoured(name, type);
    this.#scope.types.set(name, made);
    if (made.kind === "int" && made.names) this.#scope.tables.set(name, made.names);
  }

  #prototype(): void {
    const tokens = this.#tokens;
    const from = tokens.position;
    const notes = this.#readNotes();
    const { type: base, constant } = this.#types.base();
    if (tokens.accept(";")) return;
    const { at } = tokens.peek();
    const { type, name } = this.#types.declarator(base, constant, false);
    if (name === undefined) throw tokens.wrong("a function's name is expected here");
    if (!tokens.is("("))
      throw tokens.wrong(`"${name}" is no function: only functions, types and flags are declared`);
    const { parameters, isVariadic } = this.#parameters();
    const declaration = tokens.words(from, tokens.position, this.#types.notes);
    const rest = this.#rest(parameters);
    tokens.expect(";");
    if (this.#scope.prototypes.has(name)) throw tokens.wrong(`"${name}" is declared twice`, at);
    this.#scope.prototypes.set(name, {
      name,
      result: this.#parameter("return", type, false, notes, parameters, true),
      parameters,
      isVariadic,
      ...rest,
      declaration,
      ...(this.#header !== undefined && { header: this.#header }),
      ...(this.#modules && { modules: this.#modules }),
    });
  }

  #parameters(): { parameters: readonly Parameter[]; isVariadic: boolean } {
    const tokens = this.#tokens;
    tokens.expect("(");
    if (tokens.accept(")")) return { parameters: [], isVariadic: false };
    if (tokens.is("void") && tokens.is(")", 1)) {
      tokens.take();
      tokens.take();
      return { parameters: [], isVariadic: false };
    }
    const read: { name: string; type: CType; isOpen: boolean; notes: Notes }[] = [];
    let isVariadic = false;
    do {
      isVariadic = tokens.accept("...");
      if (isVariadic) break;
      if (read.length >= MAX_PARAMETERS) throw tokens.wrong(`more than ${MAX_PARAMETERS} parameters`);
      const notes = this.#readNotes();
      const { type: base, constant } = this.#types.base();
      const { type, name = `arg${read.length + 1}`, isOpen } = this.#types.declarator(base, constant, true);
      if (read.some((other) => other.name === name))
        throw tokens.wrong(`two parameters are called "${name}"`);
      read.push({ name, type: type.kind === "function" ? pointerTo(type) : type, isOpen, notes });
    } while (tokens.accept(","));
    tokens.expect(")");
    const parameters = read.map(({ name, type, isOpen, notes }) =>
      this.#parameter(name, type, isOpen, notes, read, false),
    );
    return { parameters, isVariadic };
  }

  #parameter(
    name: string,
    type: CType,
    isOpen: boolean,
    { direction, factors }: Notes,
    all: readonly { readonly name: string }[],
    isResult: boolean,
  ): Parameter {
    const length = factors?.map((factor): Factor => this.#factor(factor, all));
    const reads = direction ?? (isResult ? outOf(type) : inOf(type));
    return {
      name,
      type,
      direction: reads,
      ...(length && { length }),
      ...(isOpen && !length && { endsWithNull: true }),
    };
  }

  #factor({ kind, word, at }: FactorWord, all: readonly { readonly name: string }[]): Factor {
    if (kind === "number") return { kind, value: Number(word) };
    if (kind === "result") return { kind, value: 0 };
    const value = all.findIndex((parameter) => parameter.name === word);
    if (value < 0) throw this.#tokens.wrong(`there is no parameter "${word}"`, at);
    return { kind, value };
  }

  /** `in`, `out(count)`, `inout(*length)`. */
  #readNotes(): Notes {
    const tokens = this.#tokens;
    const notes: { -readonly [K in keyof Notes]: Notes[K] } = {};
    for (;;) {
      const from = tokens.position;
      const { text } = tokens.peek();
      if (!DIRECTIONS.has(text) || !(tokens.is("(", 1) || tokens.peek(1).kind === "name")) return notes;
      tokens.take();
      notes.direction = text as "in";
      if (tokens.accept("(")) notes.factors = this.#length();
      for (let i = from; i < tokens.position; i++) this.#types.notes.add(i);
    }
  }

  #length(): FactorWord[] {
    const tokens = this.#tokens;
    const factors: FactorWord[] = [];
    do {
      const isPointed = tokens.accept("*");
      const { kind, text, at } = tokens.take();
      if (kind === "number" && !isPointed) factors.push({ kind: "number", word: text, at });
      else if (kind !== "name") throw tokens.wrong("a parameter, a number or return is expected here", at);
      else if (text === "return") factors.push({ kind: "result", word: text, at });
      else factors.push({ kind: isPointed ? "pointed" : "argument", word: text, at });
    } while (tokens.accept("*"));
    tokens.expect(")");
    return factors;
  }

  #rest(parameters: readonly Parameter[]): Rest {
    const tokens = this.#tokens;
    const rest: Rest = { returns: true };
    while (!tokens.is(";")) {
      const { at } = tokens.peek();
      const word = tokens.name('";"');
      const format = Object.hasOwn(FORMATS, word) ? FORMATS[word] : undefined;
      if (format) rest.more = format;
      else if (word === "noreturn") rest.returns = false;
      else if (word === "fails") rest.fails = this.#failure();
      else if (word === "by") rest.choices = this.#choices(parameters);
      else throw tokens.wrong(`"${word}" is not known here`, at);
    }
    return rest;
  }

  #failure(): Failure {
    const tokens = this.#tokens;
    const { text } = tokens.peek();
    const when = /^(negative|nonzero|nonpositive|errno)$/.test(text) ? (text as Failure["when"]) : "equal";
    if (when !== "equal") tokens.take();
    const isNumber = tokens.peek().kind === "number" || tokens.is("-");
    const value =
      tokens.accept("NULL") || tokens.accept("false")
        ? 0
        : tokens.accept("EOF")
          ? -1
          : isNumber || when === "equal"
            ? this.#types.constant()
            : when === "nonzero"
              ? 1
              : -1;
    return { when, value, errno: tokens.accept("errno") || when === "errno" };
  }

  /** `by flags { O_CREAT, O_TMPFILE: mode_t mode; }` */
  #choices(parameters: readonly Parameter[]): NonNullable<Prototype["choices"]> {
    const tokens = this.#tokens;
    const { at } = tokens.peek();
    const name = tokens.name("a parameter");
    const by = parameters.findIndex((parameter) => parameter.name === name);
    if (by < 0) throw tokens.wrong(`there is no parameter "${name}"`, at);
    const { type } = parameters[by]!;
    const names = type.kind === "int" ? type.names?.values : undefined;
    const list: Choice[] = [];
    tokens.expect("{");
    while (!tokens.accept("}")) {
      const values: number[] = [];
      do values.push(this.#choiceValue(names));
      while (tokens.accept(","));
      tokens.expect(":");
      const notes = this.#readNotes();
      const { type: base, constant } = this.#types.base();
      const declared = this.#types.declarator(base, constant, true);
      const { name: argument = "more", isOpen } = declared;
      tokens.expect(";");
      list.push({
        values,
        parameter: this.#parameter(argument, declared.type, isOpen, notes, parameters, false),
      });
    }
    return { by, list };
  }

  #choiceValue(names: FlagTable["values"] | undefined): number {
    const { kind, text } = this.#tokens.peek();
    if (kind !== "name" || !names || !Object.hasOwn(names, text)) return this.#types.constant();
    this.#tokens.take();
    return names[text]!;
  }
}

/** Types whose values read otherwise than others of their size. */
function flavoured(name: string, type: CType): CType {
  if (type.kind !== "int") return type;
  if (name === "mode_t") return { ...type, reads: "octal" };
  if (name === "wchar_t") return { ...type, reads: "wide" };
  return type;
}
