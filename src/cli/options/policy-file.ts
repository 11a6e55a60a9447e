import { existsSync } from "node:fs";
import { shippedPolicy } from "../../policy/shipped.js";

/** The value of `-p`: a file or, if there is no such file, the name of a bundled policy. */
function resolvePolicy(word: string): string {
  return existsSync(word) ? word : (shippedPolicy(word) ?? word);
}

/** For options that may be repeated. */
export function collect(value: string, all: string[] = []): string[] {
  return [...all, value];
}

/** The same for options and arguments that name policies. */
export function collectPolicies(word: string, all: string[] = []): string[] {
  return collect(resolvePolicy(word), all);
}
