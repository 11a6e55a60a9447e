import { readFileSync } from "node:fs";
import { join } from "node:path";
import { HermesError } from "../../nouns/errors.js";
import { HOME } from "../../nouns/home.js";

const FILES: Readonly<Record<string, readonly [name: string, type: string]>> = {
  "/": ["index.html", "text/html; charset=utf-8"],
  "/console.js": ["console.js", "text/javascript; charset=utf-8"],
  "/console.css": ["console.css", "text/css; charset=utf-8"],
  "/icon.svg": ["icon.svg", "image/svg+xml"],
};

/** The page, as it was built; nothing else on disk can be asked for. */
export function pageFile(path: string): { readonly type: string; readonly bytes: Buffer } | undefined {
  const file = Object.hasOwn(FILES, path) ? FILES[path] : undefined;
  if (!file) return undefined;
  try {
    return { type: file[1], bytes: readFileSync(join(HOME, "dist/web/console", file[0])) };
  } catch (cause) {
    const why = "it is not built: run `npm run build`";
    throw new HermesError("UNAVAILABLE", { what: "the console's page", why }, { cause });
  }
}
