import type { Source } from "../../yaml/source.js";
import type { Surroundings } from "./surroundings.js";
import type { Variables } from "./variables.js";

/** What the rules of one file are compiled with. */
export interface Compilation {
  readonly source: Source;
  readonly variables: Variables;
  readonly surroundings: Surroundings;
  /** Addresses of the host names that the rules mention. */
  readonly hosts: (name: string) => readonly string[];
  /** Makes a test of a regular expression. */
  readonly pattern: (text: string) => (text: string) => boolean;
}
