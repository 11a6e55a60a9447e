import { printfArguments, scanfArguments } from "./format.js";
import {
  type CType,
  type Factor,
  type Failure,
  type Parameter,
  type Prototype,
  pointerTo,
  sizeOf,
} from "./types.js";
import { isInMemory, LocationAllocator, type LocationPart, type ValueLocation } from "./value-location.js";
import { Cut, type CValue, type ReadMemory, ValueReader } from "./values.js";

/** A call as it was made: the registers at the function's first instruction, and the caller's memory. */
export interface RawCall {
  /** rdi, rsi, rdx, rcx, r8, r9, then the words of the stack above the return address. */
  word(i: number): bigint;
  /** The low 64 bits of xmm0…7. */
  vector(i: number): bigint;
  readonly read: ReadMemory;
}

/** What the function left behind. */
export interface Result {
  /** rax and rdx. */
  readonly words: readonly [bigint, bigint];
  /** xmm0 and xmm1, their low 64 bits. */
  readonly vectors: readonly [bigint, bigint];
}

/** The arguments that have no names: of printf, of execl. */
export const MORE = "...";

interface Plan {
  readonly places: readonly ValueLocation[];
  readonly rest: LocationAllocator;
}

const plans = new WeakMap<Prototype, Plan>();

function planOf(prototype: Prototype): Plan {
  let plan = plans.get(prototype);
  if (!plan) {
    plan = LocationAllocator.of(prototype);
    plans.set(prototype, plan);
  }
  return plan;
}

/** Reads the arguments and the result of one call by its prototype. */
export class CallReader {
  readonly prototype: Prototype;
  readonly #frame: RawCall;
  readonly #plan: Plan;
  readonly #values: ValueReader;
  readonly #result: Result | undefined;
  readonly #failed: boolean;

  /** With a result, what the function has put out is read as well. */
  constructor(prototype: Prototype, frame: RawCall, limit: number, result?: Result) {
    this.prototype = prototype;
    this.#frame = frame;
    this.#plan = planOf(prototype);
    this.#values = new ValueReader(frame.read, limit);
    this.#result = result;
    this.#failed = result !== undefined && this.failed(result);
  }

  /** One of the named arguments. */
  argument(i: number): CValue {
    return this.#argument(this.prototype.parameters[i]!, this.#plan.places[i]!);
  }

  /** The type and the value of each argument that follows the named ones, where the prototype says. */
  more(): { parameter: Parameter; value: CValue }[] {
    const { more, choices } = this.prototype;
    const rest = this.#plan.rest.copy();
    const next = (parameter: Parameter) => ({
      parameter,
      value: this.#argument(parameter, rest.next(parameter.type)),
    });
    if (choices) return this.#chosen().map(next);
    if (more === "strings") return this.#strings(rest);
    return more === undefined ? [] : this.#formatted(more, rest);
  }

  result(): CValue {
    const { type, direction, length } = this.prototype.result;
    if (!this.#result || type.kind === "void") return null;
    if (isInMemory(type)) {
      const bytes = this.#frame.read(this.#result.words[0], type.size);
      return bytes?.length === type.size ? this.#values.of(type, Buffer.from(bytes)) : null;
    }
    // In an x87 register, which HERMES does not fetch.
    if (type.kind === "float" && type.size === 16) return null;
    const counts = { word: 0, vector: 0 };
    const bytes = Buffer.concat(
      new LocationAllocator().next(type).parts.map(({ kind }) => {
        const { words, vectors } = this.#result!;
        return bits((kind === "word" ? words : vectors)[counts[kind]++]!);
      }),
    );
    const value = this.#values.of(type, bytes);
    if (type.kind !== "pointer" || typeof value !== "bigint" || direction === "none") return value;
    return this.#values.pointed(type.to, value, length && this.#count(length), false);
  }

  /** Whether a result means that the function failed. */
  failed({ words: [word] }: Result): boolean {
    const { fails, result } = this.prototype;
    if (!fails || result.type.kind === "void" || result.type.kind === "struct") return false;
    const size = sizeOf(result.type);
    const isSigned = result.type.kind === "int" && result.type.signed;
    const value = size < 8 || isSigned ? BigInt.asIntN(size * 8, word) : BigInt.asIntN(64, word);
    return means(fails, value);
  }

  /** Whether the result that it was given means a failure. */
  get isFailure(): boolean {
    return this.#failed;
  }

  /** An errno that the result itself is. */
  get errno(): number | undefined {
    if (!this.#failed || this.prototype.fails?.when !== "errno") return undefined;
    return Number(BigInt.asIntN(32, this.#result!.words[0]));
  }

  /** Where argument i is, for a caller that changes it; undefined when it takes more than one register. */
  place(i: number): LocationPart | undefined {
    const { parts } = this.#plan.places[i] ?? { parts: [] };
    return parts.length === 1 ? parts[0] : undefined;
  }

  #bytes({ parts }: ValueLocation): Buffer {
    return Buffer.concat(
      parts.map(({ kind, index }) =>
        bits(kind === "word" ? this.#frame.word(index) : this.#frame.vector(index)),
      ),
    );
  }

  #argument(parameter: Parameter, place: ValueLocation): CValue {
    return this.#decoded(parameter, this.#bytes(place));
  }

  #decoded({ type, direction, length, endsWithNull }: Parameter, bytes: Buffer): CValue {
    const value = this.#values.of(type, bytes);
    if (type.kind !== "pointer" || typeof value !== "bigint" || direction === "none") {
      // An array without anything said of it: the words of a command.
      const isList = endsWithNull && typeof value === "bigint" && type.kind === "pointer";
      return isList ? this.#values.pointed(type.to, value, undefined, true) : value;
    }
    if (direction === "out" && (!this.#result || this.#failed)) return value;
    return this.#values.pointed(type.to, value, length && this.#count(length), endsWithNull ?? false);
  }

  #count(factors: readonly Factor[]): number {
    let count = 1;
    for (const { kind, value } of factors) count *= this.#factor(kind, value);
    return count >= 0 && count < 2 ** 31 ? count : 0;
  }

  #factor(kind: Factor["kind"], value: number): number {
    if (kind === "number") return value;
    if (kind === "result") return this.#result ? Number(BigInt.asIntN(64, this.#wordOfResult())) : 0;
    const { type } = this.prototype.parameters[value]!;
    const own = this.#values.of(type, this.#bytes(this.#plan.places[value]!));
    if (kind === "argument") return Number(own);
    return type.kind === "pointer" && typeof own === "bigint"
      ? Number(this.#values.pointed(type.to, own, undefined, false))
      : 0;
  }

  #wordOfResult(): bigint {
    const { type } = this.prototype.result;
    const [word] = this.#result!.words;
    if (type.kind !== "int" || type.size === 8) return word;
    return type.signed ? BigInt.asIntN(type.size * 8, word) : BigInt.asUintN(type.size * 8, word);
  }

  #chosen(): Parameter[] {
    const { by, list } = this.prototype.choices!;
    const { type } = this.prototype.parameters[by]!;
    const selected = Number(this.argument(by));
    const isBits = type.kind === "int" && type.names?.kind === "bits";
    const fits = (value: number) => (isBits ? (selected & value) === value : selected === value);
    const choice = list.find(({ values }) => values.some(fits));
    return choice ? [choice.parameter] : [];
  }

  #strings(rest: LocationAllocator): { parameter: Parameter; value: CValue }[] {
    const found: { parameter: Parameter; value: CValue }[] = [];
    while (found.length < 64) {
      const value = this.#argument(STRING, rest.next(STRING.type));
      found.push({ parameter: STRING, value });
      if (typeof value !== "string") break;
    }
    return found;
  }

  #formatted(
    more: NonNullable<Prototype["more"]>,
    rest: LocationAllocator,
  ): { parameter: Parameter; value: CValue }[] {
    const { parameters, isVariadic } = this.prototype;
    const at = isVariadic ? parameters.length - 1 : parameters.length - 2;
    const format = at >= 0 ? this.argument(at) : undefined;
    if (typeof format !== "string") return [];
    const isScan = more === "scanf";
    const got = isScan ? (this.#result ? Number(BigInt.asIntN(32, this.#result.words[0])) : 0) : 64;
    const list = isVariadic ? undefined : this.#list(at + 1);
    let before: CValue = null;
    return (isScan ? scanfArguments(format) : printfArguments(format)).map(({ type, precision }, i) => {
      const limit = precision === "*" ? Number(before) : precision;
      const parameter: Parameter = {
        name: MORE,
        type: promoted(type),
        direction: i < got ? (isScan ? "out" : "in") : "none",
        ...(limit !== undefined && limit >= 0 && { length: [{ kind: "number", value: limit }] }),
      };
      const bytes = list ? list(parameter.type) : this.#bytes(rest.next(parameter.type));
      const value = narrowed(type, this.#decoded(shortened(parameter), bytes));
      before = value;
      return { parameter, value: cutText(value, limit) };
    });
  }

  /** Arguments out of a va_list, in order. */
  #list(at: number): (type: CType) => Buffer {
    const address = this.#bytes(this.#plan.places[at]!).readBigUInt64LE(0);
    const read = this.#frame.read(address, 24);
    const head = read?.length === 24 ? Buffer.from(read) : Buffer.alloc(24);
    const next = { word: head.readUInt32LE(0), vector: head.readUInt32LE(4) };
    let overflow = head.readBigUInt64LE(8);
    const saved = head.readBigUInt64LE(16);
    return (type) => {
      const kind = type.kind === "float" ? "vector" : "word";
      const isSaved = sizeOf(type) <= 8 && next[kind] < (kind === "word" ? 48 : 176);
      const place = isSaved ? saved + BigInt(next[kind]) : overflow;
      if (isSaved) next[kind] += kind === "word" ? 8 : 16;
      else overflow += BigInt(Math.max(8, sizeOf(type)));
      const bytes = Buffer.alloc(16);
      const found = this.#frame.read(place, Math.max(8, sizeOf(type)));
      if (found) bytes.set(found);
      return bytes;
    };
  }
}

const STRING: Parameter = {
  name: MORE,
  type: pointerTo({ kind: "int", size: 1, signed: true, reads: "char" }, true),
  direction: "in",
};

/** A char behind a format is passed as an int, and read as one. */
function promoted(type: CType): CType {
  return type.kind === "int" && type.size < 4
    ? { kind: "int", size: 4, signed: true, ...(type.reads && { reads: type.reads }) }
    : type;
}

function narrowed(type: CType, value: CValue): CValue {
  if (type.kind !== "int" || type.size >= 4 || typeof value !== "number") return value;
  const bits = 8 * type.size;
  return Number(type.signed ? BigInt.asIntN(bits, BigInt(value)) : BigInt.asUintN(bits, BigInt(value)));
}

/** The length behind a precision is the most that is printed: the text may end before. */
function shortened({ length: _, ...parameter }: Parameter): Parameter {
  return parameter;
}

function cutText(value: CValue, limit: number | undefined): CValue {
  if (limit === undefined || limit < 0) return value;
  if (typeof value === "string") return value.slice(0, limit);
  return value instanceof Cut ? new Cut(value.start.subarray(0, limit), value.length, value.isText) : value;
}

function means({ when, value }: Failure, result: bigint): boolean {
  switch (when) {
    case "equal":
      return result === BigInt(value);
    case "negative":
      return result < 0n;
    case "nonpositive":
      return result <= 0n;
    default:
      return result !== 0n;
  }
}

function bits(word: bigint): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigUInt64LE(BigInt.asUintN(64, word));
  return bytes;
}
