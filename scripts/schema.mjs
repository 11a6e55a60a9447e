#!/usr/bin/env node
// Writes schemas/policy.schema.json, which editors check YAML policies with, from the schema that loading checks with.
// `--check` compares instead, and fails when the file is stale.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const FILE = "schemas/policy.schema.json";

async function bundled(entry) {
  const out = `build/schema-${process.pid}.mjs`;
  await build({
    entryPoints: [entry],
    outfile: out,
    bundle: true,
    format: "esm",
    platform: "node",
    packages: "external",
  });
  try {
    return await import(pathToFileURL(out).href);
  } finally {
    rmSync(out);
  }
}

/** As the style check wants it. */
function formatted(json) {
  const args = ["node_modules/@biomejs/biome/bin/biome", "format", `--stdin-file-path=${FILE}`];
  return execFileSync("node", args, { input: json, encoding: "utf8" });
}

/** A rule has exactly one action. Zod has no word for that. */
function oneAction(schema, actions) {
  const rule = schema.properties.rules.items;
  rule.oneOf = actions.map((action) => ({ required: [action] }));
  return schema;
}

const { policySchema, ACTION_KEYS } = await bundled("src/policy/yaml/schema.ts");
const z = await import("zod");
const schema = oneAction(z.toJSONSchema(policySchema, { target: "draft-7" }), ACTION_KEYS);
const { $schema, ...rest } = schema;
const text = formatted(JSON.stringify({ $schema, title: "HERMES policy", ...rest }));

if (process.argv.includes("--check")) {
  if (readFileSync(FILE, "utf8") !== text) {
    process.stderr.write(`${FILE} is stale: run node scripts/schema.mjs\n`);
    process.exit(1);
  }
} else {
  mkdirSync("schemas", { recursive: true });
  writeFileSync(FILE, text);
}
