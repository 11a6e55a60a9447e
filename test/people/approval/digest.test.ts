import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { commandDigest } from "../../../src/people/approval/digest.js";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-digest-"));
  mkdirSync(join(folder, "sub"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const FILES: Readonly<Record<string, string>> = {
  "x.sh": "echo x\nbash y.sh\n",
  "y.sh": "echo y\n",
  "x.py": "print('x')\n",
  "x.js": "console.log('x')\n",
  "x.awk": "{ print }\n",
  Makefile: "all:\n\techo made\n",
  "package.json": '{ "scripts": { "lint": "echo lint" } }\n',
  "sub/Makefile": "all:\n\techo sub\n",
  "stack.yml": "services: {}\n",
  "mod.py": "print('mod')\n",
};
beforeEach(() => {
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);
  chmodSync(join(folder, "x.sh"), 0o755);
});

const of = (
  command: string,
  more: { cwd?: string; env?: readonly string[]; files?: readonly string[] } = {},
) => commandDigest({ command, cwd: folder, env: ["PATH", "HOME"], ...more });

describe("a digest", () => {
  it("is the same for the same", () => {
    expect(of("bash x.sh")).toEqual(of("bash x.sh"));
    expect(of("ls", { env: ["HOME", "PATH", "PATH"] }).digest).toBe(of("ls").digest);
    expect(
      commandDigest({ command: "ls", cwd: folder, env: { PATH: "/bin", HOME: "/", GONE: undefined } }).digest,
    ).toBe(of("ls").digest);
  });

  it.each([
    ["a word", () => of("ls -l")],
    ["a blank", () => of("ls  ")],
    ["the folder", () => of("ls", { cwd: join(folder, "sub") })],
    ["a further variable", () => of("ls", { env: ["PATH", "HOME", "LD_PRELOAD"] })],
    ["a missing variable", () => of("ls", { env: ["PATH"] })],
    ["words in place of a text", () => commandDigest({ argv: ["ls"], cwd: folder, env: ["PATH", "HOME"] })],
    [
      "what is on stdin",
      () => commandDigest({ command: "ls", cwd: folder, env: ["PATH", "HOME"], stdin: "" }),
    ],
    ["a further file", () => of("ls", { files: ["x.py"] })],
  ])("changes with %s", (_, changed) => expect(changed().digest).not.toBe(of("ls").digest));

  it("keeps words apart: `a b` is not `a` and `b`", () => {
    const words = (argv: string[]) => commandDigest({ argv, cwd: folder, env: [] }).digest;
    expect(words(["a b"])).not.toBe(words(["a", "b"]));
    expect(words(["a", "", "b"])).not.toBe(words(["a", "b"]));
  });

  it.each([
    ["bash x.sh", "x.sh"],
    ["bash x.sh", "y.sh"],
    ["./x.sh", "x.sh"],
    ["sudo env A=1 bash ./x.sh", "x.sh"],
    ["sh -e < x.sh", "x.sh"],
    ["cat x.sh | bash", "x.sh"],
    [". ./x.sh", "x.sh"],
    ["python3 x.py", "x.py"],
    ["python3 -u x.py --verbose", "x.py"],
    ["python3 -m mod", "mod.py"],
    ["node x.js", "x.js"],
    ["node -r ./x.js y.js", "x.js"],
    ["awk -f x.awk data", "x.awk"],
    ["deno run --allow-read x.js", "x.js"],
    ["uv run x.py", "x.py"],
    ["docker compose --file=stack.yml up", "stack.yml"],
    ["make", "Makefile"],
    ["make -C sub all", "sub/Makefile"],
    ["make -f sub/Makefile", "sub/Makefile"],
    ["npm run lint", "package.json"],
    ["cd sub && make", "sub/Makefile"],
    ["sh -c 'python3 x.py'", "x.py"],
    ["find . -name '*.c' -exec ./x.sh {} ;", "x.sh"],
  ])("of %s changes with the contents of %s", (command, name) => {
    const before = of(command);
    expect(before.files.map(({ path }) => path)).toContain(join(folder, name));
    writeFileSync(join(folder, name), `${FILES[name]}# changed\n`);
    expect(of(command).digest).not.toBe(before.digest);
    rmSync(join(folder, name));
    const without = of(command);
    expect(without.digest).not.toBe(before.digest);
    expect(without.files).toContainEqual({ path: join(folder, name), hash: null });
  });

  it("changes when a script that was missing appears", () => {
    rmSync(join(folder, "x.py"));
    const before = of("python3 x.py");
    writeFileSync(join(folder, "x.py"), "");
    expect(of("python3 x.py").digest).not.toBe(before.digest);
    const made = of("make").digest;
    writeFileSync(join(folder, "GNUmakefile"), "all:\n\techo first\n");
    expect(of("make").digest).not.toBe(made);
    rmSync(join(folder, "GNUmakefile"));
  });

  it("of words finds the same scripts", () => {
    const { files } = commandDigest({ argv: ["python3", "x.py", "it's"], cwd: folder, env: [] });
    expect(files.map(({ path }) => path)).toEqual([join(folder, "x.py")]);
  });

  it("changes when a folder that is a link leads elsewhere", () => {
    const link = join(folder, "link");
    symlinkSync(join(folder, "sub"), link);
    const before = of("ls", { cwd: link }).digest;
    rmSync(link);
    symlinkSync(folder, link);
    expect(of("ls", { cwd: link }).digest).not.toBe(before);
  });

  it("does not wait for a pipe, and takes nothing else for a script", () => {
    execFileSync("mkfifo", [join(folder, "pipe")]);
    expect(of("bash pipe").files).toEqual([{ path: join(folder, "pipe"), hash: "not-a-file" }]);
    expect(of("bash sub").files).toEqual([{ path: join(folder, "sub"), hash: "not-a-file" }]);
    expect(of("rm x.py").files).toEqual([]);
    expect(of("sed -i s/a/b/ x.py").files).toEqual([]);
    expect(of("cat x.py > x.js").files).toEqual([]);
  });

  it("names every program that is typed", () => {
    expect(of("ls -l && env A=1 bash x.sh | wc").programs).toEqual([
      ["ls", "-l"],
      ["env", "A=1", "bash", "x.sh"],
      ["bash", "x.sh"],
      ["wc"],
    ]);
    expect(of("$X y").programs).toEqual([["eval"]]);
  });
});
