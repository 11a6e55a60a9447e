// Bundles src/ with esbuild: the entry points and the library.
import { rmSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import * as esbuild from "esbuild";
import { defaultConfig } from "./default-config.mjs";
import { later } from "./later.mjs";
import { libsql } from "./libsql.mjs";

/** Packages that must be files on disk (a compiler, WebAssembly), or that are rarely needed. */
export const EXTERNAL = ["esbuild", "iced-x86", "jsonc-parser", "libsql", "pg", "wasmoon", "re2js"];

/** Commands that must start fast: one file each. */
const QUICK = [
  "command-line",
  "exec-line",
  "run-line",
  "commands/completion",
  "commands/hook",
  "commands/hook-judge",
  "commands/trace",
  "run/control",
  "resident/stand-in",
];

/** Commands whose start time matters less: they share files. */
const OTHERS = [
  "agent",
  "allow",
  "agents",
  "analyze",
  "approvals",
  "attach",
  "audit",
  "audit-replay",
  "console",
  "coverage",
  "diff",
  "doctor",
  "export",
  "fleet",
  "guard",
  "inspect",
  "install",
  "learn",
  "log",
  "man",
  "mcp",
  "mcp-gateway",
  "policy",
  "policy-test",
  "query",
  "remote",
  "resident",
  "shell",
  "simulate",
  "skill",
  "top",
  "uninstall",
].map((name) => `commands/${name}`);
/** Node modules that take a millisecond or more to load and that most runs never use: loaded on first use. */
const SLOW =
  /(?<=\w=)(?:require\("node:(child_process|crypto|net|tty|worker_threads|zlib)"\)|__toESM\(require\("node:(child_process|crypto|net|tty|worker_threads|zlib)"\)(?:,1)?\))/g;

/** Node's CommonJS exports are not known at bundle time. This makes the same an ES module: */
const ES_MODULES = { yaml: "./node_modules/yaml/browser/index.js" };

/** An entry point: its source, and its output, one folder below dist. */
const entry = (source, out) => ({ in: `src/${source}.ts`, out });
const command = (name) => entry(`cli/${name}`, `cli/${name.replace(/^.*\//, "")}`);
const ENTRIES = {
  run: [command("run-line")],
  quick: [
    ...["main", "run/control-thread", ...QUICK.filter((name) => name !== "run-line")].map(command),
    ...["thread-start", "worker"].map((name) => entry(`session/${name}`, `session/${name}`)),
    entry("intent/runtime-check/policy", "session/runtime-check"),
  ],
  languages: [
    entry("policy/yaml/load", "policy/yaml"),
    entry("policy/yaml/read", "policy/yaml-read"),
    entry("policy/lua/load", "policy/lua"),
  ],
  typescript: [entry("policy/typescript/load", "policy/typescript")],
  others: [
    ...["options/read-allowances", "run/run-approvals", "run/write-run-record", ...OTHERS].map(command),
    // Sessions import it for policies that are functions of the host program; the command line has none.
    entry("session/mediation", "session/mediation"),
  ],
  library: [
    entry("index", "index"),
    entry("intent/guard/index", "intent/guard/index"),
    entry("agents/tools/index", "agents/tools/index"),
  ],
};
/** Entry points with a code cache of V8's, by absolute path. */
const PRECOMPILED = table([...ENTRIES.run, ...ENTRIES.quick, ...ENTRIES.languages]);
const LOADED_BY_NODE = table([...ENTRIES.typescript, ...ENTRIES.others]);

function table(entries) {
  return new Map(entries.map((one) => [resolve(one.in), `../${one.out}.cjs`]));
}

function settings(entryPoints) {
  return {
    entryPoints,
    outdir: "dist",
    bundle: true,
    platform: "node",
    target: "node20",
    logLevel: "warning",
    metafile: true,
  };
}

/**
 * An entry point that another one imports dynamically stays a file of its own. Those with a code cache are loaded with it
 * (src/nouns/compiled.ts). Entry points in `inside` are bundled.
 */
const apart = (inside = []) => ({
  name: "apart",
  setup(build) {
    const isCommonJs = build.initialOptions.format === "cjs";
    build.onResolve({ filter: /^\.{1,2}\/.*\.js$/ }, ({ path, resolveDir, kind }) => {
      const source = join(resolveDir, path).replace(/js$/, "ts");
      if (kind !== "dynamic-import" || inside.some((one) => resolve(one.in) === source)) return undefined;
      const compiled = PRECOMPILED.get(source);
      if (compiled && isCommonJs) return { path: compiled, namespace: "compiled" };
      const file = compiled ?? LOADED_BY_NODE.get(source);
      return file && { path: file, external: true };
    });
    build.onLoad({ filter: /\/src\/policy\/yaml\/re2\.ts$/ }, () => ({
      contents: `import { loadCompiled } from "./src/nouns/compiled.ts";
        import { HOME } from "./src/nouns/home.ts";
        export const re2 = () => loadCompiled(HOME + "dist/policy/re2.cjs");`,
      resolveDir: ".",
    }));
    build.onLoad({ filter: /./, namespace: "compiled" }, ({ path }) => ({
      contents: `const file = require("./src/nouns/home.ts").HOME + ${JSON.stringify(path.replace("..", "dist"))};
        module.exports = require("./src/nouns/compiled.ts").loadCompiled(file);`,
      resolveDir: ".",
    }));
  },
});

/**
 * Node has a cost per module, and more for a thread that loads ES modules. So each entry point that must start fast is one
 * CommonJS file, and so is each policy language. Other commands share files, and the library is an ES module. Returns the
 * bundled packages.
 */
export async function bundle() {
  for (const folder of ["shared", "cli", "policy", "session", "intent", "agents"])
    rmSync(`dist/${folder}`, { recursive: true, force: true });
  const one = {
    format: "cjs",
    outExtension: { ".js": ".cjs" },
    external: EXTERNAL,
    minifyWhitespace: true, // less to read at each start; names stay, for stack traces
    define: { "import.meta.url": "importMetaUrl" },
    banner: { js: `const importMetaUrl = require("node:url").pathToFileURL(__filename).href;` },
  };
  // import() goes through the ES module loader, require() does not. Only TypeScript policies need import().
  const required = {
    ...one,
    supported: { "dynamic-import": false },
    external: EXTERNAL.filter((name) => name !== "libsql"),
  };
  // Most runs have YAML policies, so YAML is included.
  const [yaml] = ENTRIES.languages;
  const built = [
    await esbuild.build({
      ...settings(ENTRIES.run),
      ...required,
      plugins: [apart([yaml]), defaultConfig, later, libsql],
    }),
    await esbuild.build({
      ...settings(ENTRIES.quick),
      ...required,
      plugins: [apart(), defaultConfig, later, libsql],
    }),
    await esbuild.build({
      ...settings(ENTRIES.languages),
      ...required,
      plugins: [apart(), defaultConfig, later, libsql],
    }),
    await esbuild.build({ ...settings([{ in: "re2js", out: "policy/re2" }]), ...required, external: [] }),
    await esbuild.build({ ...settings(ENTRIES.typescript), ...one }),
    await sharing(ENTRIES.others),
    await esbuild.build({
      ...settings(ENTRIES.library),
      format: "esm",
      splitting: true,
      chunkNames: "shared/[name]-[hash]",
      external: [...EXTERNAL, "zod"],
      alias: ES_MODULES,
    }),
  ];
  for (const one of built.slice(0, 3)) await loadLater(one);
  return packagesOf(built.flatMap(({ metafile }) => Object.keys(metafile.inputs)));
}

async function loadLater({ metafile }) {
  const later = 'name=>new Proxy({},{get:(_,key)=>key==="default"?require(name):require(name)[key]})';
  for (const file of Object.keys(metafile.outputs)) {
    const code = await readFile(file, "utf8");
    const changed = code.replace(SLOW, (_, plain, whole) => `nodeModuleLater("node:${plain ?? whole}")`);
    if (changed !== code) await writeFile(file, `const nodeModuleLater=${later};${changed}`);
  }
}

/** esbuild shares files only between ES modules: they are built as ES modules, then converted to CommonJS. */
async function sharing(entryPoints) {
  const built = await esbuild.build({
    ...settings(entryPoints),
    format: "esm",
    splitting: true,
    outExtension: { ".js": ".cjs" },
    chunkNames: "shared/[name]-[hash]",
    external: EXTERNAL,
    alias: ES_MODULES,
    plugins: [apart()],
  });
  for (const file of Object.keys(built.metafile.outputs)) {
    const { code } = await esbuild.transform(await readFile(file, "utf8"), {
      format: "cjs",
      platform: "node",
      target: "node20",
      minifyWhitespace: true,
      define: { "import.meta.url": "importMetaUrl" },
      supported: { "dynamic-import": false },
      banner: `const importMetaUrl = require("node:url").pathToFileURL(__filename).href;`,
    });
    await writeFile(file, code);
  }
  return built;
}

function packagesOf(inputs) {
  const names = inputs.flatMap((file) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []);
  return [...new Set(names)].sort();
}
