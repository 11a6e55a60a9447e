#!/usr/bin/env node
// The test command: builds, checks style and types, installs what tests need, runs both parts, counts them.
//   node scripts/test.mjs                 everything
//   node scripts/test.mjs --pure          only the pure part: no build, no packages, any OS, any user
//   node scripts/test.mjs --kernel        only the kernel part
// Other arguments are passed on to vitest, e.g. `npm test -- test/abi`.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const ci = process.env.CI === "true";
const PARTS = ["pure", "kernel"];
const words = process.argv.slice(2);
const chosen = PARTS.filter((part) => words.includes(`--${part}`));
const parts = chosen.length > 0 ? chosen : PARTS;
const passedOn = words.filter((word) => !PARTS.some((part) => word === `--${part}`));

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

function prepareKernelPart() {
  must("build", "node", ["scripts/build.mjs", "--quiet"]);
  must("style", "node", ["node_modules/@biomejs/biome/bin/biome", "check", "--error-on-warnings", "."]);
  must("types", "node", ["node_modules/typescript/bin/tsc", "--noEmit", "-p", "test/tsconfig.json"]);
  must("types of pages", "node", ["node_modules/typescript/bin/tsc", "--noEmit", "-p", "web/tsconfig.json"]);
  installPackages();
}

/** Runs one part, and returns its counts. Words that fit no test of this part may fit one of the other. */
function runPart(part) {
  const report = `build/tests-${part}.json`;
  mkdirSync("build", { recursive: true });
  rmSync(report, { force: true });
  const begun = Date.now();
  const status = run("node", [
    "node_modules/vitest/vitest.mjs",
    "run",
    `--project=${part}`,
    "--passWithNoTests",
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${report}`,
    ...passedOn,
  ]);
  const seconds = Math.round((Date.now() - begun) / 1000);
  const found = existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : {};
  const { numPassedTests = 0, numFailedTests = 0, numPendingTests = 0, numTodoTests = 0 } = found;
  const skipped = numPendingTests + numTodoTests;
  process.stderr.write(
    `test: ${part} part: ${numPassedTests} passed, ${numFailedTests} failed, ${skipped} skipped in ${seconds} s\n`,
  );
  return { status, passed: numPassedTests, failed: numFailedTests, skipped };
}

if (parts.includes("kernel")) prepareKernelPart();
const results = parts.map(runPart);
const sum = (key) => results.reduce((total, result) => total + result[key], 0);
const [passed, failed, skipped] = [sum("passed"), sum("failed"), sum("skipped")];
if (skipped > 0) process.stderr.write(`test: ${skipped} tests were NOT RUN on this machine\n`);
process.stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
const isRed = results.some(({ status }) => status !== 0) || failed > 0 || passed === 0 || (ci && skipped > 0);
process.exit(isRed ? 1 : 0);
