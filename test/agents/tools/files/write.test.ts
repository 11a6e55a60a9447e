import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { readFile } from "../../../../src/agents/tools/files/read.js";
import { writeFile } from "../../../../src/agents/tools/files/write.js";
import { sweepScratch } from "../../../../src/agents/tools/scratch.js";
import { NOBODY } from "../../../support/ordinary-user.js";
import { root } from "../../../support/root.js";
import { callOf, makeWorld, perform, temporary } from "../world.js";

const write = (path: string, content: string) => ({ path, content });

describe("write_file", () => {
  it("makes a file and the folders on the way, and leaves nothing else", async () => {
    const world = await makeWorld();
    expect(await perform(writeFile, write("a/b/c.txt", "hello"), world)).toEqual({
      path: "a/b/c.txt",
      created: true,
      bytes: 5,
      notes: [],
    });
    expect(readFileSync(join(world.workspace, "a/b/c.txt"), "utf8")).toBe("hello");
    expect(readdirSync(join(world.workspace, "a/b"))).toEqual(["c.txt"]);
  });

  it("replaces a file at once: it is another inode, with the mode and the owner of the old one", async () => {
    const world = await makeWorld({ files: { a: "old" } });
    const path = join(world.workspace, "a");
    chmodSync(path, 0o750);
    if (process.getuid!() === 0) execFileSync("chown", ["12345:12346", path]);
    const before = statSync(path);
    const { notes } = await perform(writeFile, write("a", "new"), world);
    const after = statSync(path);
    expect(after.ino).not.toBe(before.ino);
    expect([after.mode, after.uid, after.gid]).toEqual([before.mode, before.uid, before.gid]);
    expect(readFileSync(path, "utf8")).toBe("new");
    expect(notes.join()).toMatch(/has not read it/);
  });

  it("knows what it has written: a new file can be written again, and again", async () => {
    const world = await makeWorld();
    for (const text of ["one", "two", "three"])
      expect((await perform(writeFile, write("a", text), world)).notes).toEqual([]);
  });

  it("lets one of two calls change the same state of a file, and tells the other", async () => {
    const world = await makeWorld({ files: { a: "old" } });
    const both = ["one", "two"].map((text) => perform(writeFile, write("a", text), world));
    const ends = await Promise.allSettled(both);
    expect(ends.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect((ends.find(({ status }) => status === "rejected") as PromiseRejectedResult).reason).toMatchObject({
      rule: "changed-since-read",
    });
  });

  it("does not let a setuid program keep its bits with another content", async () => {
    const world = await makeWorld({ files: { a: "old" } });
    chmodSync(join(world.workspace, "a"), 0o6755);
    await perform(writeFile, write("a", "new"), world);
    expect(statSync(join(world.workspace, "a")).mode & 0o7777).toBe(0o755);
  });

  it("obeys the umask for new files", async () => {
    const world = await makeWorld();
    const mask = process.umask(0o027);
    try {
      await perform(writeFile, write("a", ""), world);
    } finally {
      process.umask(mask);
    }
    expect(statSync(join(world.workspace, "a")).mode & 0o777).toBe(0o640);
  });

  it("never shows half a file to a concurrent reader", async () => {
    const world = await makeWorld({ files: { a: "0".repeat(1_000_000) } });
    const path = join(world.workspace, "a");
    const stop = new AbortController();
    const reader = (async () => {
      let reads = 0;
      while (!stop.signal.aborted) {
        const text = readFileSync(path, "latin1");
        expect(text.length).toBe(1_000_000);
        expect(new Set([text[0], text[500_000], text[999_999]]).size).toBe(1);
        reads++;
        await new Promise((done) => setImmediate(done));
      }
      return reads;
    })();
    for (let i = 1; i < 10; i++) await perform(writeFile, write("a", String(i).repeat(1_000_000)), world);
    stop.abort();
    expect(await reader).toBeGreaterThan(5);
  });

  it("says when a file has several names, and leaves the others alone", async () => {
    const world = await makeWorld({ files: { a: "old" } });
    linkSync(join(world.workspace, "a"), join(world.workspace, "b"));
    const { notes } = await perform(writeFile, write("a", "new"), world);
    expect(notes.join()).toMatch(/had 2 hard links/);
    expect(readFileSync(join(world.workspace, "b"), "utf8")).toBe("old");
  });

  it("writes through a link inside the workspace and leaves the link a link", async () => {
    const world = await makeWorld({ files: { "real/a": "old" } });
    symlinkSync("real/a", join(world.workspace, "link"));
    expect((await perform(writeFile, write("link", "new"), world)).path).toBe("real/a");
    expect(lstatSync(join(world.workspace, "link")).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(world.workspace, "real/a"), "utf8")).toBe("new");
  });

  it.each([
    ["utf-16le", Buffer.from("\ufeffä", "utf16le"), Buffer.from("\ufeffö\n", "utf16le")],
    ["utf-8-bom", Buffer.from("\ufeffä"), Buffer.from("\ufeffö\n")],
    ["latin-1", Buffer.from("ä", "latin1"), Buffer.from("ö\n", "latin1")],
  ])("keeps %s", async (_, old, now) => {
    const world = await makeWorld({ files: { a: old } });
    await perform(writeFile, write("a", "ö\n"), world);
    expect(readFileSync(join(world.workspace, "a"))).toEqual(now);
  });

  it("says when an encoding cannot be kept", async () => {
    const world = await makeWorld({ files: { a: Buffer.from("ä", "latin1") } });
    const { notes } = await perform(writeFile, write("a", "本"), world);
    expect(notes.join()).toMatch(/it is now UTF-8/);
    expect(readFileSync(join(world.workspace, "a"), "utf8")).toBe("本");
  });

  it("shows the approver what would change, without secrets", async () => {
    const world = await makeWorld({ files: { a: "one\ntwo\nthree\n" } });
    const key = `AKIA${"Q3EGRIVNBL5XUZTA"}`;
    const intent = await writeFile.judge(write("a", `one\n2 ${key}\nthree\n`), world);
    expect(intent.detail!.diff).toMatch(/^@@ -1 \+1 @@\n one\n-two\n\+2 \[redacted: [\w-]+\]\n three$/);
    expect(intent.what).toBe("change a (33 bytes)");
  });
});

describe("write_file refuses", () => {
  it("a file that was changed since it was read, until it is read again", async () => {
    const world = await makeWorld({ files: { a: "one" } });
    await perform(readFile, { path: "a" }, world);
    writeFileSync(join(world.workspace, "a"), "two");
    const intent = await writeFile.judge(write("a", "mine"), world);
    expect(intent.findings.map((f) => f.rule)).toEqual(["changed-since-read"]);
    await expect(perform(writeFile, write("a", "mine"), world)).rejects.toMatchObject({
      rule: "changed-since-read",
    });
    expect(readFileSync(join(world.workspace, "a"), "utf8")).toBe("two");
    await perform(readFile, { path: "a" }, world);
    await perform(writeFile, write("a", "mine"), world);
    await perform(writeFile, write("a", "mine again"), world);
    expect(readFileSync(join(world.workspace, "a"), "utf8")).toBe("mine again");
  });

  it("a change of the same length within the same millisecond, too", async () => {
    const world = await makeWorld({ files: { a: "one" } });
    const path = join(world.workspace, "a");
    await perform(readFile, { path: "a" }, world);
    const { atime, mtime } = statSync(path);
    writeFileSync(path, "two");
    execFileSync("touch", ["-d", `@${mtime.getTime() / 1000}`, path]);
    expect(atime).toBeDefined();
    await expect(perform(writeFile, write("a", "x"), world)).rejects.toMatchObject({
      rule: "changed-since-read",
    });
  });

  it("what another task wrote since", async () => {
    const world = await makeWorld({ files: { a: "one" } });
    await perform(readFile, { path: "a" }, world);
    await perform(writeFile, write("a", "theirs"), { ...world, session: "other" });
    await expect(perform(writeFile, write("a", "mine"), world)).rejects.toMatchObject({
      rule: "concurrent-writer",
    });
  });

  it("what lies outside the workspace, unless an approver allowed it; secrets and the system always", async () => {
    const world = await makeWorld();
    const intent = await writeFile.judge(write("/elsewhere/x", "y"), world);
    expect(intent.findings.map(({ rule, action }) => `${rule} ${action}`)).toEqual(["outside-workspace ask"]);
    await expect(perform(writeFile, write("/elsewhere/x", "y"), world)).rejects.toMatchObject({
      rule: "outside-workspace",
    });
    for (const path of [
      "/etc/hosts",
      "/boot/x",
      "/usr/lib/systemd/x",
      "/var/run/docker.sock",
      `${world.home}/.ssh/id_rsa`,
    ])
      await expect(perform(writeFile, write(path, "x"), world), path).rejects.toMatchObject({
        name: "ToolError",
      });
    expect(existsSync("/elsewhere")).toBe(false);
  });

  it("links out of the workspace, dangling ones, and folders that are such links", async () => {
    const world = await makeWorld();
    const other = temporary();
    symlinkSync(join(other, "new"), join(world.workspace, "dangling"));
    symlinkSync(other, join(world.workspace, "folder"));
    for (const path of ["dangling", "folder/x"])
      await expect(perform(writeFile, write(path, "x"), world), path).rejects.toMatchObject({
        rule: "symlink-escape",
      });
    expect(readdirSync(other)).toEqual([]);
  });

  it("devices, pipes, folders, and names that are none", async () => {
    const world = await makeWorld();
    execFileSync("mkfifo", [join(world.workspace, "pipe")]);
    mkdirSync(join(world.workspace, "folder"));
    await expect(perform(writeFile, write("/dev/null", "x"), world)).rejects.toMatchObject({
      rule: "device",
    });
    for (const path of ["pipe", "folder", "folder/", "folder/.", "new/", "."])
      await expect(perform(writeFile, write(path, "x"), world), path).rejects.toMatchObject({
        rule: "not-a-file",
      });
    await expect(perform(writeFile, write(`${"n".repeat(300)}`, "x"), world)).rejects.toThrow(/ENAMETOOLONG/);
  });

  it("to bring back what was taken out as a secret", async () => {
    const key = `AKIA${"Q3EGRIVNBL5XUZTA"}`;
    const world = await makeWorld({ files: { a: `id = ${key}\n` } });
    const { content } = await perform(readFile, { path: "a" }, world);
    await expect(perform(writeFile, write("a", `${content}more\n`), world)).rejects.toMatchObject({
      rule: "redacted-content",
    });
    expect(readFileSync(join(world.workspace, "a"), "utf8")).toContain(key);
  });

  it("other content than was judged, and another file", async () => {
    const world = await makeWorld({ files: { "d/a": "", "e/a": "" } });
    const intent = await writeFile.judge(write("d/a", "x"), world);
    await expect(writeFile.run(write("d/a", "y"), callOf(intent), world)).rejects.toMatchObject({
      rule: "changed-since-judged",
    });
    execFileSync("sh", ["-c", "mv d f && ln -s e d"], { cwd: world.workspace });
    await expect(writeFile.run(write("d/a", "x"), callOf(intent), world)).rejects.toMatchObject({
      rule: "changed-since-judged",
    });
    expect(readFileSync(join(world.workspace, "e/a"), "utf8")).toBe("");
  });

  it("to replace a file that may not be written, although its folder may", () => {
    const folder = temporary();
    chmodSync(folder, 0o777);
    writeFileSync(join(folder, "a"), "old", { mode: 0o444 });
    const script = `import { locateFile } from "./src/agents/tools/files/file-location.ts";
      locateFile(${JSON.stringify(join(folder, "a"))}).then(() => console.log("found"), (e) => console.log(e.code));`;
    const user = process.getuid!() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
    const bundle = bundled(script);
    chmodSync(dirname(bundle), 0o755);
    expect(execFileSync(process.execPath, [bundle], { encoding: "utf8", cwd: folder, ...user })).toBe(
      "EACCES\n",
    );
  });
});

/** A program of its own, of our sources. */
function bundled(script: string): string {
  const file = join(temporary(), "program.mjs");
  const options = ["--bundle", "--platform=node", "--format=esm", `--outfile=${file}`, "--log-level=error"];
  execFileSync(join(root, "node_modules/.bin/esbuild"), options, { input: script, cwd: root });
  return file;
}

describe("a crash in the middle of a write", () => {
  it("at any moment leaves a whole file and, after the next start, nothing else", async () => {
    const folder = temporary();
    const file = join(folder, "a");
    writeFileSync(file, "0".repeat(300_000));
    const script = `
      import { locateFile, leave } from "./src/agents/tools/files/file-location.ts";
      import { replaceFile } from "./src/agents/tools/files/replace.ts";
      console.log("begins");
      for (let i = 0; ; i = (i + 1) % 10) {
        const place = await locateFile(${JSON.stringify(file)});
        await replaceFile(place, Buffer.alloc(300_000, String(i)));
        await leave(place);
      }`;
    const program = bundled(script);
    let halves = 0;
    // Until one was interrupted half way: else this would show nothing.
    for (let round = 0; round < 20 || (halves === 0 && round < 200); round++) {
      const child = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "inherit"] });
      await once(child.stdout, "data");
      await new Promise((done) => setTimeout(done, 10 + ((round * 37) % 60)));
      child.kill("SIGKILL");
      await once(child, "exit");
      const text = readFileSync(file, "latin1");
      expect([text.length, new Set(text).size]).toEqual([300_000, 1]);
      halves += readdirSync(folder).length - 1;
      await sweepScratch();
      expect(readdirSync(folder)).toEqual(["a"]);
    }
    expect(halves).toBeGreaterThan(0);
  });

  it("leaves the old file, and the next start removes the temporary one", async () => {
    const world = await makeWorld({ files: { a: "old" } });
    const script = `
      import { leftover } from "./src/agents/tools/scratch.ts";
      import { writeFileSync } from "node:fs";
      const file = ${JSON.stringify(join(world.workspace, ".hermes-0123456789abcdef.tmp"))};
      await leftover(file);
      writeFileSync(file, "half");
      console.log("half way");
      setInterval(() => {}, 1000);`;
    const bundle = bundled(script);
    const child = spawn(process.execPath, [bundle], { stdio: ["ignore", "pipe", "inherit"] });
    await once(child.stdout, "data");
    await sweepScratch();
    expect(readdirSync(world.workspace)).toHaveLength(2);
    child.kill("SIGKILL");
    await once(child, "exit");
    await sweepScratch();
    expect(readdirSync(world.workspace)).toEqual(["a"]);
  });
});
