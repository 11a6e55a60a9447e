#!/usr/bin/env node
// Builds dist/: the compiled TypeScript, the native addon and the launcher. Does nothing when everything is up to date.
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { precompile } from "./compile.mjs";
import { licencesOf } from "./licences.mjs";
import { buildNative, HEADERS } from "./native.mjs";
import { pruneTypes } from "./types.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
process.chdir(root);
const quiet = process.argv.includes("--quiet");
const force = process.argv.includes("--force");

function newest(path) {
  const info = statSync(path);
  if (!info.isDirectory()) return info.mtimeMs;
  return Math.max(info.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

function fresh(stamp, inputs) {
  return !force && existsSync(stamp) && inputs.every((input) => newest(input) <= statSync(stamp).mtimeMs);
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, {
    stdio: ["ignore", quiet ? "ignore" : "inherit", "inherit"],
  });
  if (error) fail(`${command} cannot be started (${error.code}). Run npm ci first.`);
  if (status !== 0) fail(`${command} failed`);
}

function fail(message) {
  process.stderr.write(`build: ${message}\n`);
  process.exit(1);
}

async function step(name, inputs, act) {
  const stamp = `dist/.${name}`;
  if (fresh(stamp, inputs)) return;
  if (!quiet) process.stderr.write(`build: ${name}\n`);
  mkdirSync("dist/native", { recursive: true });
  rmSync(stamp, { force: true });
  await act();
  writeFileSync(stamp, "");
}

await step(
  "typescript",
  [
    "src",
    "tsconfig.json",
    "package.json",
    "package-lock.json",
    "scripts/build.mjs",
    "scripts/bundle.mjs",
    "scripts/default-config.mjs",
    "scripts/later.mjs",
    "scripts/libsql.mjs",
  ],
  async () => {
    const { bundle } = await import("./bundle.mjs").catch(() =>
      fail("esbuild is missing. Run npm ci first."),
    );
    const packages = await bundle();
    writeFileSync("dist/LICENCES.md", licencesOf(packages));
    run("node", ["node_modules/typescript/bin/tsc", "-p", "tsconfig.json", "--emitDeclarationOnly"]);
    pruneTypes();
  },
);

/** The manual page, which npm installs with the command. */
await step("man", ["src/cli", "package.json", "scripts/build.mjs"], () => {
  const { stdout, status } = spawnSync(process.execPath, ["dist/cli/main.cjs", "man"]);
  if (status !== 0) fail("the manual page could not be made");
  writeFileSync("dist/hermes.1", stdout);
});

/** A web page: one script and one style sheet. */
async function page(name, outdir) {
  const esbuild = await import("esbuild");
  const all = { outdir, bundle: true, minify: true, logLevel: "warning" };
  await esbuild.build({
    ...all,
    entryPoints: { [name]: `web/${name}/main.ts` },
    format: "iife",
    target: "es2022",
    charset: "utf8",
  });
  await esbuild.build({ ...all, entryPoints: [`web/${name}/${name}.css`] });
}

/** The assets of each report of `hermes analyze --html`. */
await step("report", ["web/report", "src/offline/analyze", "package-lock.json", "scripts/build.mjs"], () =>
  page("report", "dist/report"),
);

/** The page of `hermes console`. */
await step(
  "console",
  [
    "web/console",
    "web/report",
    "src/offline/analyze/format.ts",
    "src/record/audit/records.ts",
    "scripts/build.mjs",
  ],
  async () => {
    await page("console", "dist/web/console");
    for (const name of ["index.html", "icon.svg"])
      copyFileSync(`web/console/${name}`, `dist/web/console/${name}`);
  },
);

if (process.platform === "linux" && process.arch === "x64") {
  await step("native", ["native", "scripts/native.mjs"], () => {
    const failure = buildNative({ quiet });
    if (failure) fail(failure);
    cpSync(HEADERS, "dist/native/include", { recursive: true });
  });
} else {
  process.stderr.write(
    `build: no native part for ${process.platform}-${process.arch}; only what needs no kernel will work\n`,
  );
}

/** Precomputed facts about the bundled policies: src/policy/yaml/precompiled.ts. */
await step("policies", ["policies", "dist/.typescript", "scripts/policies.mjs"], async () => {
  const { knownPolicies } = await import("./policies.mjs");
  rmSync("dist/policies", { recursive: true, force: true });
  const known = await knownPolicies();
  mkdirSync("dist/policies");
  for (const [digest, file] of known) writeFileSync(`dist/policies/${digest}.json`, JSON.stringify(file));
});

/**
 * V8's code cache for the entry points that must start fast. It is recorded from a run, so everything else is built first.
 */
await step(
  "compiled",
  ["dist/.typescript", "dist/.policies", "scripts/compile.mjs", "scripts/precompile.cjs"],
  () => {
    const failure = precompile();
    if (failure) process.stderr.write(`build: ${failure}; it will start more slowly\n`);
  },
);
