import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
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
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { native } from "../../../src/kernel/binding/native.js";
import { type NamePattern, scanNames } from "../../../src/kernel/view/name-scan.js";
import { decodeText, encodeText } from "../../../src/nouns/text.js";
import { NOBODY, OrdinaryUser } from "../../support/ordinary-user.js";
import { Random } from "../../support/random.js";
import { root as checkout } from "../../support/root.js";
import { until } from "../../support/until.js";

/** The search for files by name (native/scan/scan.h), on real trees, against a plain walk. */

const isRoot = process.getuid?.() === 0;
const NAMES: readonly NamePattern[] = [
  { whole: ".env" },
  { start: "id_", end: "" },
  { start: "", end: ".kdbx" },
  { start: "key", end: ".pem" },
];
const FILES = [
  ".env",
  "id_rsa",
  "id_",
  "a.kdbx",
  ".kdbx",
  "key.pem",
  "key-1.pem",
  ".envy",
  "env",
  "pem",
  "xid_rsa",
];
const isWanted = (name: string) =>
  name === ".env" ||
  name.startsWith("id_") ||
  name.endsWith(".kdbx") ||
  (name.startsWith("key") && name.endsWith(".pem"));

const texts = (list: readonly string[]) => encodeText(list.map((text) => `${text}\0`).join(""));
const PAIRS = texts(NAMES.flatMap((name) => ("whole" in name ? ["=", name.whole] : [name.start, name.end])));
const NO_MEMORY = new Uint8Array(0);

interface Looks {
  readonly memory?: Uint8Array;
  readonly skipped?: readonly string[];
  readonly maxEntries?: number;
  readonly maxMilliseconds?: number;
}

function look(
  folder: string,
  { memory = NO_MEMORY, skipped = [], maxEntries = 1e6, maxMilliseconds = 1e5 }: Looks = {},
) {
  const result = native().scanNames(
    texts([folder]),
    texts(skipped),
    PAIRS,
    memory,
    maxEntries,
    maxMilliseconds,
  );
  const list = (bytes: Uint8Array) => decodeText(bytes).split("\0").filter(Boolean).sort();
  return {
    found: list(result.found),
    unlisted: list(result.unlisted),
    memory: result.memory.length > 0 ? result.memory : memory,
    folders: result.folders,
    read: result.read,
    complete: result.complete === 1,
  };
}

/** Waits until no folder has changed just now: a new memory knows them all. Meanwhile scans with the one given, too. */
async function lookUntilKnown(folder: string, memory?: Uint8Array): Promise<Uint8Array> {
  let kept = memory;
  return until(() => {
    const fresh = look(folder).memory;
    if (kept) kept = look(folder, { memory: kept }).memory;
    return look(folder, { memory: fresh }).read === 0 && (kept ?? fresh);
  }, "a scan that reads no folder");
}

function plainWalk(folder: string): string[] {
  const found: string[] = [];
  const walk = (path: string): void => {
    for (const entry of readdirSync(encodeText(path) as Buffer, {
      withFileTypes: true,
      encoding: "buffer",
    })) {
      const name = decodeText(entry.name);
      if (isWanted(name)) found.push(`${path}/${name}`);
      if (entry.isDirectory()) walk(`${path}/${name}`);
    }
  };
  walk(folder);
  return found.sort();
}

/** A tree that changes at random. It knows its folders, so that a change needs no walk. */
class Tree {
  readonly folders: string[];
  readonly #random: Random;
  #made = 0;

  constructor(root: string, random: Random) {
    this.folders = [root];
    this.#random = random;
  }

  grow(folders: number, files: number): this {
    for (let i = 0; i < folders; i++) this.addFolder();
    for (let i = 0; i < files; i++) this.addFile();
    return this;
  }

  addFolder(): void {
    const name = this.#random.below(20) === 0 ? this.#random.pick([".env", "id_folder"]) : `f${this.#made++}`;
    const path = join(this.#random.pick(this.folders), name);
    mkdirSync(path, { recursive: true });
    if (!this.folders.includes(path)) this.folders.push(path);
  }

  addFile(): void {
    try {
      writeFileSync(join(this.#random.pick(this.folders), this.#random.pick(FILES)), "");
    } catch {} // a folder of this name
  }

  removeFile(): void {
    const folder = this.#random.pick(this.folders);
    const file = readdirSync(folder, { withFileTypes: true }).find((entry) => entry.isFile());
    if (file) rmSync(join(folder, file.name));
  }

  renameFile(): void {
    const [from, to] = [this.#random.pick(this.folders), this.#random.pick(this.folders)];
    const file = readdirSync(from, { withFileTypes: true }).find((entry) => entry.isFile());
    try {
      if (file) renameSync(join(from, file.name), join(to, this.#random.pick(FILES)));
    } catch {}
  }

  removeFolder(): void {
    const folder = this.#below();
    if (!folder) return;
    rmSync(folder, { recursive: true });
    this.#forget(folder);
  }

  moveFolder(): void {
    const [folder, into] = [this.#below(), this.#random.pick(this.folders)];
    if (!folder || into === folder || into.startsWith(`${folder}/`)) return;
    const path = join(into, `m${this.#made++}`);
    renameSync(folder, path);
    for (const [i, known] of this.folders.entries())
      if (known === folder || known.startsWith(`${folder}/`))
        this.folders[i] = path + known.slice(folder.length);
  }

  /** Another folder of the same name, which may get the same inode. */
  replaceFolder(): void {
    const folder = this.#below();
    if (!folder) return;
    rmSync(folder, { recursive: true });
    this.#forget(folder);
    mkdirSync(folder);
    this.folders.push(folder);
    writeFileSync(join(folder, this.#random.pick(FILES)), "");
  }

  change(): void {
    const changes = [
      this.addFile,
      this.addFile,
      this.removeFile,
      this.renameFile,
      this.addFolder,
      this.addFolder,
      this.moveFolder,
      this.replaceFolder,
      this.removeFolder,
    ];
    this.#random.pick(changes).call(this);
  }

  #below(): string | undefined {
    const folder = this.#random.pick(this.folders);
    return folder === this.folders[0] ? undefined : folder;
  }

  #forget(folder: string): void {
    const left = this.folders.filter((known) => known !== folder && !known.startsWith(`${folder}/`));
    this.folders.splice(0, this.folders.length, ...left);
  }
}

/** Trees that have not changed just now. They are made together, so that the tests wait once. */
class KnownTree {
  readonly folder = mkdtempSync(join(tmpdir(), "hermes-known-"));
  readonly tree: Tree;
  memory: Uint8Array = NO_MEMORY;

  constructor(seed: number, folders: number, files: number) {
    this.tree = new Tree(this.folder, new Random(seed)).grow(folders, files);
  }
}

const known = {
  large: new KnownTree(5, 1500, 2000),
  changing: new KnownTree(6, 150, 300),
  single: new KnownTree(7, 100, 100),
  others: new KnownTree(8, 50, 100),
  still: new KnownTree(9, 80, 200),
};

let root: string;
beforeAll(async () => {
  for (const one of Object.values(known)) one.memory = await lookUntilKnown(one.folder);
});
afterAll(() => {
  for (const { folder } of Object.values(known)) rmSync(folder, { recursive: true });
});
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "hermes-names-"));
});
afterEach(() => {
  execFileSync("rm", ["-rf", root]); // Node cannot remove paths that are too long
});

describe("a scan for names", () => {
  it("finds the names in random trees that a plain walk finds", () => {
    for (const seed of [1, 2, 3, 4]) {
      const folder = join(root, `${seed}`);
      mkdirSync(folder);
      new Tree(folder, new Random(seed)).grow(seed * 60, seed * 150);
      const { found, complete } = look(folder);
      expect(complete).toBe(true);
      expect(found).toEqual(plainWalk(folder));
      expect(found.length).toBeGreaterThan(20);
    }
  });

  it("finds the same with its memory, in several threads, without reading a folder", () => {
    const { folder, memory } = known.large;
    const warm = look(folder, { memory });
    expect(warm.read).toBe(0);
    expect(warm.folders).toBe(look(folder).folders);
    expect(warm.found).toEqual(plainWalk(folder));
  });

  it("finds the same with its memory after random changes as a plain walk", async () => {
    const { folder, tree } = known.changing;
    let memory = known.changing.memory;
    let [folders, read] = [0, 0];
    for (let step = 0; step < 500; step++) {
      for (let i = step % 4; i >= 0; i--) tree.change();
      const seen = look(folder, { memory });
      expect(seen.found, `step ${step}`).toEqual(plainWalk(folder));
      memory = seen.memory;
      folders += seen.folders;
      read += seen.read;
      if (step === 250) memory = await lookUntilKnown(folder, memory); // what has just changed is known, too
    }
    expect(read).toBeLessThan(folders);
  });

  it("reads only the folder that has changed", () => {
    const { folder, memory, tree } = known.single;
    const file = join(tree.folders.at(-1)!, "key-new.pem");
    writeFileSync(file, "");
    const seen = look(folder, { memory });
    expect(seen.read).toBe(1);
    expect(seen.found).toContain(file);
    expect(look(folder, { memory: seen.memory }).found).toEqual(seen.found);
  });

  it("finds what is new at the end of a long chain of unchanged folders, and nothing behind a link in the place of one", async () => {
    const parts = Array.from({ length: 12 }, (_, i) => `${i}`.padEnd(100, "x"));
    const bottom = join(root, ...parts);
    mkdirSync(bottom, { recursive: true });
    const memory = await lookUntilKnown(root);
    writeFileSync(join(bottom, "id_new"), "");
    const seen = look(root, { memory });
    expect([seen.found, seen.read, seen.folders]).toEqual([[join(bottom, "id_new")], 1, 13]);
    const middle = join(root, ...parts.slice(0, 5));
    renameSync(middle, join(root, "moved"));
    symlinkSync(join(root, "moved"), middle);
    expect(look(root, { memory: seen.memory }).found).toEqual(plainWalk(root));
    expect(plainWalk(root)).toEqual([join(root, "moved", ...parts.slice(5), "id_new")]);
  });

  it("does not use the memory of a search that left out other folders", () => {
    const { folder, memory, tree } = known.others;
    const out = tree.folders[1]!;
    const other = look(folder, { memory, skipped: [out] });
    expect(other.read).toBe(other.folders);
    expect(other.found).toEqual(plainWalk(folder).filter((path) => !path.startsWith(`${out}/`)));
    expect(look(folder, { memory: other.memory }).found).toEqual(plainWalk(folder));
  });

  it("does not use the memory of a search for other names", () => {
    const { folder, memory } = known.others;
    const names = texts(["=", ".envy"]);
    const result = native().scanNames(texts([folder]), NO_MEMORY, names, memory, 1e6, 1e5);
    expect(result.read).toBe(result.folders);
    expect(decodeText(result.found)).toContain("/.envy");
  });

  it("finds names with newlines and with bytes that are not UTF-8", () => {
    const folder = join(root, "line\nfeed\udcff");
    mkdirSync(encodeText(folder) as Buffer);
    for (const name of ["id_a\nb", "\n.kdbx", "id_\udc80"])
      writeFileSync(encodeText(`${folder}/${name}`) as Buffer, "");
    expect(look(root).found).toEqual(plainWalk(root));
    expect(look(root).found).toHaveLength(3);
  });

  it("does not follow links", () => {
    mkdirSync(join(root, "a/b"), { recursive: true });
    symlinkSync("..", join(root, "a/b/loop"));
    symlinkSync("/", join(root, "a/world"));
    symlinkSync("nowhere", join(root, "a/.env"));
    expect(look(root).found).toEqual([join(root, "a/.env")]);
    expect(look(root).folders).toBe(3);
  });

  it("finds what stays while another process changes folders around it", async () => {
    new Tree(root, new Random(9)).grow(100, 0);
    const stays = join(root, "stays");
    mkdirSync(stays);
    writeFileSync(join(stays, ".env"), "");
    const script = `
import os, itertools
for i in itertools.count():
    n = i % 50
    os.makedirs(f"moving{n}/a/b", exist_ok=True)
    open(f"moving{n}/a/b/id_x", "w").close()
    os.rename(f"moving{n}", f"moved{n}")
    os.remove(f"moved{n}/a/b/id_x")
    os.removedirs(f"moved{n}/a/b")
`;
    const other = spawn("python3", ["-c", script], { cwd: root, stdio: "ignore" });
    let memory: Uint8Array = NO_MEMORY;
    await until(() => {
      const seen = look(root, { memory });
      memory = seen.memory;
      expect(seen.complete).toBe(true);
      expect(seen.found).toContain(join(stays, ".env"));
      return seen.found.length > 1; // the other process is at work
    });
    for (let i = 0; i < 300; i++) {
      const seen = look(root, { memory });
      memory = seen.memory;
      expect(seen.found).toContain(join(stays, ".env"));
    }
    other.kill("SIGKILL");
    await new Promise((resolve) => other.once("exit", resolve));
    expect(look(root, { memory }).found).toEqual(plainWalk(root));
  });
});

describe("the bounds of a scan", () => {
  beforeEach(() => {
    new Tree(root, new Random(10)).grow(50, 100);
  });

  it("hold for the number of entries, and leave no memory", () => {
    expect(look(root, { maxEntries: 20 })).toMatchObject({ complete: false, found: [], memory: NO_MEMORY });
  });

  it("hold for the number of folders of a scan with a memory", () => {
    const { folder, memory } = known.still;
    expect(look(folder, { memory, maxEntries: 20 }).complete).toBe(false);
  });

  it("hold for the time", () => {
    expect(look(root, { maxMilliseconds: 0 }).complete).toBe(false);
  });

  it("hold for the depth", () => {
    mkdirSync(join(root, ...Array.from({ length: 300 }, () => "d")), { recursive: true });
    const { complete, unlisted } = look(root);
    expect(complete).toBe(true);
    expect(unlisted).toHaveLength(1);
    expect(unlisted[0]).toMatch(/\/d\/d$/);
  });

  it("name a folder above a file whose path no call can take, and none above such a path without a wanted name", () => {
    const dig = (file: string) =>
      execFileSync("python3", ["-c", DIG, file], { cwd: root, encoding: "utf8", stdio: "pipe" });
    dig("plain");
    expect(look(root)).toMatchObject({ complete: true, unlisted: [] });
    dig(".env");
    const { complete, unlisted } = look(root);
    expect(complete).toBe(true);
    expect(unlisted).toHaveLength(1);
    expect(unlisted[0]!.length).toBeGreaterThan(3500);
    expect(unlisted[0]!.length).toBeLessThan(4096);
  });
});

/** 25 folders with names of 200 bytes, and a file in the last one. */
const DIG = `
import os, sys
for i in range(25):
    os.makedirs("x" * 200, exist_ok=True)
    os.chdir("x" * 200)
open(sys.argv[1], "w").close()
`;

describe("a damaged memory", () => {
  it("changes nothing of what is found", () => {
    const { folder, memory } = known.still;
    const found = plainWalk(folder);
    const random = new Random(12);
    for (let i = 0; i < 400; i++) {
      const damaged = Buffer.from(memory);
      for (let n = random.below(4); n >= 0; n--)
        damaged[random.below(damaged.length)]! ^= 1 + random.below(255);
      const cut = damaged.subarray(0, random.below(3) === 0 ? random.below(damaged.length) : undefined);
      const seen = look(folder, { memory: cut });
      expect(seen.found).toEqual(found);
      expect(seen.read).toBe(cut.equals(memory) ? 0 : seen.folders);
    }
    expect(look(folder, { memory: Buffer.concat([memory, memory]) }).found).toEqual(found);
  });

  it("is read without a fault, also where its checksum fits (sanitizers)", () => {
    const binary = join(mkdtempSync(join(tmpdir(), "hermes-scan-fuzz-")), "scan-fuzz");
    const sources = readdirSync(join(checkout, "native/scan")).filter((file) => file.endsWith(".c"));
    const flags = [
      "-g",
      "-O1",
      "-std=gnu11",
      "-fsanitize=address,undefined",
      "-fno-sanitize-recover=undefined",
    ];
    execFileSync("gcc", [
      ...flags,
      ...["-o", binary, join(checkout, "test/kernel/view/scan-fuzz.c")],
      ...sources.map((file) => join(checkout, "native/scan", file)),
      "-lpthread",
    ]);
    const { stdout, stderr } = spawnSync(binary, [known.still.folder, "1000"], { encoding: "utf8" });
    rmSync(join(binary, ".."), { recursive: true });
    expect([stdout, stderr]).toEqual(["done\n", ""]);
  });
});

describe("the file of the memory", () => {
  const tree = known.still.folder;
  const request = { roots: [tree], skipped: [], names: NAMES };
  const state = () => join(root, "state");
  const file = () => join(state(), readdirSync(state())[0]!);
  const inode = () => statSync(file()).ino;

  beforeEach(() => {
    scanNames(request, { folder: state() });
  });

  const isReplaced = () => {
    const before = inode();
    expect(scanNames(request, { folder: state() })?.paths.toSorted()).toEqual(plainWalk(tree));
    return inode() !== before;
  };

  it("is left alone while nothing changes, and is ours alone", () => {
    expect(isReplaced()).toBe(false);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(readdirSync(state())).toHaveLength(1);
  });

  it("is not used if others may write to it", () => {
    chmodSync(file(), 0o620);
    expect(isReplaced()).toBe(true);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
  });

  it.runIf(isRoot)("is not used if it belongs to another user", () => {
    chownSync(file(), NOBODY, NOBODY);
    expect(isReplaced()).toBe(true);
    expect(statSync(file()).uid).toBe(0);
  });

  it("is not used through a link, and what the link leads to stays as it is", () => {
    const moved = join(root, "moved");
    const name = file();
    renameSync(name, moved);
    symlinkSync(moved, name);
    const before = statSync(moved);
    scanNames(request, { folder: state() });
    expect(statSync(name).ino).not.toBe(before.ino);
    expect(statSync(moved).mtimeMs).toBe(before.mtimeMs);
  });

  it("is one of few: those of other searches go, the oldest first", () => {
    for (let i = 0; i < 10; i++)
      scanNames({ ...request, names: [{ whole: `name-${i}` }] }, { folder: state() });
    expect(readdirSync(state())).toHaveLength(8);
  });

  it("is replaced if it is damaged", () => {
    writeFileSync(file(), readFileSync(file()).subarray(0, 1000));
    expect(isReplaced()).toBe(true);
    expect(isReplaced()).toBe(false);
  });
});

/** Runs in another process: what `look` does, on dist. The script's last expression is printed. */
const LOOK = `
import { createRequire } from "node:module";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
const { scanNames } = createRequire(import.meta.url)(process.env.ADDON ?? "./dist/native/hermes.node");
const texts = (list) => Buffer.from(list.map((text) => text + "\\0").join(""));
const list = (bytes) => bytes.toString().split("\\0").filter(Boolean).sort();
const look = (root, memory = Buffer.alloc(0)) => {
  const result = scanNames(texts([root]), texts([]), texts(["=", ".env"]), memory, 1e6, 1e5);
  return { ...result, found: list(result.found), unlisted: list(result.unlisted), memory: result.memory.length ? result.memory : memory };
};
const lookUntilKnown = (root) => {
  for (;;) {
    const seen = look(root, look(root).memory);
    if (seen.read === 0) return seen;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  }
};
const print = (value) => process.stdout.write(JSON.stringify(value));
`;

describe("a folder that cannot be listed", () => {
  let user: OrdinaryUser;
  beforeAll(() => {
    user = new OrdinaryUser();
  });
  afterAll(() => user.remove());

  it("is reported if a program of the user can enter it, or make it readable", () => {
    const { stdout, stderr } = user.run(`${LOOK}
const names = { readable: 0o755, unreadable: 0o355, closed: 0o000, listed: 0o444 };
for (const [name, mode] of Object.entries(names)) {
  mkdirSync(name + "/below", { recursive: true });
  writeFileSync(name + "/.env", "");
  chmodSync(name, mode);
}
const before = look(process.cwd());
for (const name in names) chmodSync(name, 0o755);
const after = look(process.cwd(), before.memory);
print([before.found, before.unlisted, after.found, after.unlisted]);
`);
    const own = (...names: string[]) => names.map((name) => join(user.own, name));
    expect(JSON.parse(stdout || stderr)).toEqual([
      own("readable/.env"),
      own("closed", "listed", "unreadable"),
      own("closed/.env", "listed/.env", "readable/.env", "unreadable/.env"),
      [],
    ]);
  });

  it.runIf(isRoot)("is reported of another user only if it can be entered", () => {
    for (const [name, mode] of Object.entries({ entered: 0o711, closed: 0o700, listed: 0o744 })) {
      mkdirSync(join(root, name));
      writeFileSync(join(root, name, ".env"), "");
      chmodSync(join(root, name), mode);
    }
    chmodSync(root, 0o755);
    const { stdout, stderr } = user.run(`${LOOK}
const { found, unlisted } = look(${JSON.stringify(root)});
print([found, unlisted]);
`);
    expect(JSON.parse(stdout || stderr)).toEqual([[], [join(root, "entered")]]);
  });
});

/** Mounts in a namespace of its own; `tree` is known when it begins. */
const MOUNTS = `${LOOK}
const tree = process.argv[2];
const at = (...names) => [tree, ...names].join("/");
const mount = (...words) => execFileSync("mount", words);
const within = (paths) => paths.map((path) => path.slice(tree.length + 1));
for (const name of ["leaf", "inner/a/b", "from/a", "one", "two", "proc", "plain"]) mkdirSync(at(name), { recursive: true });
for (const name of ["leaf", "from/a"]) writeFileSync(at(name, ".env"), "");
const { memory } = lookUntilKnown(tree);
const seen = {};

for (const place of ["leaf", "inner/a"]) {
  mount("-t", "tmpfs", "none", at(place));
  mkdirSync(at(place, "new"));
  writeFileSync(at(place, "new/.env"), "");
}
const over = look(tree, memory);
for (const place of ["leaf", "inner/a"]) execFileSync("umount", [at(place)]);
seen.over = [over, look(tree, over.memory)].map(({ found }) => within(found));

for (const place of ["one", "two"]) mount("--bind", at("from"), at(place));
seen.several = [look(tree), look(tree, memory), lookUntilKnown(tree)].map(({ found }) => within(found));
for (const place of ["one", "two"]) execFileSync("umount", [at(place)]);

mount("-t", "proc", "proc", at("proc"));
seen.proc = look(at("proc")).folders;

mount("-t", "ramfs", "none", at("plain"));
mkdirSync(at("plain/a"));
const first = look(tree, memory);
seen.plain = [first.read, look(tree, first.memory).read];
print(seen);
`;

describe.runIf(isRoot)("mount points", () => {
  let seen: { over: string[][]; several: string[][]; proc: number; plain: number[] };
  beforeAll(() => {
    const folder = mkdtempSync(join(tmpdir(), "hermes-mounts-"));
    const file = join(folder, "script.mjs");
    writeFileSync(file, MOUNTS);
    const env = { ...process.env, ADDON: join(checkout, "dist/native/hermes.node") };
    const words = ["-m", process.execPath, file, join(folder, "tree")];
    const { stdout, stderr } = spawnSync("unshare", words, { encoding: "utf8", env, timeout: 110_000 });
    rmSync(folder, { recursive: true });
    seen = JSON.parse(stdout || stderr);
  });

  it("over a remembered folder and below it are looked into, and what they covered is found again", () => {
    expect(seen.over).toEqual([
      ["from/a/.env", "inner/a/new/.env", "leaf/new/.env"],
      ["from/a/.env", "leaf/.env"],
    ]);
  });

  it("of one folder at several places are reported at each, with and without a memory", () => {
    const all = ["from/a/.env", "leaf/.env", "one/a/.env", "two/a/.env"];
    expect(seen.several).toEqual([all, all, all]);
  });

  it("of the kernel's file systems are left out", () => {
    expect(seen.proc).toBe(0);
  });

  it("with times that tell nothing are read each time", () => {
    expect(seen.plain).toEqual([2, 2]);
  });
});
