import { execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import {
  appendFileSync,
  linkSync,
  mkdirSync,
  openSync,
  readlinkSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type ReadOutput, readFile } from "../../../../src/agents/tools/files/read.js";
import { callOf, makeWorld, perform, temporary } from "../world.js";

const key = `AKIA${"Q3EGRIVNBL5XUZTA"}`;

describe("read_file", () => {
  it("gives a small file whole", async () => {
    const world = await makeWorld({ files: { "a.txt": "one\ntwo\n" } });
    expect(await perform(readFile, { path: "a.txt" }, world)).toEqual({
      path: "a.txt",
      size: 8,
      content: "one\ntwo\n",
      encoding: "utf-8",
      first_line: 1,
      lines: 2,
      notes: [],
    });
  });

  it("gives exactly 100,000 characters, and of one more only the lines that fit", async () => {
    const line = `${"x".repeat(99)}\n`;
    const world = await makeWorld({ files: { fits: line.repeat(1000), over: `${line.repeat(1000)}y` } });
    const fits = await perform(readFile, { path: "fits" }, world);
    expect(fits.content!.length).toBe(100_000);
    expect(fits.next_offset).toBeUndefined();
    const over = await perform(readFile, { path: "over" }, world);
    expect(over.content!.length).toBe(100_000);
    expect(over.next_offset).toBe(1001);
    expect(over.notes.join()).toMatch(/continue with offset 1001/);
    expect(await perform(readFile, { path: "over", offset: 1001 }, world)).toMatchObject({
      content: "y",
      first_line: 1001,
      lines: 1,
    });
  });

  it("keeps to file_read_max_chars", async () => {
    const world = await makeWorld({ config: { file_read_max_chars: 10 }, files: { a: "12345\n7890\n" } });
    expect(await perform(readFile, { path: "a" }, world)).toMatchObject({
      content: "12345\n",
      next_offset: 2,
    });
  });

  it("shows the beginning of a line that is too long, and says so", async () => {
    const world = await makeWorld({ files: { a: `${"€".repeat(100_001)}\nend\n` } });
    const seen = await perform(readFile, { path: "a" }, world);
    expect(seen.content).toBe("€".repeat(100_000));
    expect(seen.next_offset).toBe(2);
    expect(seen.notes.join()).toMatch(/only its beginning/);
  });

  it("takes a window of lines, numbered on demand", async () => {
    const world = await makeWorld({ files: { a: "1\n2\n3\n4\n5" } });
    expect(await perform(readFile, { path: "a", offset: 2, limit: 2 }, world)).toMatchObject({
      content: "2\n3\n",
      next_offset: 4,
    });
    expect(
      await perform(readFile, { path: "a", offset: 4, limit: 9, line_numbers: true }, world),
    ).toMatchObject({ content: "     4\t4\n     5\t5", lines: 2 });
    const beyond = await perform(readFile, { path: "a", offset: 7 }, world);
    expect(beyond).toMatchObject({ content: "", lines: 0 });
    expect(beyond.notes.join()).toMatch(/fewer than 7 lines/);
  });

  it("goes through a file of many megabytes page by page", async () => {
    const lines = Array.from({ length: 200_000 }, (_, i) => `line ${i + 1} ${"é".repeat(20)}\n`);
    const world = await makeWorld({ files: { big: lines.join("") } });
    const seen = await perform(readFile, { path: "big", offset: 150_000, limit: 2 }, world);
    expect(seen.content).toBe(lines[149_999]! + lines[150_000]!);
    let next: number | undefined = 1;
    let pages = 0;
    let count = 0;
    while (next !== undefined) {
      const page: ReadOutput = await perform(readFile, { path: "big", offset: next }, world);
      count += page.lines!;
      pages++;
      next = page.next_offset;
    }
    expect(count).toBe(200_000);
    expect(pages).toBeGreaterThan(50);
  });

  it.each([
    ["utf-8-bom", Buffer.from("\ufeffgrün\n")],
    ["utf-16le", Buffer.from("\ufeffgrün\n", "utf16le")],
    ["utf-16be", Buffer.from("\ufeffgrün\n", "utf16le").swap16()],
    ["latin-1", Buffer.from("grün\n", "latin1")],
  ])("reads %s", async (encoding, bytes) => {
    const world = await makeWorld({ files: { a: bytes } });
    expect(await perform(readFile, { path: "a" }, world)).toMatchObject({ content: "grün\n", encoding });
  });

  it("reads as Latin-1 what stops being UTF-8 only far behind", async () => {
    const bytes = Buffer.concat([Buffer.from("a\n".repeat(300_000)), Buffer.from([0xe9, 0x0a])]);
    const world = await makeWorld({ files: { a: bytes } });
    expect(await perform(readFile, { path: "a", offset: 300_001 }, world)).toMatchObject({
      content: "é\n",
      encoding: "latin-1",
    });
  });

  it("names binary files and shows nothing of them", async () => {
    const png = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(100)]);
    const world = await makeWorld({ files: { "a.png": png, data: Buffer.from("ab\0cd") } });
    const image = await perform(readFile, { path: "a.png" }, world);
    expect(image).toMatchObject({ binary: "PNG image", size: 108 });
    expect(image.content).toBeUndefined();
    expect((await perform(readFile, { path: "data" }, world)).binary).toBe("data");
  });

  it("is not led astray by a terabyte of nothing, with or without text before it", async () => {
    const world = await makeWorld({ files: { hole: "", late: `${"text\n".repeat(2000)}` } });
    truncateSync(join(world.workspace, "hole"), 2 ** 40);
    truncateSync(join(world.workspace, "late"), 2 ** 40);
    expect(await perform(readFile, { path: "hole" }, world)).toMatchObject({ binary: "data", size: 2 ** 40 });
    expect(await perform(readFile, { path: "late", limit: 3 }, world)).toMatchObject({
      content: "text\n".repeat(3),
    });
    expect((await perform(readFile, { path: "late", offset: 2001 }, world)).binary).toBe("data");
    await expect(perform(readFile, { path: "late", offset: 2002 }, world)).rejects.toThrow(/256 MB/);
  });

  it("takes secrets out, also when only the middle of a key is asked for", async () => {
    const pem = generateKeyPairSync("rsa", { modulusLength: 2048 })
      .privateKey.export({ type: "pkcs1", format: "pem" })
      .toString();
    const world = await makeWorld({
      files: { "a.txt": `id = ${key}\nnext\n`, "b.txt": `one\n${pem}last\n` },
    });
    const seen = await perform(readFile, { path: "a.txt" }, world);
    expect(seen.content).toMatch(/^id = \[redacted: [\w-]+\]\nnext\n$/);
    expect(seen.notes.join()).toMatch(/Secrets are redacted/);
    const line = pem.split("\n")[10]!;
    const middle = await perform(readFile, { path: "b.txt", offset: 10, limit: 5 }, world);
    expect(middle.content).not.toContain(line);
    const numbered = await perform(readFile, { path: "b.txt", line_numbers: true }, world);
    const last = pem.trimEnd().split("\n").length + 2;
    expect(numbered.content).toContain(`${String(last).padStart(6)}\tlast`);
  });
});

describe("read_file refuses", () => {
  for (const name of ["zero", "random", "urandom", "stdin", "stdout", "stderr", "tty", "null"])
    it(`/dev/${name}`, async () => {
      const world = await makeWorld();
      expect((await readFile.judge({ path: `/dev/${name}` }, world)).action).toBe("deny");
      await expect(perform(readFile, { path: `/dev/${name}` }, world)).rejects.toMatchObject({
        rule: "device",
      });
    });

  it("a link to a device, to a descriptor, to a secret", async () => {
    const world = await makeWorld({ files: { x: "" } });
    mkdirSync(join(world.home, ".ssh"));
    writeFileSync(join(world.home, ".ssh/id_rsa"), "secret");
    const aims = ["/dev/zero", "/proc/self/fd/0", "/proc/self/environ", join(world.home, ".ssh/id_rsa")];
    for (const [i, aim] of aims.entries()) {
      symlinkSync(aim, join(world.workspace, `link${i}`));
      await expect(perform(readFile, { path: `link${i}` }, world), aim).rejects.toMatchObject({
        name: "ToolError",
        rule: expect.stringMatching(/^(device|process-secrets|credential-file|symlink-escape)$/),
      });
    }
  });

  it("named pipes, sockets, folders, at once and in words", async () => {
    const world = await makeWorld();
    const at = (name: string) => join(world.workspace, name);
    execFileSync("mkfifo", [at("pipe")]);
    mkdirSync(at("folder"));
    const server = createServer().listen(at("socket"));
    await new Promise((done) => server.once("listening", done));
    await expect(perform(readFile, { path: "pipe" }, world)).rejects.toThrow(
      /pipe is a named pipe, not a file/,
    );
    await expect(perform(readFile, { path: "socket" }, world)).rejects.toThrow(/is a socket/);
    await expect(perform(readFile, { path: "folder" }, world)).rejects.toThrow(/is a folder/);
    await expect(perform(readFile, { path: "nothing" }, world)).rejects.toMatchObject({ rule: "not-found" });
    await new Promise((done) => server.close(done));
  });

  it("files of /proc that would make it wait", async () => {
    const world = await makeWorld();
    const kmsg = await perform(readFile, { path: "/proc/kmsg" }, world).catch((error: Error) => error);
    // Kernel messages are there for the taking, or it is EAGAIN, or not allowed: it returned.
    expect(kmsg).toBeDefined();
    expect((await perform(readFile, { path: "/proc/version" }, world)).content).toMatch(/^Linux version/);
  });

  it("files without a name: removed ones, by a descriptor", async () => {
    const world = await makeWorld({ files: { a: "x" } });
    const fd = openSync(join(world.workspace, "a"), "r");
    const way = `/proc/self/fd/${fd}`;
    expect(readlinkSync(way)).toContain("/a");
    await expect(perform(readFile, { path: way }, world)).rejects.toMatchObject({ rule: "device" });
  });

  it("the fourth equal read in a row; a change or a write in between starts anew", async () => {
    const world = await makeWorld({ files: { a: "x\n" } });
    const read = () => perform(readFile, { path: "a" }, world);
    expect((await read()).notes).toEqual([]);
    expect((await read()).notes).toEqual([]);
    expect((await read()).notes.join()).toMatch(/3 times in a row/);
    await expect(read()).rejects.toMatchObject({ rule: "re-read-loop" });
    appendFileSync(join(world.workspace, "a"), "y\n");
    expect((await read()).content).toBe("x\ny\n");
  });
});

describe("what is read is what was judged", () => {
  it("a link that is turned elsewhere after the judgement is not followed", async () => {
    const world = await makeWorld({ files: { "a.txt": "a", "b.txt": "b" } });
    const link = join(world.workspace, "link");
    symlinkSync("a.txt", link);
    const intent = await readFile.judge({ path: "link" }, world);
    execFileSync("ln", ["-sfn", "b.txt", link]);
    await expect(readFile.run({ path: "link" }, callOf(intent), world)).rejects.toMatchObject({
      rule: "changed-since-judged",
    });
  });

  it("a folder that is swapped for a link to a secret one, again and again, never shows the secret", async () => {
    const world = await makeWorld({ files: { "d/id_rsa.txt": "public", "d/x": "public" } });
    const secret = temporary();
    mkdirSync(join(secret, ".ssh"));
    writeFileSync(join(secret, ".ssh/x"), "SECRET");
    symlinkSync(join(secret, ".ssh"), join(world.workspace, "evil"));
    const swapper = execFileSync("sh", [
      "-c",
      `cd '${world.workspace}' && { for i in $(seq 400); do mv -T d keep; mv -T evil d; mv -T d evil; mv -T keep d; done >/dev/null 2>&1 & echo $!; }`,
    ]);
    expect(Number(swapper)).toBeGreaterThan(0);
    let reads = 0;
    const alive = () => {
      try {
        process.kill(Number(swapper), 0);
        return true;
      } catch {
        return false;
      }
    };
    while (alive() && reads++ < 3000) {
      const seen = await perform(readFile, { path: "d/x" }, world).catch(() => undefined);
      expect(seen?.content ?? "public").toBe("public");
      world.files.acted(world.session);
    }
    expect(reads).toBeGreaterThan(10);
  });

  it("an approval for one rule does not cover another", async () => {
    const world = await makeWorld({ files: { "secrets.json": "{}" } });
    const intent = await readFile.judge({ path: "secrets.json" }, world);
    expect(intent.action).toBe("ask");
    await expect(
      readFile.run({ path: "secrets.json" }, callOf(intent, { approved: ["outside-workspace"] }), world),
    ).rejects.toMatchObject({ rule: "likely-credentials" });
    expect((await perform(readFile, { path: "secrets.json" }, world, { approve: true })).content).toBe("{}");
  });

  it("what may not be written may be read: /etc", async () => {
    const world = await makeWorld();
    expect((await perform(readFile, { path: "/etc/passwd" }, world)).content).toContain("root:");
  });

  it("a hard link has the name that it was opened by", async () => {
    const world = await makeWorld({ files: { a: "x" } });
    linkSync(join(world.workspace, "a"), join(world.workspace, "b"));
    expect((await perform(readFile, { path: "b" }, world)).path).toBe("b");
  });

  it("a workspace that is reached by a link is still the workspace", async () => {
    const folder = temporary();
    mkdirSync(join(folder, "real"));
    writeFileSync(join(folder, "real/a"), "x");
    symlinkSync(join(folder, "real"), join(folder, "link"));
    const world = await makeWorld({ workspace: join(folder, "link") });
    expect((await perform(readFile, { path: "a" }, world)).content).toBe("x");
  });
});
