import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { Script } from "node:vm";

const loaded = new Map<string, { exports: unknown }>();

/**
 * Loads a bundle like require(), with the V8 code cache that scripts/precompile.cjs made at build time.
 * Compiling a bundle takes as long as starting Node. V8 uses the cache only for the same version, options and
 * text length, and compiles otherwise. Bundles are ASCII, which loads fastest.
 */
export function loadCompiled(file: string): unknown {
  const known = loaded.get(file);
  if (known) return known.exports;
  const module = { exports: {} };
  loaded.set(file, module);
  const cachedData = readCache(file);
  const text = readFileSync(file, "latin1");
  const script = new Script(`(function (exports, require, module, __filename, __dirname) {${text}\n})`, {
    filename: file,
    ...(cachedData && { cachedData }),
  });
  script.runInThisContext()(module.exports, createRequire(file), module, file, dirname(file));
  return module.exports;
}

function readCache(file: string): Buffer | undefined {
  try {
    return readFileSync(`${file}.${process.versions.v8}-${process.arch}.cache`);
  } catch {
    return undefined;
  }
}
