import type { z } from "zod";

const TYPES: Readonly<Record<string, string>> = {
  boolean: "takes true or false",
  string: "takes a text",
  number: "takes a number",
  int: "takes a whole number",
  array: "takes a list",
  object: "takes a mapping of keys",
  record: "takes a mapping of keys",
};

/** What is wrong with a value, as the end of a sentence that starts with its key. */
export function plainMessage(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return TYPES[issue.expected] ?? `takes a value of type ${issue.expected}`;
    case "invalid_value":
      return `takes ${issue.values
        .map(String)
        .join(", ")
        .replace(/, ([^,]*)$/, " or $1")}`;
    case "invalid_union":
      return "takes one of the known words, or a list of them";
    case "too_small":
      return issue.origin === "string" || issue.origin === "array"
        ? "must not be empty"
        : `must be ${issue.inclusive === false ? "more than" : "at least"} ${issue.minimum}`;
    case "too_big":
      return `must be at most ${issue.maximum}`;
    case "invalid_format":
      return `does not have the required form (${issue.format})`;
    default:
      return undefined;
  }
}
