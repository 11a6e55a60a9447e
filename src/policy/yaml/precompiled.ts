import { readFileSync } from "node:fs";
import { HOME } from "../../nouns/home.js";
import type { SourceNode } from "../../nouns/yaml/source.js";
import type { PolicyFile } from "./schema.js";

/** What the build found out about a shipped policy file, with all checks. */
export interface PrecompiledPolicy {
  readonly root: SourceNode;
  readonly content: PolicyFile;
}

/**
 * Parsing a policy and checking its shape and examples takes longer than the rest of a run's start. The
 * result depends only on the text. So for shipped policies scripts/policies.mjs stores it, by the text's
 * digest.
 */
export function precompiledPolicy(digest: string): PrecompiledPolicy | undefined {
  let text: string;
  try {
    text = readFileSync(`${HOME}dist/policies/${digest}.json`, "utf8");
  } catch {
    return undefined;
  }
  return JSON.parse(text) as PrecompiledPolicy;
}
