import { parseSource } from "../../nouns/yaml/parse.js";
import type { YamlSource } from "../../nouns/yaml/source.js";
import { checkPolicyShape } from "./policy-shape.js";
import type { PolicyFile } from "./schema.js";

/** Reads a policy file that the build does not know. The parser is loaded only then. */
export function readPolicy(name: string, text: string): { source: YamlSource; content: PolicyFile } {
  const source = parseSource(name, text);
  return { source, content: checkPolicyShape(source) };
}
