import { readFileSync } from "node:fs";
import { HOME } from "../../home.js";
import type { Node } from "../../yaml/source.js";
import type { PolicyFile } from "./schema.js";

/** What was found out of a file that comes with HERMES when HERMES was built, where it was loaded with all of its checks. */
export interface KnownFile {
  readonly root: Node;
  readonly content: PolicyFile;
}

/**
 * To parse a policy, to check its shape and its examples takes longer than all else at the start of a run. What comes of it
 * depends on nothing but the text: of those that come with HERMES it is kept (scripts/policies.mjs), by the text's digest.
 */
export function knownFile(digest: string): KnownFile | undefined {
  let text: string;
  try {
    text = readFileSync(`${HOME}dist/policies/${digest}.json`, "utf8");
  } catch {
    return undefined;
  }
  return JSON.parse(text) as KnownFile;
}
