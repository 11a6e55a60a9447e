import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStore } from "../../../src/record/store/open.js";
import { bundleChild, Child } from "./children.js";
import { call, seal } from "./rows.js";
import { collect } from "./suite.js";

let folder: string;
const mounts: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-failures-"));
});
afterEach(() => {
  for (const place of mounts.splice(0)) execFileSync("umount", ["-l", place]);
  rmSync(folder, { recursive: true, force: true });
});

function mounted(size: string): string {
  const place = join(folder, "disk");
  mkdirSync(place);
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", place]);
  mounts.push(place);
  return place;
}

/** By another process: in ours, SQLite would still have it open. */
async function made(file: string, records: number): Promise<void> {
  const script = await bundleChild();
  const child = new Child(script, file);
  await child.next();
  await child.ask(`append ${records}`);
  child.process.stdin!.end();
  await child.ended;
  rmSync(script);
}

const mode = (file: string) => (statSync(file).mode & 0o777).toString(8);
const entry = (body: string) => ({ time: 1, session: null, kind: "deed", body });

describe("the file", () => {
  it("and its folder are closed to other users", async () => {
    const file = join(folder, "a/b/hermes.db");
    const store = await openStore(`sqlite:${file}`);
    await store.addToolCall(call("c1"));
    expect(["a", "a/b"].map((name) => mode(join(folder, name)))).toEqual(["700", "700"]);
    expect([file, `${file}-wal`, `${file}-shm`].map(mode)).toEqual(["600", "600", "600"]);
    await store.close();
    chmodSync(file, 0o666);
    await (await openStore(file)).close();
    expect(mode(file)).toBe("600");
  });

  it("lies where HERMES_STORE, HERMES_HOME, XDG_STATE_HOME or the home folder say", async () => {
    const at = async (env: Record<string, string>) => {
      const store = await openStore(undefined, { env, home: join(folder, "home") });
      await store.close();
      return store.name.slice(folder.length + 1);
    };
    expect(await at({})).toBe("home/.local/state/hermes/hermes.db");
    const xdg = { XDG_STATE_HOME: join(folder, "xdg") };
    expect(await at(xdg)).toBe("xdg/hermes/hermes.db");
    const own = { ...xdg, HERMES_HOME: join(folder, "own") };
    expect(await at(own)).toBe("own/hermes.db");
    expect(await at({ ...own, HERMES_STORE: join(folder, "named.db") })).toBe("named.db");
  });
});

describe("a store that fails", () => {
  it("because it is no database says so, and leaves it as it is", async () => {
    const file = join(folder, "hermes.db");
    const text = "these are the notes of somebody\n".repeat(300);
    writeFileSync(file, text);
    await expect(openStore(file)).rejects.toMatchObject({
      code: "STORE",
      message: expect.stringMatching(/damaged, or it is no database/),
    });
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  it("because it is damaged says so where it is met", async () => {
    const file = join(folder, "hermes.db");
    await made(file, 2000);
    const bytes = readFileSync(file);
    // All pages but those that say what tables there are.
    bytes.fill(0xa5, 4096 * 30);
    writeFileSync(file, bytes);
    const damaged = async () => {
      const again = await openStore(file);
      try {
        await collect(again.audit());
      } finally {
        await again.close();
      }
    };
    await expect(damaged()).rejects.toMatchObject({
      code: "STORE",
      message: expect.stringMatching(/damaged/),
    });
  });

  it("because the disk is full acknowledges nothing more, and goes on when there is room", async () => {
    const disk = mounted("1m");
    const file = join(disk, "hermes.db");
    const store = await openStore(file);
    const written: number[] = [];
    const fill = async () => {
      for (;;) written.push((await store.appendAudit("h", entry("x".repeat(20_000)), seal)).seq);
    };
    await expect(fill()).rejects.toMatchObject({
      code: "STORE",
      message: expect.stringMatching(/disk is full/),
    });
    await expect(store.appendAudit("h", entry("y".repeat(50_000)), seal)).rejects.toThrow(/disk is full/);
    expect(written.length).toBeGreaterThan(5);
    expect((await collect(store.audit())).map(({ seq }) => seq)).toEqual(written);
    execFileSync("mount", ["-o", "remount,size=4m", disk]);
    const row = await store.appendAudit("h", entry("z".repeat(50_000)), seal);
    expect(row.seq).toBe(written.length + 1);
    await store.close();
    const again = await openStore(file);
    expect(await collect(again.audit())).toHaveLength(row.seq);
    await again.close();
  });

  it("because the disk is full from the start is not half made", async () => {
    const disk = mounted("64k");
    const file = join(disk, "hermes.db");
    await expect(openStore(file)).rejects.toMatchObject({
      code: "STORE",
      message: expect.stringMatching(/disk is full/),
    });
    execFileSync("mount", ["-o", "remount,size=4m", disk]);
    const store = await openStore(file);
    await store.addToolCall(call("c1"));
    await store.close();
  });

  it("because it may only be read says so", async () => {
    const disk = mounted("4m");
    const file = join(disk, "hermes.db");
    await made(file, 1);
    execFileSync("mount", ["-o", "remount,ro", disk]);
    await expect(openStore(file)).rejects.toMatchObject({
      code: "STORE",
      message: expect.stringMatching(/cannot be written here/),
    });
    await expect(openStore(join(disk, "new.db"))).rejects.toThrow(/cannot be written here/);
  });

  it("because its file was taken away acknowledges nothing more", async () => {
    const file = join(folder, "hermes.db");
    const store = await openStore(file);
    await store.addToolCall(call("c1"));
    renameSync(file, join(folder, "elsewhere.db"));
    await expect(store.addToolCall(call("c2"))).rejects.toThrow(/removed or replaced/);
    writeFileSync(file, "");
    await expect(store.addToolCall(call("c3"))).rejects.toThrow(/removed or replaced/);
    rmSync(file);
    renameSync(join(folder, "elsewhere.db"), file);
    await store.addToolCall(call("c4"));
    expect((await store.toolCalls()).map(({ id }) => id)).toEqual(["c4", "c1"]);
    await store.close();
  });

  it("because its file is a folder, or a link to nothing that can be, says so", async () => {
    await expect(openStore(folder)).rejects.toMatchObject({ code: "STORE" });
    symlinkSync("/proc/none/x.db", join(folder, "link.db"));
    await expect(openStore(join(folder, "link.db"))).rejects.toMatchObject({ code: "STORE" });
  });
});

describe("a store that another process holds", () => {
  it("is waited for, while this one does other things", async () => {
    const file = join(folder, "hermes.db");
    const store = await openStore(file);
    const { default: Sqlite } = await import("libsql");
    const other = new Sqlite(file);
    other.exec("BEGIN IMMEDIATE");
    let done = false;
    const write = store.addToolCall(call("c1")).then(() => {
      done = true;
    });
    let turns = 0;
    for (; turns < 30; turns++) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(done).toBe(false);
    expect(await store.toolCalls()).toEqual([]);
    other.exec("COMMIT");
    await write;
    expect(await store.toolCalls()).toHaveLength(1);
    other.close();
    await store.close();
  });
});
