// Modules that most runs never need are evaluated when one of their exports is first used.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** Each exports functions and schemas only. They import each other directly. */
const MODULES = [
  "intent/guard/config/approvals",
  "intent/guard/config/check",
  "intent/guard/content/extensions",
  "intent/guard/content/hosts",
  "intent/guard/content/links",
  "intent/guard/content/pipes",
  "intent/guard/content/section",
  "intent/guard/delegation/request",
  "intent/guard/intents/intent",
  "intent/guard/mcp/section",
  "intent/guard/memory/section",
  "intent/guard/python/script",
  "intent/guard/reading/cipher",
  "intent/guard/reading/decode",
  "intent/guard/reading/fold",
  "intent/guard/reading/invisible",
  "intent/guard/reading/typos",
  "intent/guard/reading/unicode-script",
  "intent/guard/skills/scripts",
  "intent/guard/skills/section",
  "nouns/yaml/parse",
];
/** Packages, and the functions that are used of them. */
const PACKAGES = { confusables: ["remove"], tldts: ["parse"] };

const SOURCES = new Set(MODULES.map((name) => resolve(`src/${name}.ts`)));

/** For esbuild. */
export const later = {
  name: "later",
  setup(build) {
    const asStub = (path) => ({ path, namespace: "later", sideEffects: false });
    const isStatic = ({ kind, importer }) => kind === "import-statement" && !SOURCES.has(importer);
    build.onResolve({ filter: /^\.{1,2}\/.*\.js$/ }, (wanted) => {
      const source = join(wanted.resolveDir, wanted.path).replace(/js$/, "ts");
      return SOURCES.has(source) && isStatic(wanted) ? asStub(source) : undefined;
    });
    build.onResolve({ filter: /^[a-z]/ }, (wanted) =>
      PACKAGES[wanted.path] && isStatic(wanted) && wanted.importer.endsWith(".ts")
        ? asStub(wanted.path)
        : undefined,
    );
    build.onLoad({ filter: /./, namespace: "later" }, ({ path }) => ({
      contents: [
        `let loaded; const load = () => (loaded ??= require(${JSON.stringify(path)}));`,
        ...exportsOf(path).map(({ name, isFunction }) =>
          isFunction
            ? `export const ${name} = (...given) => load().${name}(...given);`
            : `export const ${name} = new Proxy({}, { get: (_, key) => load().${name}[key] });`,
        ),
      ].join("\n"),
      resolveDir: ".",
    }));
  },
};

function exportsOf(path) {
  if (PACKAGES[path]) return PACKAGES[path].map((name) => ({ name, isFunction: true }));
  const exported = readFileSync(path, "utf8").matchAll(/^export (?!type |interface )(.*)$/gm);
  return [...exported].map(([, text]) => {
    const name = /^(?:async )?function\*? (\w+)/.exec(text)?.[1];
    const schema = /^const (\w+) = z(?:\.|$)/.exec(text)?.[1];
    if (!name && !schema) throw new Error(`${path} cannot be evaluated later, because of "export ${text}"`);
    return { name: name ?? schema, isFunction: !schema };
  });
}
