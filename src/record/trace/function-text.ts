import { errnoNumber, errnoText } from "../../abi/index.js";
import { looksBare, type Shown } from "../../binary/prototypes/render.js";
import type { FunctionRecord } from "./records.js";
import { decisionText, errnoWords, quote } from "./strace.js";

/** A call of a function as a line: `libc!getenv("HOME") = "/root"`. A record says itself what of it is text. */

const MORE = "...";
/** Structs in structs and lists in lists do not go on for ever on one line. */
const MAX_SHOWN = 16;
const MAX_FIELDS = 8;

/** Its arguments, from the first or from one of them on. */
export function argumentsText(
  record: Pick<FunctionRecord, "args" | "texts">,
  strings: number,
  from = 0,
): string {
  return argumentList(record, strings).slice(from).join(", ");
}

function argumentList(
  { args, texts = [] }: Pick<FunctionRecord, "args" | "texts">,
  strings: number,
): string[] {
  return Object.entries(args).flatMap(([name, value]) =>
    name === MORE && Array.isArray(value)
      ? value.map((each: Shown, i) => valueText(each, `${MORE}/${i}`, texts, strings))
      : [valueText(value, name, texts, strings)],
  );
}

/** `"/root"`, `-1 ENOENT (No such file or directory)`, `?` when it did not return, `<void>` when there is nothing to it. */
export function functionResult(record: FunctionRecord, strings: number): string {
  return `${outcome(record, strings)}${decisionText(record)}`;
}

function outcome({ result, errno, texts = [], elapsed, left }: FunctionRecord, strings: number): string {
  if (left !== undefined) return "?";
  if (result === undefined) return elapsed === undefined ? "?" : "<void>";
  const text = valueText(result, "return", texts, strings);
  if (errno === undefined) return text;
  const number = errnoNumber(errno) ?? 0;
  return `${text} ${errno} (${errnoWords(errno) ?? errnoText(number) ?? "unknown"})`;
}

function valueText(value: Shown, path: string, texts: readonly string[], strings: number): string {
  if (value === null) return "NULL";
  if (typeof value === "number") return String(value);
  if (typeof value === "string")
    return looksBare(value) && !texts.includes(path) ? value : quote(value, strings);
  if (Array.isArray(value)) {
    const shown = value
      .slice(0, MAX_SHOWN)
      .map((each: Shown, i) => valueText(each, `${path}/${i}`, texts, strings));
    return `[${[...shown, ...(value.length > MAX_SHOWN ? ["..."] : [])].join(", ")}]`;
  }
  if (isCut(value)) return quote(value.start, strings, true);
  const all = Object.entries(value as Record<string, Shown>);
  const fields = all
    .slice(0, MAX_FIELDS)
    .map(([name, each]) => `${name}=${valueText(each, `${path}/${name}`, texts, strings)}`);
  return `{${[...fields, ...(all.length > MAX_FIELDS ? ["..."] : [])].join(", ")}}`;
}

function isCut(value: object): value is { start: string } {
  return "start" in value && Object.keys(value).every((key) => key === "start" || key === "length");
}
