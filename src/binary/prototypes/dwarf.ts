import type { Elf } from "../elf/index.js";
import { inOf } from "./direction.js";
import { type DwarfEntry, DwarfReader, type Unit } from "./dwarf-reader.js";
import {
  type CType,
  type Field,
  FUNCTION_TYPE,
  type IntType,
  isCharPointer,
  type Parameter,
  type Prototype,
  pointerTo,
  type StructType,
  VOID_TYPE,
} from "./types.js";
import { declarationOf } from "./write.js";

const TAG = {
  array: 0x01,
  class: 0x02,
  enumeration: 0x04,
  formalParameter: 0x05,
  pointer: 0x0f,
  reference: 0x10,
  structure: 0x13,
  subroutine: 0x15,
  typedef: 0x16,
  union: 0x17,
  unspecifiedParameters: 0x18,
  subrange: 0x21,
  baseType: 0x24,
  constType: 0x26,
  enumerator: 0x28,
  member: 0x0d,
  namespace: 0x39,
  subprogram: 0x2e,
  volatile: 0x35,
  restrict: 0x37,
  rvalueReference: 0x42,
  atomic: 0x47,
} as const;

const AT = {
  sibling: 0x01,
  name: 0x03,
  byteSize: 0x0b,
  upperBound: 0x2f,
  abstractOrigin: 0x31,
  declaration: 0x3c,
  encoding: 0x3e,
  count: 0x37,
  constValue: 0x1c,
  memberLocation: 0x38,
  specification: 0x47,
  type: 0x49,
  bitSize: 0x0d,
  linkageName: 0x6e,
  prototyped: 0x27,
  noreturn: 0x87,
} as const;

const WANTED = new Set<number>(Object.values(AT));
const INDEXED = new Set<number>([
  AT.sibling,
  AT.name,
  AT.linkageName,
  AT.declaration,
  AT.specification,
  AT.abstractOrigin,
]);
const CHAR_ENCODINGS = new Set([6, 8]);
const SIGNED_ENCODINGS = new Set([5, 6, 13]);
const FLOAT = 4;
const BOOLEAN = 2;
const UTF = 16;

/** Debug information beyond this is not looked through: it would take minutes. */
const MAX_INFO = 192 << 20;
const MAX_DEPTH = 32;
const MAX_CHILDREN = 4096;
const MAX_STEPS = 200_000;

/** The prototypes of a file's functions, out of its debug information or that of its separate debug file. */
export class DwarfPrototypes {
  readonly #reader: DwarfReader;
  /** Where each function is described. */
  #index: Map<string, number> | undefined;
  #units: Unit[] = [];
  readonly #types = new Map<number, CType>();
  #steps = 0;
  /** Why it ends before its end, when it does. */
  problem: string | undefined;

  constructor(reader: DwarfReader) {
    this.#reader = reader;
  }

  static of(elf: Elf): DwarfPrototypes | undefined {
    const file = hasInfo(elf) ? elf : elf.debugFile;
    if (!file || !hasInfo(file)) return undefined;
    const bytes = (name: string) => {
      const section = file.section(name);
      return section ? file.bytes(section) : new Uint8Array(0);
    };
    return new DwarfPrototypes(
      new DwarfReader({
        info: bytes(".debug_info"),
        abbrev: bytes(".debug_abbrev"),
        str: bytes(".debug_str"),
        lineStr: bytes(".debug_line_str"),
        strOffsets: bytes(".debug_str_offsets"),
      }),
    );
  }

  names(): string[] {
    return [...this.#functions().keys()];
  }

  of(name: string): Prototype | undefined {
    const offset = this.#functions().get(name);
    if (offset === undefined) return undefined;
    this.#steps = 0;
    try {
      return this.#prototype(name, offset);
    } catch (error) {
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  }

  #functions(): Map<string, number> {
    if (this.#index) return this.#index;
    this.#index = new Map();
    try {
      for (let offset = 0; offset < Math.min(this.#reader.size, MAX_INFO); ) {
        const unit = this.#reader.unit(offset);
        this.#units.push(unit);
        this.#scan(unit, this.#index);
        offset = unit.end;
      }
      if (this.#reader.size > MAX_INFO) this.problem = "there is more of it than is looked through";
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.problem = error.message;
    }
    return this.#index;
  }

  /** Functions of a unit, by name. What is inside of functions is passed over where the file says how. */
  #scan(unit: Unit, into: Map<string, number>): void {
    let depth = 0;
    for (let at = unit.entries; at < unit.end; ) {
      const entry = this.#reader.entry(unit, at, INDEXED);
      if (!entry) {
        depth--;
        at++;
        if (depth <= 0) return;
        continue;
      }
      if (entry.tag === TAG.subprogram) this.#found(entry, into);
      const { hasChildren, next, tag, values } = entry;
      const sibling = values.get(AT.sibling);
      const isOpened = depth === 0 || tag === TAG.namespace || typeof sibling !== "number" || sibling <= at;
      if (!hasChildren) at = next;
      else if (isOpened) {
        at = next;
        depth++;
      } else at = sibling;
    }
  }

  #found(entry: DwarfEntry, into: Map<string, number>): void {
    const linkage = entry.values.get(AT.linkageName);
    const name = typeof linkage === "string" ? linkage : entry.values.get(AT.name);
    // What is only declared here is another file's.
    if (typeof name === "string" && !entry.values.has(AT.declaration)) into.set(name, entry.offset);
  }

  // ---------------------------------------------------------------- one function

  #unitOf(offset: number): Unit {
    let low = 0;
    let high = this.#units.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#units[middle]!.offset <= offset) low = middle;
      else high = middle - 1;
    }
    const unit = this.#units[low];
    if (!unit || offset < unit.entries || offset >= unit.end)
      throw new RangeError("a reference leads nowhere");
    return unit;
  }

  #entry(offset: number): DwarfEntry {
    if (++this.#steps > MAX_STEPS) throw new RangeError("it is too entangled");
    const entry = this.#reader.entry(this.#unitOf(offset), offset, WANTED);
    if (!entry) throw new RangeError("a reference leads nowhere");
    return entry;
  }

  #children(parent: DwarfEntry): DwarfEntry[] {
    if (!parent.hasChildren) return [];
    const unit = this.#unitOf(parent.offset);
    const found: DwarfEntry[] = [];
    let depth = 0;
    for (let at = parent.next; at < unit.end; ) {
      if (++this.#steps > MAX_STEPS) throw new RangeError("it is too entangled");
      const entry = this.#reader.entry(unit, at, WANTED);
      if (!entry) {
        if (depth-- === 0) break;
        at++;
        continue;
      }
      if (depth === 0) found.push(entry);
      if (found.length > MAX_CHILDREN) break;
      const sibling = entry.values.get(AT.sibling);
      if (!entry.hasChildren) at = entry.next;
      else if (typeof sibling === "number" && sibling > at) at = sibling;
      else {
        at = entry.next;
        depth++;
      }
    }
    return found;
  }

  #prototype(name: string, offset: number): Prototype | undefined {
    const entry = this.#entry(offset);
    const children = this.#children(entry);
    // Written in assembler, or in C before it had prototypes: what it takes is not said.
    const isSilent = !entry.values.has(AT.prototyped) && !entry.values.has(AT.type);
    if (isSilent && children.every(({ tag }) => tag !== TAG.formalParameter)) return undefined;
    const parameters: Parameter[] = [];
    for (const child of children) {
      if (child.tag !== TAG.formalParameter) continue;
      const own = this.#origin(child);
      const type = decayed(this.#type(own.values.get(AT.type), 0));
      const named = own.values.get(AT.name);
      const free = typeof named === "string" && !parameters.some((other) => other.name === named);
      parameters.push({ name: free ? named : `arg${parameters.length + 1}`, type, direction: inOf(type) });
    }
    const type = this.#type(this.#origin(entry).values.get(AT.type), 0);
    const made = {
      name,
      // Debug information does not say whether the function fills in a struct that it gets a pointer to.
      result: { name: "return", type, direction: isCharPointer(type) ? ("out" as const) : ("none" as const) },
      parameters,
      isVariadic: children.some(({ tag }) => tag === TAG.unspecifiedParameters),
      returns: !entry.values.has(AT.noreturn),
    };
    return { ...made, declaration: declarationOf(made) };
  }

  /** An entry may leave its name and type to another one. */
  #origin(entry: DwarfEntry): DwarfEntry {
    let at = entry;
    for (let i = 0; i < 4; i++) {
      const origin = at.values.get(AT.abstractOrigin) ?? at.values.get(AT.specification);
      if (typeof origin !== "number" || at.values.has(AT.type)) break;
      at = this.#entry(origin);
    }
    return at;
  }

  // ---------------------------------------------------------------- types

  #type(offset: number | string | undefined, depth: number): CType {
    if (typeof offset !== "number") return VOID_TYPE;
    const known = this.#types.get(offset);
    if (known) return known;
    if (depth > MAX_DEPTH) throw new RangeError("types are nested too deeply");
    const type = this.#make(this.#entry(offset), depth);
    this.#types.set(offset, type);
    return type;
  }

  #make(entry: DwarfEntry, depth: number): CType {
    const inner = () => this.#type(entry.values.get(AT.type), depth + 1);
    switch (entry.tag) {
      case TAG.baseType:
        return baseType(entry);
      case TAG.typedef:
        return flavoured(String(entry.values.get(AT.name) ?? ""), inner());
      case TAG.constType:
      case TAG.volatile:
      case TAG.restrict:
      case TAG.atomic:
        return inner();
      case TAG.pointer:
      case TAG.reference:
      case TAG.rvalueReference:
        return pointerTo(inner(), this.#isConstant(entry.values.get(AT.type)));
      case TAG.structure:
      case TAG.class:
      case TAG.union:
        return this.#struct(entry, depth);
      case TAG.enumeration:
        return this.#enumeration(entry);
      case TAG.array:
        return this.#array(entry, inner());
      case TAG.subroutine:
        return FUNCTION_TYPE;
      default:
        return VOID_TYPE;
    }
  }

  #isConstant(offset: number | string | undefined): boolean {
    let at = offset;
    for (let i = 0; i < 8 && typeof at === "number"; i++) {
      const { tag, values } = this.#entry(at);
      if (tag === TAG.constType) return true;
      if (tag !== TAG.typedef && tag !== TAG.volatile && tag !== TAG.restrict) return false;
      at = values.get(AT.type);
    }
    return false;
  }

  #struct(entry: DwarfEntry, depth: number): StructType {
    const size = Number(entry.values.get(AT.byteSize) ?? 0);
    const made: StructType = {
      kind: "struct",
      name: String(entry.values.get(AT.name) ?? ""),
      isUnion: entry.tag === TAG.union,
      fields: undefined,
      size: size < 1 << 24 ? size : 0,
      align: 8,
    };
    // Before its fields are known: they may point back.
    this.#types.set(entry.offset, made);
    if (entry.values.has(AT.declaration)) return made;
    const fields: Field[] = [];
    for (const { tag, values } of this.#children(entry)) {
      const name = values.get(AT.name);
      // Of a bit field neither width nor place is worth the trouble.
      if (tag !== TAG.member || typeof name !== "string" || values.has(AT.bitSize)) continue;
      const at = values.get(AT.memberLocation) ?? 0;
      const type = this.#type(values.get(AT.type), depth + 1);
      if (typeof at === "number" && at >= 0 && at <= made.size) fields.push({ name, type, offset: at });
    }
    made.fields = fields;
    return made;
  }

  #enumeration(entry: DwarfEntry): IntType {
    const values: Record<string, number> = {};
    for (const child of this.#children(entry)) {
      const name = child.values.get(AT.name);
      const value = child.values.get(AT.constValue);
      if (child.tag === TAG.enumerator && typeof name === "string" && typeof value === "number")
        values[name] = value;
    }
    const size = Number(entry.values.get(AT.byteSize) ?? 4);
    return {
      kind: "int",
      size: size === 1 || size === 2 || size === 8 ? size : 4,
      signed: Object.values(values).some((value) => value < 0),
      names: { kind: "enum", values },
    };
  }

  #array(entry: DwarfEntry, of: CType): CType {
    const lengths = this.#children(entry)
      .filter(({ tag }) => tag === TAG.subrange)
      .map(({ values }) => {
        const upper = values.get(AT.upperBound);
        const count = values.get(AT.count);
        const length = typeof count === "number" ? count : typeof upper === "number" ? upper + 1 : 0;
        return length >= 0 && length < 1 << 24 ? length : 0;
      });
    return lengths.reduceRight<CType>((inner, length) => ({ kind: "array", of: inner, length }), of);
  }
}

function hasInfo(elf: Elf): boolean {
  return (elf.section(".debug_info")?.size ?? 0) > 0 && elf.section(".debug_abbrev") !== undefined;
}

function decayed(type: CType): CType {
  if (type.kind === "array") return pointerTo(type.of);
  return type.kind === "function" ? pointerTo(type) : type;
}

function baseType({ values }: DwarfEntry): CType {
  const size = Number(values.get(AT.byteSize) ?? 4);
  const encoding = Number(values.get(AT.encoding) ?? 5);
  if (encoding === FLOAT) return { kind: "float", size: size === 4 || size === 16 ? size : 8 };
  const name = values.get(AT.name);
  const reads =
    encoding === BOOLEAN ? "bool" : CHAR_ENCODINGS.has(encoding) && name === "char" ? "char" : undefined;
  return {
    kind: "int",
    size: size === 1 || size === 2 || size === 8 ? size : 4,
    signed: SIGNED_ENCODINGS.has(encoding),
    ...(reads ? { reads } : encoding === UTF && size === 4 ? { reads: "wide" as const } : {}),
  };
}

/** As types that a text declares. */
function flavoured(name: string, type: CType): CType {
  if (type.kind !== "int" || type.names) return type;
  if (name === "mode_t") return { ...type, reads: "octal" };
  return name === "wchar_t" ? { ...type, reads: "wide" } : type;
}
