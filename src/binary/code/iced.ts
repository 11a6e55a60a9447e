import { createRequire } from "node:module";

export type Iced = typeof import("iced-x86");

let loaded: Iced | undefined;

/** The decoder is 0.8 MB of WebAssembly: only runs that look into programs load it. */
export function iced(): Iced {
  loaded ??= createRequire(import.meta.url)("iced-x86") as Iced;
  return loaded;
}
