import { ToolError } from "../tool.js";

/** Whether a line matches. */
export type Finder = (line: string) => boolean;

interface SearchQuery {
  readonly pattern: string;
  readonly literal: boolean;
  readonly ignore_case: boolean;
}

/** RE2 runs in linear time for any pattern: the agent's pattern is untrusted. */
export async function finder({ pattern, literal, ignore_case }: SearchQuery): Promise<Finder> {
  if (literal && !ignore_case) return (line) => line.includes(pattern);
  const { RE2JS } = await import("re2js");
  try {
    const compiled = RE2JS.compile(
      literal ? RE2JS.quote(pattern) : pattern,
      ignore_case ? RE2JS.CASE_INSENSITIVE : 0,
    );
    return (line) => compiled.matcher(line).find();
  } catch (cause) {
    throw new ToolError(
      "bad-pattern",
      `${JSON.stringify(pattern)} is not a valid RE2 regular expression: ${(cause as Error).message}. To search for plain text, set literal.`,
      { cause },
    );
  }
}
