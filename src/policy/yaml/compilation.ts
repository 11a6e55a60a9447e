import type { YamlSource } from "../../nouns/yaml/source.js";
import type { LoadContext } from "./load-context.js";
import type { Variables } from "./variables.js";

/** The context for compiling the rules of one file. */
export interface Compilation {
  readonly source: YamlSource;
  readonly variables: Variables;
  readonly surroundings: LoadContext;
  /** The addresses of the host names in the rules. */
  readonly hosts: (name: string) => readonly string[];
  /** Compiles a regular expression to a test. */
  readonly pattern: (text: string) => (text: string) => boolean;
}
