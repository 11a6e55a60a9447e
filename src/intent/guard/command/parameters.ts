import type { ParameterExpansionPart, ParameterOperation, Word as WordNode } from "unbash";
import { HOLE } from "./script.js";

/**
 * The value of `${name…}`, given the values of the name (undefined: not set in this script) and a way to read the
 * words inside.
 */
export function applyOperation(
  values: readonly string[] | undefined,
  operation: ParameterOperation,
  read: (word: WordNode) => string,
): readonly string[] {
  if (operation.type === "Default") return applyDefault(values, operation, read);
  if (values === undefined) return [HOLE];
  return values.map((value) => applyToKnown(value, operation, read));
}

/** A variable that this script did not set may be set outside: then its default is one of two possible values. */
function applyDefault(
  values: readonly string[] | undefined,
  { operator, operand }: ParameterOperation & { type: "Default" },
  read: (word: WordNode) => string,
): readonly string[] {
  if (operator.endsWith("+")) return [values === undefined ? HOLE : read(operand)];
  if (operator.endsWith("?")) return values ?? [HOLE];
  const empty = values === undefined || (operator.startsWith(":") && values.join("") === "");
  return empty ? [read(operand)] : values;
}

function applyToKnown(
  value: string,
  operation: Exclude<ParameterOperation, { type: "Default" }>,
  read: (word: WordNode) => string,
): string {
  if (value.includes(HOLE) && operation.type !== "CaseModification") return HOLE;
  switch (operation.type) {
    case "Remove":
      return remove(value, operation.operator, read(operation.operand));
    case "Replace":
      return replace(value, operation.operator, read(operation.pattern), read(operation.replacement));
    case "Slice":
      return slice(value, read(operation.offset), operation.length && read(operation.length));
    case "CaseModification":
      return changeCase(value, operation.operator);
    case "Transform":
      return "QEPAaKkUuL".includes(read(operation.operand))
        ? transform(value, read(operation.operand))
        : HOLE;
    default:
      return HOLE;
  }
}

function transform(value: string, how: string): string {
  if (how === "U") return value.toUpperCase();
  if (how === "L") return value.toLowerCase();
  if (how === "u") return changeCase(value, "^");
  return how === "Q" ? value : HOLE;
}

function changeCase(value: string, operator: "^" | "^^" | "," | ",,"): string {
  const change = (text: string) => (operator[0] === "^" ? text.toUpperCase() : text.toLowerCase());
  return operator.length === 2 ? change(value) : change(value.slice(0, 1)) + value.slice(1);
}

function slice(value: string, offset: string, length: string | undefined): string {
  if (!/^\s*-?\d+$/.test(offset) || (length !== undefined && !/^\s*-?\d+$/.test(length))) return HOLE;
  const from = Number(offset) < 0 ? Math.max(0, value.length + Number(offset)) : Number(offset);
  if (length === undefined) return value.slice(from);
  return Number(length) < 0 ? value.slice(from, Number(length)) : value.slice(from, from + Number(length));
}

function remove(value: string, operator: "#" | "##" | "%" | "%%", pattern: string): string {
  const matcher = globMatcher(pattern);
  if (!matcher) return HOLE;
  const cuts = Array.from({ length: value.length + 1 }, (_, i) => i);
  const front = operator[0] === "#";
  if ((operator.length === 2) === front) cuts.reverse();
  for (const cut of cuts)
    if (matcher.test(front ? value.slice(0, cut) : value.slice(cut)))
      return front ? value.slice(cut) : value.slice(0, cut);
  return value;
}

function replace(value: string, operator: string, pattern: string, replacement: string): string {
  const body = globBody(pattern);
  if (body === undefined || pattern === "" || replacement.includes(HOLE))
    return pattern === "" ? value : HOLE;
  const source = operator === "/#" ? `^${body}` : operator === "/%" ? `${body}$` : body;
  return value.replace(new RegExp(source, operator === "//" ? "gsu" : "su"), () => replacement);
}

const VALUE_AT_MOST = 256;
const STARS_AT_MOST = 3;

/** A shell pattern as a regular expression; undefined when it is unknown, or slow to match. */
function globBody(pattern: string): string | undefined {
  if (pattern.includes(HOLE) || pattern.length > VALUE_AT_MOST) return undefined;
  if (pattern.split("*").length - 1 > STARS_AT_MOST) return undefined;
  let body = "";
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern[i]!;
    const close = character === "[" ? pattern.indexOf("]", i + 2) : -1;
    if (character === "*") body += ".*";
    else if (character === "?") body += ".";
    else if (close > 0) {
      const set = pattern.slice(i + 1, close).replace(/[\\\]^[]/g, "\\$&");
      body += `[${set.startsWith("!") || set.startsWith("\\^") ? `^${set.replace(/^(!|\\\^)/, "")}` : set}]`;
      i = close;
    } else body += character.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  }
  return body;
}

export function globMatcher(pattern: string): RegExp | undefined {
  const body = globBody(pattern);
  try {
    return body === undefined ? undefined : new RegExp(`^${body}$`, "su");
  } catch {
    return undefined;
  }
}

/** The values that `${#x}`, `${!x}`, `${a[1]}` or `${a[@]}` select, before any operation. */
export function selectValues(
  part: ParameterExpansionPart,
  get: (name: string) => readonly string[] | undefined,
  read: (word: WordNode) => string,
): readonly string[] | undefined {
  let values = get(part.parameter);
  if (part.index) {
    const index = read(part.index);
    if (index !== "@" && index !== "*") {
      if (!/^-?\d+$/.test(index)) values = values && [HOLE];
      else values = values && [values.at(Number(index)) ?? ""];
    }
  } else if (values && values.length > 1 && !/^[@*]$/.test(part.parameter)) values = values.slice(0, 1);
  if (part.prefix === "#")
    return [values === undefined || values.join("").includes(HOLE) ? HOLE : String(values[0]?.length ?? 0)];
  if (part.prefix !== "!") return values;
  if (part.operation?.type === "Names") return [HOLE];
  const name = values?.[0];
  return name === undefined || name.includes(HOLE) ? [HOLE] : get(name);
}
