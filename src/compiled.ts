import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { Script } from "node:vm";

const loaded = new Map<string, { exports: unknown }>();

/**
 * Loads a bundle as require() does, with what V8 made of it when it was built (scripts/precompile.cjs): to compile one
 * takes as long as to start Node. V8 takes that only for the options and the length of text that it was made of, and else
 * compiles as always; so it does where there is none for its version. Bundles are ASCII, which is read at once.
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
