import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { diff } from "../../../../src/agents/tools/files/diff.js";
import { patch } from "../../../../src/agents/tools/files/patch.js";
import { readFile } from "../../../../src/agents/tools/files/read.js";
import { applyDiff } from "../../../../src/agents/tools/files/unified.js";
import { makeWorld, perform, temporary } from "../world.js";

async function patched(before: string | Buffer, change: object): Promise<Buffer> {
  const world = await makeWorld({ files: { a: before } });
  await perform(patch, { path: "a", ...change }, world);
  return readFileSync(join(world.workspace, "a"));
}

const edits = (...list: [string, string, boolean?][]) => ({
  edits: list.map(([old, now, all]) => ({ old, new: now, ...(all && { all }) })),
});

describe("patch with edits", () => {
  it("replaces exact text", async () => {
    expect(`${await patched("a b c", edits(["b", "B"]))}`).toBe("a B c");
    expect(`${await patched("a $& c", edits(["$&", "$1$$"]))}`).toBe("a $1$$ c");
  });

  it("wants the old text to be there once, and names the lines otherwise", async () => {
    await expect(patched("x\ny\nx\n", edits(["x", "z"]))).rejects.toThrow(/2 times, on lines 1, 3/);
    expect(`${await patched("x\ny\nx\n", edits(["x", "z", true]))}`).toBe("z\ny\nz\n");
  });

  it("makes all edits or none", async () => {
    const world = await makeWorld({ files: { a: "one two" } });
    await expect(
      perform(patch, { path: "a", ...edits(["one", "1"], ["three", "3"]) }, world),
    ).rejects.toThrow(/^Edit 2: the old text is not in the file/);
    expect(readFileSync(join(world.workspace, "a"), "utf8")).toBe("one two");
    await perform(patch, { path: "a", ...edits(["one", "1"], ["1 two", "12"]) }, world);
    expect(readFileSync(join(world.workspace, "a"), "utf8")).toBe("12");
  });

  it("says where the text stands with other white space", async () => {
    await expect(patched("if x:\n\treturn  1\n", edits(["if x:\n    return 1", ""]))).rejects.toThrow(
      /Line 1 has it with different white space:\nif x:\n\treturn {2}1/,
    );
    await expect(patched("start here\nother\n", edits(["start here\nend", ""]))).rejects.toThrow(
      /first line matches line 1/,
    );
  });

  it("keeps CRLF, even where the agent writes LF", async () => {
    expect(`${await patched("a\r\nb\r\nc\r\n", edits(["a\nb", "a\nx\nb"]))}`).toBe("a\r\nx\r\nb\r\nc\r\n");
    expect(`${await patched("a\r\nb\r\n", edits(["a", "1\n2"]))}`).toBe("1\r\n2\r\nb\r\n");
    expect(`${await patched("a\r\nb\nc\n", edits(["b", "x\ny"]))}`).toBe("a\r\nx\ny\nc\n");
  });

  it("keeps the encoding, and refuses letters that it has not", async () => {
    const utf16 = Buffer.from("\ufeffä\r\nb", "utf16le");
    expect(await patched(utf16, edits(["ä", "本"]))).toEqual(Buffer.from("\ufeff本\r\nb", "utf16le"));
    const latin = Buffer.from("caf\xe9 \x80\x93\x81", "latin1");
    expect(await patched(latin, edits(["caf", "CAF"]))).toEqual(
      Buffer.from("CAF\xe9 \x80\x93\x81", "latin1"),
    );
    await expect(patched(latin, edits(["caf", "本"]))).rejects.toThrow(/latin-1, which cannot encode/);
  });

  it("refuses binary files, missing files, and what changes nothing", async () => {
    await expect(patched(Buffer.from("a\0b"), edits(["a", "b"]))).rejects.toMatchObject({
      rule: "binary-file",
    });
    await expect(patched("a", edits(["a", "a"]))).rejects.toMatchObject({ rule: "patch-nothing" });
    await expect(patched("a", edits(["", "a"]))).rejects.toMatchObject({ rule: "patch-empty" });
    const world = await makeWorld();
    await expect(perform(patch, { path: "x", ...edits(["a", "b"]) }, world)).rejects.toMatchObject({
      rule: "not-found",
    });
    expect(() => patch.input.parse({ path: "x" })).toThrow(/either edits or a diff/);
  });

  it("mentions that the file changed since it was read", async () => {
    const world = await makeWorld({ files: { a: "one two" } });
    await perform(readFile, { path: "a" }, world);
    writeFileSync(join(world.workspace, "a"), "one two three");
    const { notes } = await perform(patch, { path: "a", ...edits(["one", "1"]) }, world);
    expect(notes.join()).toMatch(/changed after this task read it/);
    expect(readFileSync(join(world.workspace, "a"), "utf8")).toBe("1 two three");
  });
});

describe("patch with a diff", () => {
  const text = "a\nb\nc\nd\ne\nf\n";

  it("applies hunks, also with wrong line numbers when the context stands there once", () => {
    expect(applyDiff(text, "--- a/x\n+++ b/x\n@@ -2,2 +2,2 @@\n b\n-c\n+C\n")).toBe("a\nb\nC\nd\ne\nf\n");
    expect(applyDiff(text, "@@ -40,2 +40,2 @@\n b\n-c\n+C\n@@ -5 +5,2 @@\n e\n+E")).toBe(
      "a\nb\nC\nd\ne\nE\nf\n",
    );
    expect(applyDiff("", "@@ -0,0 +1,2 @@\n+x\n+y\n")).toBe("x\ny\n");
    expect(applyDiff(text, "@@ -6,0 +7 @@\n+g")).toBe(`${text}g\n`);
    expect(applyDiff("a\n-- x\nb\n", "@@ -1,3 +1,2 @@\n a\n--- x\n b\n")).toBe("a\nb\n");
  });

  it("keeps line ends, and changes the last one only when told", () => {
    expect(applyDiff("a\r\nb\r\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n")).toBe("a\r\nc\r\n");
    expect(applyDiff("a\nb", "@@ -1 +1 @@\n-a\n+A\n")).toBe("A\nb");
    const open = "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n";
    expect(applyDiff("a\nb", open)).toBe("a\nb\n");
    const close = "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n";
    expect(applyDiff("a\nb\n", close)).toBe("a\nb");
  });

  it("names the hunk and the line that does not fit", () => {
    expect(() => applyDiff(text, "@@ -1,2 +1,2 @@\n a\n-x\n+y\n")).toThrow(
      'The hunk @@ -1,2 +1,2 @@ does not apply: line 2 should be "x", and the file has "b". The file is unchanged.',
    );
    expect(() => applyDiff("x\ny\nx\nz\n", "@@ -9 +9 @@\n-x\n+X\n")).toThrow(/occurs 2 times elsewhere/);
    expect(() => applyDiff(text, "@@ -1,3 +1,2 @@\n a\n-b\n")).toThrow(/has 2 old and 1 new lines/);
    expect(() => applyDiff(text, "hello")).toThrow(/no hunk/);
    expect(() =>
      applyDiff(text, "--- a\n+++ a\n@@ -1 +1 @@\n-a\n+b\n--- c\n+++ c\n@@ -1 +1 @@\n-a\n+b"),
    ).toThrow(/several files/);
    expect(() => applyDiff(text, "--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+b")).toThrow(/write_file/);
  });

  it("agrees with diff and patch of this machine on a few hundred texts", () => {
    const folder = temporary();
    let seed = 7;
    const random = (n: number) => {
      seed = (seed * 1103515245 + 12345) & 0x7fffffff;
      return seed % n;
    };
    const some = () => Array.from({ length: random(30) }, () => "abcdefgh"[random(8)]!.repeat(1 + random(2)));
    for (let round = 0; round < 200; round++) {
      const before = some();
      const after = before.flatMap((line) => (random(6) === 0 ? some().slice(0, random(3)) : [line]));
      const [a, b] = [before, after].map((lines) =>
        lines
          .map((l) => `${l}\n`)
          .join("")
          .slice(0, random(5) === 0 ? -1 : undefined),
      );
      if (a === b || a === "" || b === "") continue;
      writeFileSync(join(folder, "a"), a!);
      writeFileSync(join(folder, "b"), b!);
      let made = "";
      try {
        execFileSync("diff", ["-u", "a", "b"], { cwd: folder });
      } catch (error) {
        made = String((error as { stdout: Buffer }).stdout);
      }
      expect(applyDiff(a!, made), made).toBe(b);
    }
  });

  it("shows every change in its own diff", () => {
    expect(diff("", "a\n")).toBe("@@ -1 +1 @@\n+a");
    const long = Array.from({ length: 40 }, (_, i) => `${i}\n`);
    expect(diff(long.join(""), long.with(20, "x\n").join(""))).toBe(
      "@@ -18 +18 @@\n 17\n 18\n 19\n-20\n+x\n 21\n 22\n 23",
    );
  });
});
