// What is started and what is imported, made of src/ by esbuild.
import { rmSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import * as esbuild from "esbuild";

/** Packages that are files on disk (a compiler, WebAssembly), or that hardly anybody needs. */
export const EXTERNAL = ["esbuild", "iced-x86", "jsonc-parser", "libsql", "pg", "wasmoon", "re2js"];

/** Commands that must start at once: each is one file. */
const QUICK = ["attend", "commands", "completion", "hook", "hook-judge", "run-line", "trace"];

/** Commands whose start is not what people wait for: they share files. */
const OTHERS = [
  "agent",
  "analyze",
  "approvals",
  "attach",
  "audit",
  "audit-replay",
  "console",
  "coverage",
  "diff",
  "doctor",
  "exec",
  "export",
  "fleet",
  "guard",
  "inspect",
  "install",
  "learn",
  "man",
  "mcp",
  "mcp-gateway",
  "policy",
  "policy-test",
  "query",
  "remote",
  "shell",
  "simulate",
  "skill",
  "top",
];
/** Modules of Node's that take a millisecond or more each, and that most runs never use: loaded when something of them is. */
const SLOW =
  /(?<=\w=)(?:require\("node:(child_process|crypto|net|tty|worker_threads|zlib)"\)|__toESM\(require\("node:(child_process|crypto|net|tty|worker_threads|zlib)"\)(?:,1)?\))/g;

/** What Node is offered is CommonJS, whose names are not known when it is bundled. The same as an ES module: */
const ES_MODULES = { yaml: "./node_modules/yaml/browser/index.js" };
const COMMANDS = [...QUICK, ...OTHERS];
const LANGUAGES = ["yaml", "lua"].map((name) => `src/policy/${name}/load.ts`);

function settings(entryPoints) {
  return {
    entryPoints,
    outdir: "dist",
    outbase: "src",
    bundle: true,
    platform: "node",
    target: "node20",
    logLevel: "warning",
    metafile: true,
  };
}

/**
 * Where one command, or the thread, loads another file that is started by itself. All lie one folder below dist. Those that
 * V8 has compiled before are loaded with what it made of them (src/compiled.ts). Languages that are `inside` are not apart.
 */
const apart = (inside = []) => ({
  name: "apart",
  setup(build) {
    const compiled = (path) =>
      build.initialOptions.format === "cjs" ? { path, namespace: "compiled" } : { path, external: true };
    build.onResolve({ filter: /^\.\/\w+\/load\.js$/ }, ({ path, importer }) => {
      if (!importer.endsWith("src/policy/load.ts") || inside.includes(path)) return undefined;
      const file = path.replace(/^\.\/(\w+)\/load\.js$/, "../policy/$1/load.cjs");
      // What uses import() must be loaded by Node itself.
      return file.includes("/typescript/") ? { path: file, external: true } : compiled(file);
    });
    build.onResolve({ filter: /^\.\.\/deed\/policy\.js$/ }, ({ importer }) =>
      importer.endsWith("src/session/supervise.ts")
        ? { path: "../deed/policy.cjs", external: true }
        : undefined,
    );
    build.onResolve({ filter: /^\.\/read\.js$/ }, ({ importer }) =>
      importer.endsWith("src/policy/yaml/load.ts") ? compiled("../policy/yaml/read.cjs") : undefined,
    );
    build.onResolve({ filter: /^\.\/worker\.js$/ }, ({ kind }) =>
      kind === "dynamic-import" ? compiled("../session/worker.cjs") : undefined,
    );
    build.onResolve({ filter: /^\.\/[\w-]+\.js$/ }, ({ path, importer, kind }) => {
      const name = path.slice(2, -3);
      if (kind !== "dynamic-import" || !importer.includes("/src/cli/") || !COMMANDS.includes(name))
        return undefined;
      return QUICK.includes(name)
        ? compiled(`../cli/${name}.cjs`)
        : { path: `../cli/${name}.cjs`, external: true };
    });
    build.onLoad({ filter: /\/src\/policy\/yaml\/re2\.ts$/ }, () => ({
      contents: `import { loadCompiled } from "./src/compiled.ts";
        import { HOME } from "./src/home.ts";
        export const re2 = () => loadCompiled(HOME + "dist/policy/re2.cjs");`,
      resolveDir: ".",
    }));
    build.onLoad({ filter: /./, namespace: "compiled" }, ({ path }) => ({
      contents: `const file = require("./src/home.ts").HOME + ${JSON.stringify(path.replace("..", "dist"))};
        module.exports = require("./src/compiled.ts").loadCompiled(file);`,
      resolveDir: ".",
    }));
  },
});

/**
 * Node works for every module that it loads, and more for a thread that loads ES modules. So what must start at once is
 * one CommonJS file each, and so is each language; other commands share theirs; what is imported is an ES module.
 * Returns the packages that went into them.
 */
export async function bundle() {
  for (const folder of ["dist/shared", "dist/cli", "dist/policy", "dist/session", "dist/deed"])
    rmSync(folder, { recursive: true, force: true });
  const one = {
    format: "cjs",
    outExtension: { ".js": ".cjs" },
    external: EXTERNAL,
    minifyWhitespace: true, // less to read at each start; names stay, for stack traces
    define: { "import.meta.url": "importMetaUrl" },
    banner: { js: `const importMetaUrl = require("node:url").pathToFileURL(__filename).href;` },
  };
  // import() goes through the loader of ES modules, require() does not. Only TypeScript policies need import().
  const required = { ...one, supported: { "dynamic-import": false } };
  const started = [
    ...["main", "attendant"].map((name) => `src/cli/${name}.ts`),
    ...["thread-start", "worker"].map((name) => `src/session/${name}.ts`),
    ...QUICK.filter((name) => name !== "run-line").map((name) => `src/cli/${name}.ts`),
  ];
  // Most runs have policies in YAML: they come with it.
  const run = { ...settings(["src/cli/run-line.ts"]), ...required, plugins: [apart(["./yaml/load.js"])] };
  const built = [
    await esbuild.build(run),
    await esbuild.build({ ...settings(started), ...required, plugins: [apart()] }),
    await esbuild.build({
      ...settings([...LANGUAGES, "src/policy/yaml/read.ts"]),
      ...required,
      plugins: [apart()],
    }),
    await esbuild.build({
      ...settings([{ in: "re2js", out: "policy/re2" }]),
      ...required,
      external: [],
    }),
    await esbuild.build({ ...settings(["src/policy/typescript/load.ts"]), ...one }),
    await sharing(["src/deed/policy.ts", ...OTHERS.map((name) => `src/cli/${name}.ts`)]),
    await esbuild.build({
      ...settings(["src/index.ts", "src/guard/index.ts", "src/tools/index.ts"]),
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
    const changed = code.replace(SLOW, (_, plain, whole) => `later("node:${plain ?? whole}")`);
    if (changed !== code) await writeFile(file, `const later=${later};${changed}`);
  }
}

/** esbuild lets only ES modules share files: they are made so, and each is then turned into CommonJS. */
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
