import type { z } from "zod";
import { suggest } from "../../abi/suggest.js";
import { HermesError } from "../errors.js";
import type { YamlPath, YamlSource } from "./source.js";

const SHOWN = 10;

/** For suggestions. */
export interface Keys {
  /** The keys that are allowed at a place. */
  at(place: YamlPath): readonly string[];
  /** Those that there were once, and what is written today. */
  readonly replaced?: Readonly<Record<string, string>>;
}

/** A file's content, when it has the right shape. Otherwise an error that names every misfit with its line. */
export function checkShape<T extends z.ZodType>(
  source: YamlSource,
  schema: T,
  keys: Keys,
  /** What is wrong, where the schema has no words of its own for it. */
  words?: z.core.$ZodErrorMap,
): z.infer<T> {
  const result = schema.safeParse(source.value, words && { error: words });
  if (result.success) return result.data;
  throw joined(result.error.issues.flatMap((issue) => describe(source, issue, keys)));
}

/** Several errors of one file as one: the first with its code, the others as lines below it. */
export function joined(errors: readonly HermesError[]): HermesError {
  const [first, ...rest] = errors.slice(0, SHOWN);
  if (rest.length === 0) return first!;
  const more = errors.length > SHOWN ? `\n  … and ${errors.length - SHOWN} more` : "";
  const [, file = "", text = ""] = /^\w+ (.*?:\d+:\d+): ([\s\S]*)$/.exec(first!.message) ?? [];
  const lines = [text, ...rest.map((e) => `  ${e.message.replace(/^\w+ /, "")}`)];
  return new HermesError(first!.code, { file, message: lines.join("\n") + more });
}

function describe(source: YamlSource, issue: z.core.$ZodIssue, keys: Keys): HermesError[] {
  const place = issue.path.map((step) => (typeof step === "number" ? step : String(step)));
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => unknownKey(source, place, key, keys));
  const inner = innermost(issue);
  if (inner)
    return describe(source, { ...inner, path: [...issue.path, ...inner.path] } as z.core.$ZodIssue, keys);
  const value = valueAt(source.value, place);
  if (value === undefined) {
    const key = String(place.at(-1) ?? "it");
    return [source.error(place.slice(0, -1), `\`${key}\` is missing: it ${issue.message}`)];
  }
  const last = place.at(-1);
  if (value === null) return [source.error(place, `\`${last}\` has no value: it ${issue.message}`)];
  const subject = typeof last === "string" ? `\`${last}\` ` : "";
  return [source.error(place, `${subject}${issue.message}, not ${shown(value)}`)];
}

/** Of a union's branches the one that the writer meant: the one that got furthest. */
function innermost(issue: z.core.$ZodIssue): z.core.$ZodIssue | undefined {
  if (issue.code !== "invalid_union") return undefined;
  const deep = issue.errors
    .flat()
    .filter((e) => e.path.length > 0 || e.code === "unrecognized_keys" || e.code === "too_small");
  return deep[0];
}

function unknownKey(source: YamlSource, place: YamlPath, key: string, keys: Keys): HermesError {
  const replaced = keys.replaced?.[key];
  if (replaced)
    return source.error([...place, key], `there is no key \`${key}\`: ${replaced}`, { onKey: true });
  const near = suggest(key, keys.at(place));
  const hint = near ? `: did you mean \`${near}\`?` : ` (known: ${keys.at(place).join(", ")})`;
  return source.error([...place, key], `unknown key \`${key}\`${hint}`, { onKey: true });
}

function valueAt(value: unknown, place: YamlPath): unknown {
  return place.reduce<unknown>(
    (at, step) => (at as Record<string | number, unknown> | undefined)?.[step],
    value,
  );
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object" && value !== null) return "a map (quote a text that holds { } or : )";
  if (typeof value === "string") return `"${value}"`;
  return `${typeof value === "number" ? "the number" : ""} ${value}`.trim();
}
