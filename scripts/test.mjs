#!/usr/bin/env node
// The test command: builds, checks style and types, installs what tests need, runs them all, counts them.
// Arguments are passed on to vitest, e.g. `npm test -- test/abi`.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const ci = process.env.CI === "true";
const report = "build/tests.json";

function run(command, args, options = {}) {
  return spawnSync(command, args, { stdio: "inherit", ...options }).status ?? 1;
}

function must(name, command, args) {
  process.stderr.write(`test: ${name}\n`);
  if (run(command, args) !== 0) {
    process.stderr.write(`test: ${name} failed\n`);
    process.exit(1);
  }
}

function installed(name) {
  return (
    spawnSync("dpkg", ["-s", name], { encoding: "utf8" }).stdout?.includes("Status: install ok installed") ===
    true
  );
}

/** Debian packages that the tests run as tracees or peers. Where they cannot be installed, say so loudly. */
function installPackages() {
  const wanted = readFileSync("scripts/test-packages.txt", "utf8")
    .split("\n")
    .map((line) => line.replace(/#.*/, "").trim())
    .filter(Boolean);
  const missing = wanted.filter((name) => !installed(name));
  if (missing.length === 0) return;
  const can = process.getuid() === 0 && existsSync("/usr/bin/apt-get");
  if (can) {
    process.stderr.write(`test: installing ${missing.join(" ")}\n`);
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    run("apt-get", ["update", "-qq"], { env, stdio: "ignore" });
    if (
      run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...missing], {
        env,
        stdio: ["ignore", "ignore", "inherit"],
      }) === 0
    )
      return;
  }
  process.stderr.write(
    `\ntest: NOT INSTALLED: ${missing.join(" ")}. The tests that need them will fail or be skipped.\n\n`,
  );
  if (ci) process.exit(1);
}

must("build", "node", ["scripts/build.mjs", "--quiet"]);
must("style", "node", ["node_modules/@biomejs/biome/bin/biome", "check", "--error-on-warnings", "."]);
must("types", "node", ["node_modules/typescript/bin/tsc", "--noEmit", "-p", "test/tsconfig.json"]);
must("types of pages", "node", ["node_modules/typescript/bin/tsc", "--noEmit", "-p", "web/tsconfig.json"]);
installPackages();
mkdirSync("build", { recursive: true });
const status = run("node", [
  "node_modules/vitest/vitest.mjs",
  "run",
  "--reporter=default",
  "--reporter=json",
  `--outputFile.json=${report}`,
  ...process.argv.slice(2),
]);

const {
  numPassedTests: passed = 0,
  numFailedTests: failed = 0,
  numPendingTests: pending = 0,
  numTodoTests: todo = 0,
} = existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : {};
const skipped = pending + todo;
if (skipped > 0) process.stderr.write(`test: ${skipped} tests were NOT RUN on this machine\n`);
process.stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
process.exit(status !== 0 || failed > 0 || passed === 0 || (ci && skipped > 0) ? 1 : 0);
