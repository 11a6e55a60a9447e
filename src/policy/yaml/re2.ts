import { createRequire } from "node:module";

/**
 * RE2 takes time in proportion to the text: a hostile command line cannot make it slow. Loaded on first use.
 * The bundler replaces this file (scripts/bundle.mjs) by one that loads RE2 with a V8 code cache.
 */
export function re2(): typeof import("re2js") {
  return createRequire(import.meta.url)("re2js");
}
