import type { z } from "zod";
import { suggest } from "../../abi/index.js";
import { HermesError } from "../../errors.js";
import { fenceSchema, type PolicyFile, policySchema, ruleSchema } from "./schema.js";
import type { Place, Source } from "./source.js";

const SHOWN = 10;

/** The file's content, when it has the right shape. Otherwise an error that names every misfit with its line. */
export function checkShape(source: Source): PolicyFile {
  const result = policySchema.safeParse(source.value);
  if (result.success) return result.data;
  const errors = result.error.issues.flatMap((issue) => describe(source, issue));
  throw joined(errors);
}

function joined(errors: HermesError[]): HermesError {
  if (errors.length <= 1) return errors[0]!;
  const [first, ...rest] = errors.slice(0, SHOWN);
  const more = errors.length > SHOWN ? `\n  … and ${errors.length - SHOWN} more` : "";
  const message =
    [first!.message, ...rest.map((e) => `  ${e.message.replace(/^policy /, "")}`)].join("\n") + more;
  const [, file = "", text = ""] = /^policy (.*?:\d+:\d+): ([\s\S]*)$/.exec(message) ?? [];
  return new HermesError("POLICY_INVALID", { file, message: text });
}

function describe(source: Source, issue: z.core.$ZodIssue): HermesError[] {
  const place = issue.path.map((step) => (typeof step === "number" ? step : String(step)));
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => unknownKey(source, place, key));
  const inner = innermost(issue);
  if (inner) return describe(source, { ...inner, path: [...issue.path, ...inner.path] } as z.core.$ZodIssue);
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

function unknownKey(source: Source, place: Place, key: string): HermesError {
  const near = suggest(key, keysAt(place));
  const hint = near ? `: did you mean \`${near}\`?` : ` (known: ${keysAt(place).join(", ")})`;
  return source.error([...place, key], `unknown key \`${key}\`${hint}`, { onKey: true });
}

const NESTED: Readonly<Record<string, readonly string[]>> = {
  when: ["nth", "from", "step", "probability", "seed"],
  examples: ["match", "not_match"],
  process: ["exe", "ancestor", "cwd"],
  fd: ["number", "target", "kind"],
  flags: ["all", "any", "none"],
  fence: Object.keys(fenceSchema.shape),
};

function keysAt(place: Place): readonly string[] {
  if (place.length === 0) return Object.keys(policySchema.shape);
  const last = String(place.at(-1));
  return NESTED[last] ?? Object.keys(ruleSchema.shape);
}

function valueAt(value: unknown, place: Place): unknown {
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
