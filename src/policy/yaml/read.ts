import { parseSource } from "../../yaml/parse.js";
import type { Source } from "../../yaml/source.js";
import { checkShape } from "./check.js";
import type { PolicyFile } from "./schema.js";

/** Reads a policy file of which nothing is known. What that takes is loaded only then. */
export function readPolicy(name: string, text: string): { source: Source; content: PolicyFile } {
  const source = parseSource(name, text);
  return { source, content: checkShape(source) };
}
