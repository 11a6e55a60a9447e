import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { globTest } from "../../../../src/agents/tools/files/glob.js";
import { listFiles } from "../../../../src/agents/tools/files/list.js";
import { searchFiles } from "../../../../src/agents/tools/files/search.js";
import { makeWorld, perform, temporary } from "../world.js";

const project = {
  ".gitignore": "node_modules/\n*.log\n!keep.log\n/build\n# nothing\n",
  "src/a.ts": "const one = 1;\nconst two = 2;\n// end\n",
  "src/b.js": "let two;\n",
  "src/deep/er/c.ts": "two\n",
  "src/.gitignore": "generated.ts\n",
  "src/generated.ts": "two\n",
  "node_modules/x/index.js": "two\n",
  "build/out.ts": "two\n",
  "src/build/in.ts": "two\n",
  "x.log": "two\n",
  "keep.log": "two\n",
  ".git/config": "two\n",
};

describe("list_files", () => {
  it("lists one level, by name, with sizes, without what .gitignore hides", async () => {
    const world = await makeWorld({ files: project });
    const { entries, truncated } = await perform(listFiles, {}, world);
    expect(entries).toEqual([
      { path: ".gitignore", type: "file", size: 47 },
      { path: "keep.log", type: "file", size: 4 },
      { path: "src", type: "folder" },
    ]);
    expect(truncated).toBe(false);
  });

  it("goes as deep as it is told, and fits globs", async () => {
    const world = await makeWorld({ files: project });
    const paths = async (input: object) =>
      (await perform(listFiles, input, world)).entries.map((e) => e.path);
    expect(await paths({ path: "src", depth: 2 })).toEqual([
      ".gitignore",
      "a.ts",
      "b.js",
      "build",
      "build/in.ts",
      "deep",
      "deep/er",
    ]);
    expect(await paths({ depth: 9, glob: "*.ts" })).toEqual([
      "src/a.ts",
      "src/build/in.ts",
      "src/deep/er/c.ts",
    ]);
    expect(await paths({ depth: 9, glob: "*.ts", ignored: true })).toContain("build/out.ts");
  });

  it("agrees with git on what is ignored", async () => {
    const world = await makeWorld({
      files: {
        ...project,
        ".gitignore":
          "*.tmp\n!important.tmp\ndocs/**/draft\nvendor/*\n!vendor/own\nfoo/**\n**/cache\na?c\n[0-9]x\nspace\\ \n",
        "b.tmp": "",
        "important.tmp": "",
        "docs/x/y/draft": "",
        "docs/draft": "",
        "docs/final": "",
        "vendor/other/f": "",
        "vendor/own/f": "",
        "foo/bar": "",
        "p/cache/f": "",
        abc: "",
        ac: "",
        "5x": "",
        "space ": "",
      },
    });
    execFileSync("rm", ["-rf", ".git"], { cwd: world.workspace });
    execFileSync("git", ["init", "-q"], { cwd: world.workspace });
    const git = execFileSync("git", ["ls-files", "--others", "--exclude-standard", "-z"], {
      cwd: world.workspace,
      encoding: "utf8",
    });
    const { entries } = await perform(listFiles, { depth: 20 }, world);
    expect(
      entries
        .filter((e) => e.type === "file")
        .map((e) => e.path)
        .sort(),
    ).toEqual(git.split("\0").filter(Boolean).sort());
  });

  it("stops at 500 entries, at another limit on demand, never above 5,000", async () => {
    const world = await makeWorld();
    for (let i = 0; i < 501; i++) writeFileSync(join(world.workspace, `f${i}`), "");
    const all = await perform(listFiles, {}, world);
    expect([all.entries.length, all.truncated]).toEqual([500, true]);
    expect(all.notes.join()).toMatch(/More than 500/);
    expect((await perform(listFiles, { limit: 501 }, world)).truncated).toBe(false);
    expect(() => listFiles.input.parse({ limit: 5001 })).toThrow();
    expect(listFiles.input.parse({ limit: 5000 }).limit).toBe(5000);
  });

  it("names links and does not follow them; loops have no end to find", async () => {
    const world = await makeWorld({ files: { "d/x": "" } });
    symlinkSync("..", join(world.workspace, "d/up"));
    const { entries } = await perform(listFiles, { depth: 64 }, world);
    expect(entries).toEqual([
      { path: "d", type: "folder" },
      { path: "d/up", type: "link", to: ".." },
      { path: "d/x", type: "file", size: 0 },
    ]);
  });

  it("does not look into folders of keys, and refuses to be asked for one", async () => {
    const world = await makeWorld({ files: { ".ssh/id_rsa": "", a: "" } });
    const seen = await perform(listFiles, { depth: 3 }, world);
    expect(seen.entries.map((e) => e.path)).toEqual([".ssh", "a"]);
    expect(seen.notes.join()).toMatch(/Folders not read: .*\.ssh/);
    await expect(perform(listFiles, { path: ".ssh" }, world)).rejects.toMatchObject({
      rule: "credential-file",
    });
    await expect(perform(listFiles, { path: "a" }, world)).rejects.toThrow(/ENOTDIR/);
  });
});

describe("search_files", () => {
  it("finds lines by pattern, with their numbers", async () => {
    const world = await makeWorld({ files: project });
    const { matches, files } = await perform(searchFiles, { pattern: "\\btwo\\b", path: "src" }, world);
    expect(matches).toEqual([
      { path: "src/a.ts", line: 2, text: "const two = 2;" },
      { path: "src/b.js", line: 1, text: "let two;" },
      { path: "src/build/in.ts", line: 1, text: "two" },
      { path: "src/deep/er/c.ts", line: 1, text: "two" },
    ]);
    expect(files).toBe(5);
  });

  it("takes literals, globs, case and context", async () => {
    const world = await makeWorld({ files: { "a.txt": "1\r\n2\r\nX.Y(\r\n4\r\n5", "b.md": "x.y(" } });
    const search = async (input: object) => (await perform(searchFiles, input, world)).matches;
    expect(await search({ pattern: "X.Y(", literal: true })).toHaveLength(1);
    expect(await search({ pattern: "X.Y(", literal: true, ignore_case: true })).toHaveLength(2);
    expect(await search({ pattern: "y.$", ignore_case: true, glob: "*.{txt,log}", context: 1 })).toEqual([
      { path: "a.txt", line: 3, text: "X.Y(", before: ["2"], after: ["4"] },
    ]);
    expect(await search({ pattern: "5", path: "a.txt" })).toEqual([{ path: "a.txt", line: 5, text: "5" }]);
    await expect(search({ pattern: "X.Y(" })).rejects.toThrow(
      /not a valid RE2 regular expression.*set literal/,
    );
  });

  it("finds files by their names", async () => {
    const world = await makeWorld({ files: project });
    const { matches } = await perform(searchFiles, { pattern: "\\.ts$", names: true }, world);
    expect(matches.map((m) => m.path)).toEqual(["src/a.ts", "src/build/in.ts", "src/deep/er/c.ts"]);
  });

  it("leaves out binary, huge and secret files, pipes and links, and says so", async () => {
    const world = await makeWorld({
      files: { bin: Buffer.from("two\0"), big: "two\n", ".env": "two=2\n", "a.txt": "two\n" },
    });
    truncateSync(join(world.workspace, "big"), (5 << 20) + 1);
    execFileSync("mkfifo", [join(world.workspace, "pipe")]);
    const other = temporary();
    writeFileSync(join(other, "x"), "two\n");
    symlinkSync(other, join(world.workspace, "out"));
    const { matches, notes } = await perform(searchFiles, { pattern: "two" }, world);
    expect(matches.map((m) => m.path)).toEqual(["a.txt"]);
    expect(notes).toEqual([
      "Folders not read: .env.",
      "1 binary file was skipped.",
      "1 file over 5 MB was skipped.",
    ]);
  });

  it("looks into one file that was approved, and refuses what is none", async () => {
    const world = await makeWorld({ files: { "secrets.json": "two\n" } });
    execFileSync("mkfifo", [join(world.workspace, "pipe")]);
    const seen = await perform(searchFiles, { pattern: "two", path: "secrets.json" }, world, {
      approve: true,
    });
    expect(seen.matches).toHaveLength(1);
    await expect(perform(searchFiles, { pattern: "x", path: "pipe" }, world)).rejects.toMatchObject({
      rule: "not-a-file",
    });
  });

  it("takes secrets out of what it shows", async () => {
    const key = `AKIA${"Q3EGRIVNBL5XUZTA"}`;
    const world = await makeWorld({ files: { a: `x\nid = ${key}\n` } });
    const { matches, notes } = await perform(searchFiles, { pattern: "AKIA" }, world);
    expect(JSON.stringify(matches)).not.toContain(key);
    expect(notes.join()).toMatch(/Secrets are redacted/);
  });

  it("stops at 100 lines, never above 1,000", async () => {
    const world = await makeWorld({ files: { a: "x\n".repeat(101) } });
    const seen = await perform(searchFiles, { pattern: "x" }, world);
    expect([seen.matches.length, seen.truncated]).toEqual([100, true]);
    expect((await perform(searchFiles, { pattern: "x", limit: 101 }, world)).truncated).toBe(false);
    expect(() => searchFiles.input.parse({ pattern: "x", limit: 1001 })).toThrow();
  });

  it("is not kept busy by an evil pattern or an evil .gitignore", async () => {
    const world = await makeWorld({
      files: {
        ".gitignore": `${"a*".repeat(200)}b\n${"**/".repeat(200)}x\n`,
        [`${"a".repeat(200)}`]: `${"a".repeat(50_000)}\n`,
      },
    });
    mkdirSync(join(world.workspace, "d/".repeat(30)), { recursive: true });
    const { files } = await perform(searchFiles, { pattern: "(a+)+$|(a|aa)*c" }, world);
    expect(files).toBe(2);
  });
});

describe("globs", () => {
  it.each([
    ["*.ts", "a.ts", true],
    ["*.ts", "d/a.ts", true],
    ["/a.ts", "d/a.ts", false],
    ["src/**", "src/a/b", true],
    ["src/**", "src", false],
    ["src/**/b", "src/b", true],
    ["src/*/b", "src/b", false],
    ["{a,b}/{c,d}.x", "b/c.x", true],
    ["[!a]x", "bx", true],
    ["[!a]x", "ax", false],
    ["[a-c]?", "b1", true],
    ["a\\*", "a*", true],
    ["a\\*", "ab", false],
  ])("%s and %s: %s", (glob, path, fits) => expect(globTest(glob)(path)).toBe(fits));

  it("take a time that does not explode", () =>
    expect(globTest("*a".repeat(500))(`${"a".repeat(5000)}b`)).toBe(false));
});
