import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../tools.mjs";

const MODULES = { full: 40, quick: 10 };
/** Packages without dependencies that HERMES is developed with: nothing is fetched. */
const PACKAGES = ["zod", "yaml", "commander", "ipaddr.js", "unbash", "jsonc-parser"];

const originIn = ({ folder }) => join(folder, "day.git");
const packageIn = ({ folder }, name) => join(folder, "packages", `${name}.tgz`);
const cloneIn = ({ workspace }) => join(workspace, "day");
/** In the workspace: behind a strict fence, the home is read-only. */
const cacheIn = ({ workspace }) => join(workspace, "day-cache");
const foundIn = ({ workspace }) => join(workspace, "day.found");

/** What an agent does all day, in one go. */
export const day = {
  name: "day",
  about: "git clone, npm ci of local packages, make with gcc, node --test, grep -r, git commit",
  needs: ["git", "npm", "gcc", "make", "grep", "tar"],
  prepare(place, size) {
    mkdirSync(join(place.folder, "packages"));
    for (const name of PACKAGES) pack(join(root, "node_modules", name), packageIn(place, name));
    const project = join(place.folder, "day");
    writeProject(project, place, MODULES[size]);
    const run = (...argv) => execFileSync(argv[0], argv.slice(1), { cwd: project, stdio: "ignore", env });
    const env = { PATH: process.env.PATH, HOME: place.home };
    run("npm", "install", "--package-lock-only", "--offline", "--no-audit", "--no-fund");
    run("git", "init", "-q");
    run("git", "add", ".");
    run("git", ...WHO, "commit", "-q", "-m", "all");
    run("git", "clone", "-q", "--bare", project, originIn(place));
  },
  reset(place) {
    rmSync(cloneIn(place), { recursive: true, force: true });
    rmSync(foundIn(place), { force: true });
  },
  argv: (place) => ["sh", "-ec", DAY, "sh", originIn(place), cloneIn(place), foundIn(place), cacheIn(place)],
  check(place, size) {
    const clone = cloneIn(place);
    const objects = readdirSync(join(clone, "src")).filter((name) => name.endsWith(".o"));
    const found = readFileSync(foundIn(place), "utf8").trim().split("\n");
    const versionIn = (folder, name) =>
      JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8")).version;
    const log = execFileSync("git", ["-C", clone, "log", "--format=%s"], { encoding: "utf8" });
    const wrong = [
      objects.length !== MODULES[size] && `${objects.length} objects`,
      found.length !== MODULES[size] && `grep found ${found.length} lines`,
      ...PACKAGES.map((name) => versionIn(clone, name) !== versionIn(root, name) && `another ${name}`),
      log !== "a day's work\nall\n" && `commits ${JSON.stringify(log)}`,
    ].filter(Boolean);
    if (wrong.length > 0) throw new Error(`wrong results: ${wrong.join(", ")}`);
  },
};

const WHO = ["-c", "user.name=agent", "-c", "user.email=agent@localhost"];

const DAY = `
git clone -q "$1" "$2"
cd "$2"
npm ci --offline --ignore-scripts --no-audit --no-fund --loglevel=error --cache "$4"
make -s -j2
node --test >/dev/null
grep -rn '^int module' . >"$3"
echo done >NOTES
git add NOTES
git ${WHO.join(" ")} commit -q -m "a day's work"
`;

/** As `npm pack` does: all files below "package". */
function pack(folder, file) {
  execFileSync("tar", ["-czf", file, "--transform=s,^\\.,package,", "-C", folder, "."], { stdio: "ignore" });
}

/** A program in C of several files, with a test in JavaScript. */
function writeProject(project, place, modules) {
  mkdirSync(join(project, "src"), { recursive: true });
  const dependencies = Object.fromEntries(PACKAGES.map((name) => [name, `file:${packageIn(place, name)}`]));
  const files = {
    "package.json": JSON.stringify({ name: "day", version: "1.0.0", dependencies }),
    ".gitignore": "node_modules\n*.o\n/program\n",
    Makefile: MAKEFILE,
    "program.test.mjs": testOf(modules),
    "main.c": mainOf(modules),
  };
  for (let i = 0; i < modules; i++) files[`src/module${i}.c`] = moduleOf(i);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text);
}

const MAKEFILE = `
program: main.c $(patsubst %.c,%.o,$(wildcard src/*.c))
	gcc -O2 -o $@ $^
%.o: %.c
	gcc -O2 -Wall -c -o $@ $<
`;

const moduleOf = (i) => `#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int module${i}(const char *text) { return (int)strlen(text) + ${i}; }
`;

const mainOf = (modules) => {
  const numbers = Array.from({ length: modules }, (_, i) => i);
  const sum = numbers.map((i) => `module${i}("")`).join(" + ");
  return `#include <stdio.h>
${numbers.map((i) => `extern int module${i}(const char *);`).join("\n")}
int main(void) { printf("%d\\n", ${sum}); return 0; }
`;
};

const testOf = (modules) => `
import assert from "node:assert";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { parse } from "yaml";
import { z } from "zod";
test("the program adds", () => {
  const said = execFileSync("./program", { encoding: "utf8" });
  assert.equal(z.number().parse(parse(said)), ${(modules * (modules - 1)) / 2});
});
`;
