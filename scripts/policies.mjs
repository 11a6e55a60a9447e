// What is known of the policies that come with HERMES, by the digest of each text: they are loaded with all checks here.
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";

export async function knownPolicies() {
  const { getKnown } = createRequire(import.meta.url)("../dist/policy/yaml/load.cjs");
  const files = readdirSync("policies").filter((name) => /(?<!\.test)\.yaml$/.test(name));
  return Promise.all(files.map((name) => getKnown(`policies/${name}`)));
}
