import { ToolError } from "../tool.js";

/** Whether a line has what is looked for. */
export type Finder = (line: string) => boolean;

export interface Wanted {
  readonly pattern: string;
  readonly literal: boolean;
  readonly ignore_case: boolean;
}

/** RE2 takes time in proportion to the text, whatever the pattern: an agent's pattern may be anybody's. */
export async function finder({ pattern, literal, ignore_case }: Wanted): Promise<Finder> {
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
      `${JSON.stringify(pattern)} is not a regular expression that RE2 takes: ${(cause as Error).message}. For plain text set literal.`,
      { cause },
    );
  }
}
