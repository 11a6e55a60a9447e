import type { FlagTable } from "../../abi/flags.js";

/** C types, as far as they decide where a value lies and how it reads. Sizes are those of x86_64 Linux. */
export type CType = VoidType | IntType | FloatType | PointerType | ArrayType | StructType | FunctionType;

interface VoidType {
  readonly kind: "void";
}

export interface IntType {
  readonly kind: "int";
  readonly size: 1 | 2 | 4 | 8;
  readonly signed: boolean;
  /** How it reads, where that is not a decimal number. */
  readonly reads?: "char" | "wide" | "octal" | "bool" | "signal" | "errno";
  /** Its values have names. */
  readonly names?: FlagTable;
}

interface FloatType {
  readonly kind: "float";
  readonly size: 4 | 8 | 16;
}

interface PointerType {
  readonly kind: "pointer";
  readonly to: CType;
  /** What it points to is not changed through it. */
  readonly constant: boolean;
}

interface ArrayType {
  readonly kind: "array";
  readonly of: CType;
  readonly length: number;
}

export interface StructType {
  readonly kind: "struct";
  readonly name: string;
  readonly isUnion: boolean;
  /** Undefined while only its name is known: then it can only be pointed to. */
  fields: readonly Field[] | undefined;
  size: number;
  align: number;
}

export interface Field {
  readonly name: string;
  readonly type: CType;
  readonly offset: number;
}

interface FunctionType {
  readonly kind: "function";
}

/** How many bytes lie behind a pointer: a product of arguments, of what they point to, of the result, of numbers. */
export interface Factor {
  readonly kind: "argument" | "pointed" | "result" | "number";
  /** Which argument, or the number. */
  readonly value: number;
}

export interface Parameter {
  readonly name: string;
  readonly type: CType;
  /** When what it points to is worth reading: before the call, after it, both, or never. */
  readonly direction: "in" | "out" | "inout" | "none";
  /** How many elements it points to. */
  readonly length?: readonly Factor[];
  /** It points to pointers, the last of which is NULL. */
  readonly endsWithNull?: true;
}

/** An argument that is there, and of this type, when an earlier one has one of these values (or one of these bits). */
export interface Choice {
  readonly values: readonly number[];
  readonly parameter: Parameter;
}

/** Which results mean that the function failed, and what a refused call returns. */
export interface Failure {
  readonly when: "equal" | "negative" | "nonzero" | "nonpositive" | "errno";
  readonly value: number;
  /** Whether the reason is in errno. */
  readonly errno: boolean;
}

export interface Prototype {
  readonly name: string;
  readonly result: Parameter;
  readonly parameters: readonly Parameter[];
  readonly isVariadic: boolean;
  /** What the arguments behind the named ones are. */
  readonly more?: "printf" | "scanf" | "wide printf" | "strings";
  readonly choices?: { readonly by: number; readonly list: readonly Choice[] };
  readonly fails?: Failure;
  readonly returns: boolean;
  /** In plain C, as it was written. */
  readonly declaration: string;
  /** The system's header that declares it. */
  readonly header?: string;
  /** The modules that it is a function of; any when absent. */
  readonly modules?: readonly string[];
}

export const VOID_TYPE: VoidType = { kind: "void" };
export const FUNCTION_TYPE: FunctionType = { kind: "function" };

export function pointerTo(to: CType, constant = false): PointerType {
  return { kind: "pointer", to, constant };
}

export function sizeOf(type: CType): number {
  switch (type.kind) {
    case "int":
    case "float":
    case "struct":
      return type.size;
    case "pointer":
      return 8;
    case "array":
      return type.length * sizeOf(type.of);
    // As gcc counts: so that a length of a void * is one of bytes.
    default:
      return 1;
  }
}

export function alignOf(type: CType): number {
  if (type.kind === "array") return alignOf(type.of);
  return type.kind === "struct" ? type.align : sizeOf(type);
}

/** Places fields as the x86_64 ABI does. */
export function layOut(type: StructType, members: readonly { name: string; type: CType }[]): void {
  let offset = 0;
  let size = 0;
  let align = 1;
  const fields = members.map((member) => {
    const needed = alignOf(member.type);
    offset = type.isUnion ? 0 : roundUp(offset, needed);
    const field = { ...member, offset };
    offset += sizeOf(member.type);
    size = Math.max(size, offset);
    align = Math.max(align, needed);
    return field;
  });
  type.fields = fields;
  type.align = align;
  type.size = roundUp(size, align);
}

function roundUp(value: number, to: number): number {
  return Math.ceil(value / to) * to;
}

/** A char * that holds a text, unless something else is said of it. */
export function isCharPointer(type: CType): boolean {
  return type.kind === "pointer" && type.to.kind === "int" && type.to.reads === "char";
}

export function isWideCharPointer(type: CType): boolean {
  return type.kind === "pointer" && type.to.kind === "int" && type.to.reads === "wide";
}
