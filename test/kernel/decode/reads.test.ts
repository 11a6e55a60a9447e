import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Argument, REREAD, rereadOf, SYSCALLS, type Syscall } from "../../../src/abi/index.js";
import { NOBODY, OrdinaryUser } from "../../support/ordinary-user.js";
import { program } from "../../support/programs.js";
import { root } from "../../support/root.js";

/**
 * Every call that takes a pointer is made, under policies that look at all there is, twice, and with a record of
 * everything; the native part writes down what it reads of the program's memory (HERMES_READS). Made by an ordinary user
 * with descriptors and processes that do not exist, none of these calls does any harm.
 */

const isRoot = process.getuid?.() === 0;
const AT = 0x10000000;
const ROOM = 0x10000;
const RLIMIT_CORE = 4;
/** The program has a socket for datagrams there; 127.0.0.1:9 is where they go. */
const SOCKET = 100;
/** They would end, stop or blind the program that makes the others. */
const LEFT_OUT = new Set(["rt_sigreturn", "exit", "reboot", "rseq", "set_robust_list", "mincore", "munmap"]);
const POINTERS = "path string buffer iovec sockaddr msghdr mmsghdr argv fds struct".split(" ");

let ordinary: OrdinaryUser;
let pointers: string;

beforeAll(() => {
  ordinary = new OrdinaryUser();
  pointers = ordinary.give(program("pointers"));
  for (const name of ["wasmoon", "esbuild", "@esbuild"])
    cpSync(join(root, "node_modules", name), join(ordinary.folder, "node_modules", name), {
      recursive: true,
    });
});
afterAll(() => ordinary.remove());

// ---------------------------------------------------------------- the calls

const text = (word: string) => Buffer.from(`${word}\0`);
const words = (...values: number[]) => Buffer.from(BigUint64Array.from(values.map(BigInt)).buffer);
const ADDRESS = Buffer.from([2, 0, 0, 9, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);

/** What lies where the i-th argument points. */
function content({ kind, name, struct }: Argument, at: number): [place: number, bytes: Buffer][] {
  const [first, second, third] = [at + 0x1000, at + 0x2000, at + 0x3000];
  const vectors = words(first, 5, second, 6);
  const message = Buffer.concat([words(third, ADDRESS.length, at + 0x400, 2, 0, 0, 0), words(0)]);
  const data: [number, Buffer][] = [
    [first, Buffer.from("hello")],
    [second, Buffer.from("world!")],
  ];
  switch (kind) {
    case "path":
    case "string":
      return [[at, text(name.includes("type") ? "tmpfs" : `user.${name}`)]];
    case "argv":
      return [[at, words(first, second, 0)], [first, text("A=one")], [second, text("B=two")]]; // biome-ignore format: a row
    case "iovec":
      return [[at, vectors], ...data];
    case "msghdr":
    case "mmsghdr":
      return [[at, message], [at + 0x400, vectors], [third, ADDRESS], ...data]; // biome-ignore format: a row
    case "sockaddr":
      return [[at, ADDRESS]];
    default:
      return [[at, struct === "int" ? Buffer.from([64, 0, 0, 0]) : Buffer.alloc(64)]];
  }
}

/** What the others are: nothing that exists, and sizes that fit. */
function scalar({ kind, name }: Argument, i: number, call: Syscall): number {
  const counts = call.args.find((argument) => argument.length === i && !argument.lengthIsPointer);
  if (counts)
    return counts.kind === "iovec" ? 2 : counts.kind === "mmsghdr" ? 1 : counts.kind === "sockaddr" ? 16 : 64;
  if (name === "resource") return RLIMIT_CORE;
  if (kind === "fd") return /^(send(to|mm?sg)|connect)$/.test(call.name) ? SOCKET : -1;
  if (kind === "dirfd") return -100;
  return kind === "pid" ? 0x3fffffff : kind === "size" ? 64 : 0;
}

const isPointer = ({ kind }: Argument) => POINTERS.includes(kind);
const CALLS = SYSCALLS.filter(({ name, args }) => !LEFT_OUT.has(name) && args.some(isPointer));

const unsigned = (value: number) => BigInt.asUintN(64, BigInt(value));

function lineOf(call: Syscall): string {
  const places: string[] = [];
  const args = Array.from({ length: 6 }, (_, i) => {
    const argument = call.args[i];
    if (!argument || !isPointer(argument)) return argument ? scalar(argument, i, call) : 0;
    const at = AT + i * ROOM;
    for (const [place, bytes] of content(argument, at)) places.push(`${place} ${bytes.toString("hex")}`);
    return at;
  });
  return `${[call.nr, ...args].map(unsigned).join(" ")} ${places.join(" ")}`;
}

// ---------------------------------------------------------------- the policies

const FIELDS = "path requested paths address addresses argv env flags data".split(" ");

const POLICIES = {
  "all.yaml": `name: all
rules:
  - { id: paths, deny: "*", path: "/nowhere/**", reason: no }
  - { id: words, deny: exec, argv: [nothing, at, all], reason: no }
  - { id: env, deny: exec, env: { A: nothing }, reason: no }
  - { id: names, deny: [setxattr, lsetxattr, removexattr], where: { name: "*nothing*" }, reason: no }
  - { id: targets, deny: [symlink], where: { old: "*nothing*" }, reason: no }
  - { id: flags, deny: [openat2, openat], flags: { all: [O_TMPFILE] }, reason: no }
  - { id: away, deny: [connect, send, bind], address: "192.0.2.1", reason: no }
  - { id: spaces, deny: namespace, user: 12345, reason: no }
`,
  "all.lua": `hermes.on("*", function(e)
  for turn = 1, 2 do
    local all = { ${FIELDS.map((field) => `e.${field}`).join(", ")} }
    for i = 1, #e.args do local value = e.args[i] end
    for i = 0, 5 do e.memory(${AT} + i * ${ROOM}, 64) end
  end
end)`,
  "all.ts": `import { definePolicy } from "hermes-runtime";
const look = (e) => {
  for (let turn = 0; turn < 2; turn++) {
    void [${FIELDS.map((field) => `e.${field}`).join(", ")}, ...Object.values({ ...e.args })];
    for (let i = 0; i < 6; i++) void [e.memory.read(${AT}n + BigInt(i * ${ROOM}), 64), e.memory.text(e.argument(i))];
  }
};
export default definePolicy({ name: "all", actions: ["deny"], on: { "*": look } });`,
};

// ---------------------------------------------------------------- what was read

interface Stop {
  readonly nr: number;
  readonly reads: [from: number, to: number][];
}

/** What was read in each stop. */
function stopsOf(log: string): Stop[] {
  const stops: Stop[] = [];
  const current = new Map<string, Stop>();
  for (const line of log.trimEnd().split("\n")) {
    const [what, tid, first, second] = line.split(" ") as [string, string, string, string];
    if (what === "S") {
      const stop = { nr: Number(first), reads: [] };
      stops.push(stop);
      current.set(tid, stop);
    } else current.get(tid)?.reads.push([Number(first), Number(first) + Number(second)]);
  }
  return stops;
}

/** Pairs of reads in one stop that share a byte. */
function readTwice({ nr, reads }: Stop): string[] {
  const sorted = [...reads].sort(([a], [b]) => a - b);
  const name = SYSCALLS.find((call) => call.nr === nr)?.name ?? nr;
  return sorted.flatMap(([from, to], i) => {
    const before = sorted[i - 1];
    return before && before[1] > from
      ? [
          `${name}: ${before[0].toString(16)}-${before[1].toString(16)} and ${from.toString(16)}-${to.toString(16)}`,
        ]
      : [];
  });
}

function makeAll(door: string, file: keyof typeof POLICIES): Stop[] {
  const folder = mkdtempSync(join(tmpdir(), "hermes-reads-"));
  chmodSync(folder, 0o777);
  const policy = join(folder, file);
  writeFileSync(policy, POLICIES[file]);
  const own = join(folder, "own");
  mkdirSync(own);
  chmodSync(own, 0o777);
  // What the calls find, so that those which are made on behalf get as far as reading names, values and times.
  for (const name of ["path", "filename", "pathname"]) {
    writeFileSync(join(own, `user.${name}`), "");
    if (isRoot) chownSync(join(own, `user.${name}`), NOBODY, NOBODY);
  }
  const log = join(folder, "reads");
  const hermes = [join(ordinary.folder, "dist/cli/main.cjs"), "run", "-q", "--fence", "none", "--door", door];
  const trace = ["--trace", join(folder, "trace.jsonl"), "--events", "*"];
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [...hermes, ...trace, "--policy", policy, "--", pointers],
    {
      cwd: own,
      encoding: "utf8",
      env: { PATH: process.env.PATH, HERMES_READS: log },
      input: CALLS.map((call) => `${lineOf(call)}\n`).join(""),
      ...(isRoot && { uid: NOBODY, gid: NOBODY }),
    },
  );
  expect(stderr).toBe("");
  expect(stdout).toBe(`${CALLS.length} made\n`);
  expect(status).toBe(0);
  const stops = stopsOf(readFileSync(log, "utf8"));
  rmSync(folder, { recursive: true, force: true });
  return stops;
}

describe("a program's memory", { timeout: 240_000 }, () => {
  for (const door of ["notify", "trace"])
    for (const file of Object.keys(POLICIES) as (keyof typeof POLICIES)[])
      it(`is read once for each stop, through the ${door} door, by ${file}`, () => {
        const stops = makeAll(door, file);
        expect(stops.flatMap(readTwice)).toEqual([]);
        const looked = stops.filter(({ reads }) =>
          reads.some(([from]) => from >= AT && from < AT + 6 * ROOM),
        );
        expect(looked.length).toBeGreaterThan(file === "all.yaml" ? 100 : CALLS.length - 20);
      });
});

describe("the table of what becomes of a decision on memory", () => {
  it("knows every call that takes a path, and says of the others that nothing but scripts look at them", () => {
    const paths = SYSCALLS.filter(({ args }) => args.some(({ kind }) => kind === "path"));
    expect(paths.filter((call) => rereadOf(call) === "data").map(({ name }) => name)).toEqual([]);
    expect(Object.keys(REREAD)).toContain(rereadOf(SYSCALLS[0]!));
  });

  it("makes every call with an address on behalf", () => {
    const sends = SYSCALLS.filter(({ name, args }) =>
      args.some(
        ({ kind, direction = "in" }) => kind === "sockaddr" && direction === "in" && name !== "getsockname",
      ),
    );
    expect(sends.filter((call) => rereadOf(call) !== "on behalf").map(({ name }) => name)).toEqual([]);
  });
});
