import { existsSync } from "node:fs";
import { shippedPolicy } from "../policy/shipped.js";

/** What `-p` says: a file; or, where there is no such file, the name of a policy that comes with HERMES. */
export function policyFile(word: string): string {
  return existsSync(word) ? word : (shippedPolicy(word) ?? word);
}

export function collectPolicies(word: string, all: string[] = []): string[] {
  return [...all, policyFile(word)];
}
