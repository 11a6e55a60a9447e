// Modules that most runs never need are evaluated when one of their functions is first called.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** Each exports functions only. They import each other directly. */
const MODULES = [
  "intent/guard/content/extensions",
  "intent/guard/content/hosts",
  "intent/guard/content/links",
  "intent/guard/content/pipes",
  "intent/guard/intents/intent",
  "intent/guard/python/script",
  "intent/guard/reading/cipher",
  "intent/guard/reading/decode",
  "intent/guard/reading/fold",
  "intent/guard/reading/invisible",
  "intent/guard/reading/typos",
  "intent/guard/reading/unicode-script",
  "intent/guard/skills/scripts",
  "nouns/yaml/parse",
];
/** Packages, and the functions that are used of them. */
const PACKAGES = { confusables: ["remove"], tldts: ["parse"] };

const SOURCES = new Set(MODULES.map((name) => resolve(`src/${name}.ts`)));

/** For esbuild. */
export const later = {
  name: "later",
  setup(build) {
    build.onResolve({ filter: /^\.{1,2}\/.*\.js$/ }, ({ path, resolveDir, kind, importer }) => {
      const source = join(resolveDir, path).replace(/js$/, "ts");
      const apart = kind === "import-statement" && SOURCES.has(source) && !SOURCES.has(importer);
      return apart ? { path: source, namespace: "later", sideEffects: false } : undefined;
    });
    build.onResolve({ filter: /^[a-z]/ }, ({ path, kind, importer }) => {
      const apart =
        kind === "import-statement" && PACKAGES[path] && importer.endsWith(".ts") && !SOURCES.has(importer);
      return apart ? { path, namespace: "later", sideEffects: false } : undefined;
    });
    build.onLoad({ filter: /./, namespace: "later" }, ({ path }) => ({
      contents: [
        `let loaded; const load = () => (loaded ??= require(${JSON.stringify(path)}));`,
        ...functionsOf(path).map((name) => `export const ${name} = (...given) => load().${name}(...given);`),
      ].join("\n"),
      resolveDir: ".",
    }));
  },
};

function functionsOf(path) {
  if (PACKAGES[path]) return PACKAGES[path];
  const exported = readFileSync(path, "utf8").matchAll(/^export (?!type |interface )(.*)$/gm);
  return [...exported].map(([, text]) => {
    const name = /^(?:async )?function\*? (\w+)/.exec(text)?.[1];
    if (!name) throw new Error(`${path} exports more than functions: "${text}" cannot be evaluated later`);
    return name;
  });
}
