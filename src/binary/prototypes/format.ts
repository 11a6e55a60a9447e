import { type CType, type IntType, pointerTo } from "./types.js";

const int = (size: IntType["size"], signed: boolean): IntType => ({ kind: "int", size, signed });
const CHAR: IntType = { kind: "int", size: 1, signed: true, reads: "char" };
const WIDE: IntType = { kind: "int", size: 4, signed: true, reads: "wide" };
const MAX_ARGUMENTS = 64;

/** What a printf or scanf reads behind its format. */
interface FormatArgument {
  readonly type: CType;
  /** At most so many bytes of a text, as `%.5s` says; "*" when the argument before it says it. */
  readonly precision?: number | "*";
}

const CONVERSION =
  /%(?:(\d+)\$)?([-+ #0'I]*)(\*(?:\d+\$)?|\d*)(?:\.(\*(?:\d+\$)?|-?\d*))?(hh|h|ll|l|q|L|j|z|Z|t|m)?([a-zA-Z%]|\[\^?\]?[^\]]*\])/g;

export function printfArguments(format: string): FormatArgument[] {
  const list: FormatArgument[] = [];
  const placed: FormatArgument[] = [];
  for (const [, place, , width, precision, size = "", kind] of format.matchAll(CONVERSION)) {
    if (kind === "%" || kind === "m") continue;
    if (list.length + placed.length >= MAX_ARGUMENTS) break;
    const type = printfType(kind!, size);
    if (!type) break;
    if (place !== undefined) {
      if (Number(place) <= MAX_ARGUMENTS) placed[Number(place) - 1] = { type };
      continue;
    }
    if (width === "*") list.push({ type: int(4, true) });
    if (precision === "*") list.push({ type: int(4, true) }, { type, precision: "*" });
    else list.push(precision ? { type, precision: Number(precision) } : { type });
  }
  return placed.length > 0 ? Array.from(placed, (found) => found ?? { type: int(4, true) }) : list;
}

function printfType(kind: string, size: string): CType | undefined {
  if (/[dicuoxXb]/.test(kind)) {
    if (kind === "c") return size === "l" ? WIDE : CHAR;
    return int(integerSize(size), /[di]/.test(kind));
  }
  if (/[eEfFgGaA]/.test(kind)) return { kind: "float", size: size === "L" ? 16 : 8 };
  if (kind === "s") return pointerTo(size === "l" ? WIDE : CHAR, true);
  if (kind === "S") return pointerTo(WIDE, true);
  if (kind === "p") return pointerTo({ kind: "void" });
  if (kind === "n") return pointerTo({ kind: "void" });
  return undefined;
}

/** All of them are pointers; what is behind one is known when the call has returned. */
export function scanfArguments(format: string): FormatArgument[] {
  const list: FormatArgument[] = [];
  for (const [, , , width, , size = "", kind] of format.matchAll(CONVERSION)) {
    if (kind === "%" || width?.startsWith("*")) continue;
    const type = scanfType(kind!, size, width ?? "");
    if (!type || list.length >= MAX_ARGUMENTS) break;
    list.push({ type: pointerTo(type) });
  }
  return list;
}

function scanfType(kind: string, size: string, width: string): CType | undefined {
  if (/^[diouxXn]$/.test(kind)) return int(integerSize(size), /[di]/.test(kind));
  if (/^[eEfFgGaA]$/.test(kind)) return { kind: "float", size: size === "L" ? 16 : size === "l" ? 8 : 4 };
  if (kind === "p") return pointerTo({ kind: "void" });
  if (kind === "c") return { kind: "array", of: CHAR, length: Math.min(4096, Number(width || 1)) };
  if (kind === "s" || kind.startsWith("["))
    return size === "m" ? pointerTo(CHAR) : size === "l" ? WIDE : CHAR;
  return undefined;
}

function integerSize(size: string): IntType["size"] {
  return size === "hh" ? 1 : size === "h" ? 2 : size === "" ? 4 : 8;
}
