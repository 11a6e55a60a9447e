import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, constants, cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { native, PROBE } from "../../../src/kernel/binding/native.js";
import { Fence } from "../../../src/kernel/fence/fence.js";
import type { FenceOptions } from "../../../src/kernel/fence/options.js";
import { NOBODY, OrdinaryUser } from "../../support/ordinary-user.js";
import { program } from "../../support/programs.js";
import { root } from "../../support/root.js";

/**
 * Calls that HERMES makes in a program's place end as they would have ended for the program: the same calls, drawn at
 * random, are made bare under the same rules of Landlock, by the kernel's word, and under a policy that looks at all paths.
 */

const SEEDS = 2;
const CALLS = 300;
const isRoot = process.getuid?.() === 0;
const binary = program("landlock-calls");
const landlock = (native().probe() >> PROBE.landlockShift) & 0xff;
let ordinary: OrdinaryUser;
let folder: string;
let tree: string;
let tool: string;

beforeAll(() => {
  ordinary = new OrdinaryUser();
  folder = mkdtempSync(join(tmpdir(), "hermes-landlock-"));
  chmodSync(folder, 0o755);
  tree = join(folder, "tree");
  tool = join(folder, "calls");
  cpSync(binary, tool);
  chmodSync(tool, 0o755);
  writeFileSync(
    join(folder, "look.yaml"),
    `name: look
rules:
  - { id: files, deny: [read, write], path: "/nowhere/**", reason: Nothing is there. }
  - { id: sockets, deny: [connect, bind], address: "unix:/nowhere", reason: Nothing is there. }
`,
  );
});
afterAll(() => {
  ordinary.remove();
  rmSync(folder, { recursive: true, force: true });
});

const FOLDERS = ["in", "in/d", "in2", "in2/d", "out", "out/d", "read", "read/d"];
const NAMES = ["f", "g", "d", "e", "p", "l", "s", "new", "new2", "link-to-out", "f/", "d/", "new/", "d/../f"];

function build(owner: number): void {
  const each = "echo f > f; echo g > g; mkdir -p e; mkfifo p; ln -s f l; ln -s ../out/f link-to-out";
  const script = `rm -rf tree && mkdir tree && cd tree && mkdir -p ${FOLDERS.join(" ")} && for at in ${FOLDERS.join(" ")}; do (cd $at && { ${each}; }); done && chown -R ${owner}:${owner} .`;
  execFileSync("sh", ["-ec", script], { cwd: folder });
}

/** A generator that gives the same numbers for the same seed (mulberry32). */
function drawer(seed: number): <T>(from: readonly T[]) => T {
  let state = seed;
  return (from) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return from[((t ^ (t >>> 14)) >>> 0) % from.length]!;
  };
}

const { O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_DIRECTORY, O_NOFOLLOW } = constants;
const O_TMPFILE = 0o20200000;
const ACCESS = [O_RDONLY, O_WRONLY, O_RDWR];
const OPEN = [0, 0, O_CREAT, O_CREAT | O_EXCL, O_TRUNC, O_CREAT | O_TRUNC, O_DIRECTORY, O_NOFOLLOW];
const TYPES = [
  0,
  constants.S_IFREG,
  constants.S_IFIFO,
  constants.S_IFSOCK,
  constants.S_IFCHR,
  constants.S_IFBLK,
];

function drawCall(draw: ReturnType<typeof drawer>): string {
  const path = () => `${join(tree, draw(FOLDERS))}/${draw(NAMES)}`;
  const name = draw(
    "open open open openat2 creat truncate mkdir mknod mknod unlink rmdir unlinkat symlink link link linkat rename rename rename renameat2 renameat2 bind tmpfile".split(
      " ",
    ),
  );
  const [one, two] = [path(), path()];
  switch (name) {
    case "open":
    case "openat2": {
      const how = draw(OPEN) & ~(one.endsWith("/") ? O_CREAT : 0);
      // What is no file is not waited for.
      return `${name} ${one} - ${draw(ACCESS) | (name === "openat2" && how & O_TRUNC ? how & ~O_CREAT : how) | constants.O_NONBLOCK} ${0o644}`;
    }
    case "tmpfile":
      return `open ${join(tree, draw(FOLDERS))} - ${O_TMPFILE | draw([O_WRONLY, O_RDWR])} ${0o600}`;
    case "mknod":
      return `mknod ${one} - ${draw(TYPES) | 0o644} ${0x103}`;
    case "unlinkat":
      return `unlinkat ${one} - ${draw([0, 0x200])} 0`;
    case "linkat":
      return `linkat ${one} ${two} ${draw([0, 0x400])} 0`;
    case "renameat2":
      return `renameat2 ${one} ${two} ${draw([0, 1, 2, 2, 4])} 0`;
    default:
      return `${name} ${one} ${two} ${draw([0, 1, 4096])} ${0o700}`;
  }
}

interface Way {
  readonly uid: number;
  readonly options: FenceOptions;
}

/** Landlock by the kernel alone: the program restricts itself by the rules that the launcher would use. */
function bare({ uid, options }: Way, calls: readonly string[]): string[] {
  const { plan } = new Fence(options, [], {
    workspace: tree,
    cwd: folder,
    program: tool,
    env: {},
    ours: [],
    shown: [],
    landlock,
  });
  const rules = [
    `H ${plan.handledFiles.toString(16)} ${plan.handledPorts.toString(16)} ${plan.scopes.toString(16)}`,
    ...plan.pathRules
      .filter(({ needs }) => !needs)
      .map(({ access, path }) => `P ${(access & plan.handledFiles).toString(16)} ${path}`),
    ...plan.portRules.map(({ access, port }) => `N ${access.toString(16)} ${port}`),
  ];
  return lines(tool, ["restrict"], uid, [...rules, ...calls]);
}

function onBehalf({ uid, options }: Way, door: string, calls: readonly string[]): string[] {
  const of = (option: string, values: readonly (string | number)[] | undefined) =>
    (values ?? []).flatMap((value) => [option, String(value)]);
  const build = uid === 0 || !isRoot ? root : ordinary.folder;
  const args = [
    join(build, "dist/cli/main.cjs"),
    "run",
    "-q",
    "-p",
    join(folder, "look.yaml"),
    "--door",
    door,
    ...of("--writable", options.writable),
    ...of("--readable", options.readable),
    ...of("--connect-port", options.connectPorts),
    ...of("--bind-port", options.bindPorts),
    "--",
    tool,
  ];
  return lines(process.execPath, args, uid, calls);
}

function lines(file: string, args: readonly string[], uid: number, input: readonly string[]): string[] {
  const user = isRoot ? { uid, gid: uid } : {};
  const done = spawnSync(file, args, {
    cwd: folder,
    input: `${input.join("\n")}\n`,
    encoding: "utf8",
    env: { PATH: process.env.PATH },
    timeout: 100_000,
    ...user,
  });
  expect(done.stderr).toBe("");
  return done.stdout.split("\n").slice(0, -1);
}

/** What is in the tree now. */
function picture(): string {
  return execFileSync("find", [tree, "-printf", "%P %y %m %n %s %l\\n"], { encoding: "utf8" })
    .split("\n")
    .sort()
    .join("\n");
}

function compare(way: Way, door: string, calls: readonly string[]): void {
  build(way.uid);
  const expected = bare(way, calls);
  const expectedTree = picture();
  build(way.uid);
  const got = onBehalf(way, door, calls);
  const gotTree = picture();
  const differing = calls.flatMap((call, i) =>
    got[i] === expected[i] ? [] : [`${call}: ${got[i]} instead of ${expected[i]}`],
  );
  expect(differing.slice(0, 3)).toEqual([]); // what comes after the first may follow from it
  expect(gotTree).toBe(expectedTree);
}

const users = isRoot ? [0, NOBODY] : [process.getuid!()];
const cases = users.flatMap((uid) => ["notify", "trace"].map((door) => ({ uid, door })));

describe.each(cases)(
  "behind Landlock, as user $uid through the $door door, calls end as the kernel ends them",
  ({ uid, door }) => {
    const at = (...names: string[]) => names.map((name) => join(tree, name));
    const rules: readonly [claim: string, options: () => FenceOptions][] = [
      ["one folder to write to", () => ({ writable: at("in") })],
      ["two folders to write to", () => ({ writable: at("in", "in2") })],
      ["a folder in a folder", () => ({ writable: at("in/d", "in2", "out/f") })],
      ["one to write to, one to read", () => ({ writable: at("in", "in2/d"), readable: at("read") })],
      ["only folders to read", () => ({ readable: at("in", "read", "in2/d") })],
      [
        "all to read, one to write to",
        () => ({ readable: at("in", "in2", "out", "read"), writable: at("in") }),
      ],
    ];
    it.each(rules)("%s", { timeout: 300_000 }, (_, options) => {
      build(uid);
      for (let seed = 1; seed <= SEEDS; seed++) {
        const draw = drawer(seed);
        compare(
          { uid, options: options() },
          door,
          Array.from({ length: CALLS }, () => drawCall(draw)),
        );
      }
    });
  },
);
