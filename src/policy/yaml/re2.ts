import { createRequire } from "node:module";

/**
 * RE2 takes time in proportion to the text: a hostile command line cannot make it slow. Loaded when it is needed. The bundler
 * puts another file in the place of this one (scripts/bundle.mjs): that loads it as V8 compiled it before.
 */
export function re2(): typeof import("re2js") {
  return createRequire(import.meta.url)("re2js");
}
