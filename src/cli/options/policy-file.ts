import { shippedPolicy } from "../../policy/shipped.js";

/** The value of `-p`: the name of a bundled policy, or a file. A bare name never means a file in the working directory. */
function resolvePolicy(word: string): string {
  return shippedPolicy(word) ?? word;
}

/** For options that may be repeated. */
export function collect(value: string, all: string[] = []): string[] {
  return [...all, value];
}

/** The same for options and arguments that name policies. */
export function collectPolicies(word: string, all: string[] = []): string[] {
  return collect(resolvePolicy(word), all);
}
