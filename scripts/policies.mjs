// Precomputed facts about the bundled policies, by the digest of each text: they are loaded with all checks here.
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";

export async function knownPolicies() {
  const { precompile } = createRequire(import.meta.url)("../dist/policy/yaml.cjs");
  const files = readdirSync("policies").filter((name) => /(?<!\.test)\.yaml$/.test(name));
  return Promise.all(files.map((name) => precompile(`policies/${name}`)));
}
