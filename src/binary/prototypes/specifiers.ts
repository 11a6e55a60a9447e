import type { FlagTable } from "../../abi/flags.js";
import type { DeclarationScope } from "./scope.js";
import type { CTokens } from "./tokens.js";
import {
  type CType,
  FUNCTION_TYPE,
  type IntType,
  layOut,
  pointerTo,
  type StructType,
  VOID_TYPE,
} from "./types.js";

const IGNORED = new Set([
  "extern",
  "static",
  "inline",
  "volatile",
  "restrict",
  "register",
  "__restrict",
  "__restrict__",
  "__extension__",
  "__inline",
  "_Noreturn",
]);
const BASIC = new Set([
  "void",
  "char",
  "short",
  "int",
  "long",
  "signed",
  "unsigned",
  "float",
  "double",
  "_Bool",
  "bool",
]);

/** A type and its name, where it has one: `const char *path`, `int (*compare)(const void *, const void *)`. */
interface Declared {
  readonly type: CType;
  readonly name: string | undefined;
  /** Written as an array without a length: `char *const argv[]`. */
  readonly isOpen: boolean;
}

/** A table; signals and errors have theirs already. */
type Names = FlagTable | "signal" | "errno";

const MAX_NESTED = 16;
const MAX_ARRAY = 1 << 20;

/** Reads types. What a declaration means beyond its types is the parser's. */
export class TypeReader {
  readonly #tokens: CTokens;
  readonly #scope: DeclarationScope;
  #depth = 0;
  /** Words that are not C. */
  readonly notes = new Set<number>();

  constructor(tokens: CTokens, scope: DeclarationScope) {
    this.#tokens = tokens;
    this.#scope = scope;
  }

  /** The words before the name: `const struct tm`, `unsigned long`. */
  base(): { type: CType; constant: boolean } {
    const words: string[] = [];
    let constant = false;
    let type: CType | undefined;
    let names: Names | undefined;
    for (;;) {
      const token = this.#tokens.peek();
      if (token.kind !== "name") break;
      if (token.text === "names" && this.#tokens.is("(", 1)) {
        names = this.#names();
        continue;
      }
      if (token.text === "const" || token.text === "__const") constant = true;
      else if (BASIC.has(token.text)) words.push(token.text);
      else if (/^(struct|union|enum)$/.test(token.text) && words.length === 0 && !type) {
        type = this.#tagged();
        continue;
      } else if (!IGNORED.has(token.text)) {
        if (type || words.length > 0) break;
        type = this.#scope.type(token.text);
        if (!type) throw this.#tokens.wrong(`the type "${token.text}" is not known`);
      }
      this.#tokens.take();
    }
    type ??= words.length > 0 ? this.#basic(words) : undefined;
    if (!type) throw this.#tokens.wrong(`a type is expected here, not "${this.#tokens.peek().text}"`);
    return { type: named(type, names), constant };
  }

  /** `names(open)`: the values of what follows are called so. */
  #names(): Names {
    const from = this.#tokens.position;
    this.#tokens.take();
    this.#tokens.expect("(");
    const { at } = this.#tokens.peek();
    const name = this.#tokens.name("the name of flags or of an enum");
    const known = name === "signal" || name === "errno" ? name : this.#scope.table(name);
    if (!known) throw this.#tokens.wrong(`there are no flags and no enum "${name}"`, at);
    this.#tokens.expect(")");
    for (let i = from; i < this.#tokens.position; i++) this.notes.add(i);
    return known;
  }

  #basic(words: readonly string[]): CType {
    const has = (word: string) => words.includes(word);
    const longs = words.filter((word) => word === "long").length;
    if (has("void")) return VOID_TYPE;
    if (has("float")) return { kind: "float", size: 4 };
    if (has("double")) return { kind: "float", size: longs > 0 ? 16 : 8 };
    if (has("bool") || has("_Bool")) return { kind: "int", size: 1, signed: false, reads: "bool" };
    const signed = !has("unsigned");
    if (has("char"))
      return has("signed") || has("unsigned")
        ? { kind: "int", size: 1, signed }
        : { kind: "int", size: 1, signed, reads: "char" };
    return { kind: "int", size: longs > 0 ? 8 : has("short") ? 2 : 4, signed };
  }

  #tagged(): CType {
    const kind = this.#tokens.take().text;
    const name = this.#tokens.peek().kind === "name" ? this.#tokens.take().text : "";
    if (kind === "enum") return this.#enumeration(name);
    const tag = `${kind} ${name}`;
    const isBody = this.#tokens.is("{");
    const known = name === "" ? undefined : this.#scope.tag(tag);
    if (known?.kind === "struct" && !(isBody && known.fields)) return this.#body(known);
    const made: StructType = {
      kind: "struct",
      name,
      isUnion: kind === "union",
      fields: undefined,
      size: 0,
      align: 1,
    };
    if (name !== "") this.#scope.tags.set(tag, made);
    return this.#body(made);
  }

  #body(type: StructType): StructType {
    if (!this.#tokens.accept("{")) return type;
    if (++this.#depth > MAX_NESTED) throw this.#tokens.wrong("structs are nested too deeply");
    const members: { name: string; type: CType }[] = [];
    while (!this.#tokens.accept("}")) {
      const { type: base, constant } = this.base();
      do {
        const { type: member, name } = this.declarator(base, constant, false);
        if (this.#tokens.is(":")) throw this.#tokens.wrong("bit fields are not known here: use an integer");
        if (member.kind === "struct" && !member.fields)
          throw this.#tokens.wrong(`struct ${member.name} is not known in full: it has no size`);
        members.push({ name: name ?? "", type: member });
      } while (this.#tokens.accept(","));
      this.#tokens.expect(";");
    }
    this.#depth--;
    layOut(type, members);
    return type;
  }

  #enumeration(name: string): IntType {
    if (!this.#tokens.is("{")) {
      const known = this.#scope.tag(`enum ${name}`);
      if (known?.kind !== "int") throw this.#tokens.wrong(`enum ${name} is not known`);
      return known;
    }
    const values = this.values();
    const signed = Object.values(values).some((value) => value < 0);
    const names = { kind: "enum", values } as const;
    const made: IntType = { kind: "int", size: 4, signed, names };
    if (name !== "") {
      this.#scope.tags.set(`enum ${name}`, made);
      this.#scope.tables.set(name, names);
    }
    return made;
  }

  /** `{ A, B = 4, C = A | B }`. */
  values(): Record<string, number> {
    const values: Record<string, number> = {};
    let next = 0;
    this.#tokens.expect("{");
    while (!this.#tokens.accept("}")) {
      const name = this.#tokens.name("a name");
      const value = this.#tokens.accept("=") ? this.constant() : next;
      values[name] = value;
      this.#scope.constants.set(name, value);
      next = value + 1;
      if (!this.#tokens.is("}")) this.#tokens.expect(",");
    }
    return values;
  }

  constant(): number {
    let value = BigInt(this.#shifted());
    while (this.#tokens.accept("|")) value |= BigInt(this.#shifted());
    return Number(value);
  }

  #shifted(): number {
    let value = this.#primary();
    while (this.#tokens.accept("<<")) value *= 2 ** Math.min(63, this.#primary());
    return value;
  }

  #primary(): number {
    if (this.#tokens.accept("-")) return -this.#primary();
    if (this.#tokens.accept("(")) {
      if (++this.#depth > MAX_NESTED) throw this.#tokens.wrong("brackets are nested too deeply");
      const inner = this.constant();
      this.#tokens.expect(")");
      this.#depth--;
      return inner;
    }
    const token = this.#tokens.peek();
    if (token.kind === "number") return Number(octal(this.#tokens.take().text));
    const named = token.kind === "name" ? this.#scope.constant(token.text) : undefined;
    if (named === undefined) throw this.#tokens.wrong(`a number is expected here, not "${token.text}"`);
    this.#tokens.take();
    return named;
  }

  /** The rest of a declaration: `*const name[4]`. In a list of parameters arrays and functions are pointers. */
  declarator(base: CType, baseConstant: boolean, isParameter: boolean): Declared {
    let type = base;
    let constant = baseConstant;
    while (this.#tokens.accept("*")) {
      type = pointerTo(type, constant);
      constant = false;
      for (;;) {
        const { text } = this.#tokens.peek();
        if (text === "const" || text === "__const") constant = true;
        else if (!IGNORED.has(text)) break;
        this.#tokens.take();
      }
    }
    if (this.#tokens.is("(") && this.#tokens.is("*", 1)) return this.#functionPointer();
    const name = this.#tokens.peek().kind === "name" ? this.#tokens.take().text : undefined;
    return this.#arrays(type, constant, name, isParameter);
  }

  #arrays(base: CType, constant: boolean, name: string | undefined, isParameter: boolean): Declared {
    const lengths: number[] = [];
    let isOpen = false;
    while (this.#tokens.accept("[")) {
      for (; IGNORED.has(this.#tokens.peek().text); ) this.#tokens.take();
      isOpen = this.#tokens.is("]");
      lengths.push(isOpen ? 0 : this.constant());
      if (!(lengths.at(-1)! >= 0 && lengths.at(-1)! <= MAX_ARRAY))
        throw this.#tokens.wrong("an array cannot be that long");
      this.#tokens.expect("]");
    }
    if (lengths.length === 0) return { type: base, name, isOpen };
    const inner = lengths
      .slice(isParameter ? 1 : 0)
      .reduceRight<CType>((of, length) => ({ kind: "array", of, length }), base);
    return { type: isParameter ? pointerTo(inner, constant) : inner, name, isOpen };
  }

  /** Only that it is one matters, not of what: `void (*name)(int)`, `int (*table[4])(void)`. */
  #functionPointer(): Declared {
    this.#tokens.expect("(");
    while (this.#tokens.accept("*"));
    for (; this.#tokens.is("const") || IGNORED.has(this.#tokens.peek().text); ) this.#tokens.take();
    const name = this.#tokens.peek().kind === "name" ? this.#tokens.take().text : undefined;
    const declared = this.#arrays(pointerTo(FUNCTION_TYPE), false, name, false);
    this.#tokens.expect(")");
    this.skipBrackets();
    return declared;
  }

  skipBrackets(): void {
    const { at } = this.#tokens.peek();
    this.#tokens.expect("(");
    for (let open = 1; open > 0; ) {
      const token = this.#tokens.take();
      if (token.kind === "end") throw this.#tokens.wrong('this "(" is never closed', at);
      if (token.text === "(") open++;
      else if (token.text === ")") open--;
    }
  }
}

function octal(text: string): string {
  return /^0\d/.test(text) ? `0o${text.slice(1)}` : text;
}

function named(type: CType, names: Names | undefined): CType {
  if (!names || type.kind !== "int") return type;
  return typeof names === "string" ? { ...type, reads: names } : { ...type, names };
}
