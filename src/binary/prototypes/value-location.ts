import { alignOf, type CType, type Prototype, type StructType, sizeOf } from "./types.js";

/** Where the eightbytes of a value are: words (rdi, rsi, rdx, rcx, r8, r9, then the stack) or vectors (xmm0…7). */
export interface ValueLocation {
  readonly parts: readonly LocationPart[];
}

export interface LocationPart {
  readonly kind: "word" | "vector";
  readonly index: number;
}

/** How many words are registers; those from here on are the stack's. */
const WORDS = 6;
const VECTORS = 8;

/** Gives out places in the order of arguments, as the System V ABI does (x86_64, 3.2.3). */
export class LocationAllocator {
  #words = 0;
  #vectors = 0;
  #stack = 0;

  /** Of a prototype's own arguments; what follows them in a variadic call is asked for one by one. */
  static of(prototype: Prototype): { places: readonly ValueLocation[]; rest: LocationAllocator } {
    const rest = new LocationAllocator();
    if (isInMemory(prototype.result.type)) rest.#words = 1;
    return { places: prototype.parameters.map(({ type }) => rest.next(type)), rest };
  }

  copy(): LocationAllocator {
    const copy = new LocationAllocator();
    copy.#words = this.#words;
    copy.#vectors = this.#vectors;
    copy.#stack = this.#stack;
    return copy;
  }

  next(type: CType): ValueLocation {
    const classes = classesOf(type);
    const words = classes?.filter((kind) => kind === "word").length ?? 0;
    const vectors = (classes?.length ?? 0) - words;
    if (!classes || this.#words + words > WORDS || this.#vectors + vectors > VECTORS)
      return this.#onStack(type);
    return {
      parts: classes.map((kind) => ({ kind, index: kind === "word" ? this.#words++ : this.#vectors++ })),
    };
  }

  #onStack(type: CType): ValueLocation {
    if (alignOf(type) > 8) this.#stack += this.#stack % 2;
    const count = Math.max(1, Math.ceil(sizeOf(type) / 8));
    const from = WORDS + this.#stack;
    this.#stack += count;
    return { parts: Array.from({ length: count }, (_, i) => ({ kind: "word", index: from + i })) };
  }
}

/** Which kind of register each eightbyte takes; undefined for what is passed in memory. */
function classesOf(type: CType): LocationPart["kind"][] | undefined {
  if (type.kind === "float") return type.size === 16 ? undefined : ["vector"];
  if (type.kind !== "struct") return ["word"];
  if (type.size > 16 || type.size === 0) return undefined;
  const classes: LocationPart["kind"][] = Array.from({ length: Math.ceil(type.size / 8) }, () => "vector");
  return mark(type, 0, classes) ? classes : undefined;
}

/** An integer anywhere in an eightbyte makes it one of integers. False when there is a long double. */
function mark(type: CType, offset: number, classes: LocationPart["kind"][]): boolean {
  if (type.kind === "struct")
    return (type.fields ?? []).every((field) => mark(field.type, offset + field.offset, classes));
  if (type.kind === "array") {
    const size = sizeOf(type.of);
    for (let i = 0; i < type.length; i++) if (!mark(type.of, offset + i * size, classes)) return false;
    return true;
  }
  if (type.kind === "float") return type.size !== 16;
  classes[offset >> 3] = "word";
  return true;
}

/** The caller gives such a result's address as a hidden first argument. */
export function isInMemory(type: CType): type is StructType {
  return type.kind === "struct" && classesOf(type) === undefined;
}
