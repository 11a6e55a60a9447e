import { errnoName, formatFlags, signalName } from "../../abi/index.js";
import { type Address, formatAddress } from "../../nouns/address.js";
import { decodeText } from "../../nouns/text.js";
import { type CallReader, MORE } from "./decode.js";
import type { CType, IntType, Parameter } from "./types.js";
import { Cut, type CValue } from "./values.js";

/** A value as records hold it: JSON, names for numbers, pointers in hex. */
export type Shown =
  | null
  | number
  | string
  | { readonly start: string; readonly length?: number }
  | readonly Shown[]
  | { readonly [field: string]: Shown };

/** Words that are not quoted: numbers, names of flags, pointers. A text that looks like one is marked as a text. */
const BARE = /^(?:-?[\w.+]+(?:\|\w+)*|'.*')$/;

export function looksBare(text: string): boolean {
  return BARE.test(text);
}

/** What is shown of one call, and which of it is text although it does not look so: paths such as `name`, `.../0`. */
export class Renderer {
  readonly texts: string[] = [];

  arguments(
    reader: CallReader,
    which: (parameter: Parameter) => boolean,
    into: Record<string, Shown> = {},
  ): Record<string, Shown> {
    const { parameters } = reader.prototype;
    for (let i = 0; i < parameters.length; i++) {
      const { name, type } = parameters[i]!;
      if (which(parameters[i]!)) into[name] = this.#render(type, reader.argument(i), name);
    }
    return into;
  }

  /** What follows the named arguments. */
  more(reader: CallReader, into: Record<string, Shown>): void {
    const more = reader.more();
    if (more.length === 0) return;
    if (reader.prototype.choices)
      for (const { parameter, value } of more)
        into[parameter.name] = this.#render(parameter.type, value, parameter.name);
    else
      into[MORE] = more.map(({ parameter, value }, i) => this.#render(parameter.type, value, `${MORE}/${i}`));
  }

  result(reader: CallReader): Shown | undefined {
    const { type } = reader.prototype.result;
    return type.kind === "void" ? undefined : this.#render(type, reader.result(), "return");
  }

  #render(type: CType, value: CValue, path: string): Shown {
    if (value === null) return type.kind === "struct" ? {} : null;
    switch (typeof value) {
      case "boolean":
        return String(value);
      case "number":
        return numberOf(leaf(type), value);
      case "bigint":
        return type.kind === "int" ? bigOf(leaf(type), value) : `0x${value.toString(16)}`;
      case "string":
        return this.#text(value, path);
    }
    if (value instanceof Uint8Array) return this.#text(decodeText(value), path);
    if (value instanceof Cut)
      return { start: decodeText(value.start), ...(value.length !== undefined && { length: value.length }) };
    if (Array.isArray(value))
      return value.map((each, i) => this.#render(inner(type), each as CValue, `${path}/${i}`));
    if (isAddress(value)) return formatAddress(value);
    return this.#fields(type, value as Record<string, CValue>, path);
  }

  #fields(type: CType, value: Record<string, CValue>, path: string): Shown {
    const struct = type.kind === "pointer" ? type.to : type;
    const fields: Record<string, Shown> = {};
    for (const field of (struct.kind === "struct" && struct.fields) || [])
      if (value[field.name] !== undefined)
        fields[field.name] = this.#render(field.type, value[field.name]!, `${path}/${field.name}`);
    return fields;
  }

  #text(text: string, path: string): string {
    if (looksBare(text)) this.texts.push(path);
    return text;
  }
}

/** A value read through pointers has the type at their end. */
function leaf(type: CType): CType {
  let at = type;
  while (at.kind === "pointer" || at.kind === "array") at = at.kind === "pointer" ? at.to : at.of;
  return at;
}

function inner(type: CType): CType {
  return type.kind === "pointer" ? type.to : type.kind === "array" ? type.of : type;
}

function isAddress(value: object): value is Address {
  return "family" in value && typeof value.family === "string";
}

function numberOf(type: CType, value: number): Shown {
  if (type.kind !== "int")
    return Number.isFinite(value) ? value : Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  if (type.names) return formatFlags(type.names, value);
  switch (type.reads) {
    case "octal":
      return `0${value.toString(8)}`;
    case "signal":
      return signalName(value) ?? value;
    case "errno":
      return value === 0 ? 0 : (errnoName(value) ?? value);
    case "char":
      return value > 0x1f && value < 0x7f ? `'${String.fromCharCode(value)}'` : value;
    default:
      return value;
  }
}

function bigOf(type: CType, value: bigint): Shown {
  return (type as IntType).names ? formatFlags((type as IntType).names!, value) : String(value);
}
