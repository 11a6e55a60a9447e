import { rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { root } from "./tools.mjs";

/** Internal modules of HERMES as one module: `name` is a file of bench/ that exports them. */
export async function loadParts(name) {
  const file = join(root, `build/bench-${name}-${process.pid}.mjs`);
  await build({
    entryPoints: [join(root, `bench/${name}.ts`)],
    outfile: file,
    bundle: true,
    platform: "node",
    format: "esm",
    external: ["libsql", "pg", "re2js", "esbuild", "wasmoon", "aws4fetch"],
    banner: {
      js: 'import { createRequire as make } from "node:module"; const require = make(import.meta.url);',
    },
    logLevel: "error",
  });
  try {
    return await import(file);
  } finally {
    rmSync(file);
  }
}
