#!/usr/bin/env node
// Writes schemas/policy.schema.json and schemas/hermes.schema.json, with which editors check policies and hermes.yaml. They
// are generated from the schemas that loading uses. `--check` compares instead, and fails when a file is stale.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

async function bundled(entry) {
  const out = `build/schema-${process.pid}-${entry.replaceAll("/", "-")}.mjs`;
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

/** Formatted for the style check. */
function formatted(json, file) {
  const args = ["node_modules/@biomejs/biome/bin/biome", "format", `--stdin-file-path=${file}`];
  return execFileSync("node", args, { input: json, encoding: "utf8" });
}

/** A rule has exactly one action, which Zod cannot express. */
function oneAction(schema, actions) {
  const rule = schema.properties.rules.items;
  rule.oneOf = actions.map((action) => ({ required: [action] }));
  return schema;
}

function write(file, title, schema) {
  const { $schema, ...rest } = schema;
  const text = formatted(JSON.stringify({ $schema, title, ...rest }), file);
  if (!process.argv.includes("--check")) {
    mkdirSync("schemas", { recursive: true });
    writeFileSync(file, text);
  } else if (readFileSync(file, "utf8") !== text) {
    process.stderr.write(`${file} is stale: run node scripts/schema.mjs\n`);
    process.exit(1);
  }
}

const { policySchema } = await bundled("src/policy/yaml/schema.ts");
const { ACTION_KEYS } = await bundled("src/policy/yaml/action.ts");
const { configSchema } = await bundled("src/intent/guard/config/schema.ts");
const z = await import("zod");
const policy = z.toJSONSchema(policySchema, { target: "draft-7" });
write("schemas/policy.schema.json", "HERMES policy", oneAction(policy, ACTION_KEYS));
// The schema of the input, not of the loaded value: keys with a default can be left out.
write(
  "schemas/hermes.schema.json",
  "HERMES configuration",
  z.toJSONSchema(configSchema, { target: "draft-7", io: "input" }),
);
