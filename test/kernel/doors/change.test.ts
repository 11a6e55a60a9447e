import { createSocket } from "node:dgram";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type CallEvent,
  definePolicy,
  deny,
  emulate,
  fault,
  kill,
  modify,
  type PolicySpec,
  redirect,
  virtualFile,
} from "hermes-runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Call, capture, hex, makeCalls } from "../../support/calls.js";
import { program } from "../../support/programs.js";

const AT_FDCWD = -100;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-change-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const decided = (calls: readonly Call[], spec: Omit<PolicySpec, "name">) =>
  makeCalls(calls, definePolicy({ name: "test", ...spec }));
const file = (name: string, content: string) => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};
const inet = (host: number[], port: number) =>
  Buffer.from([2, 0, port >> 8, port & 255, ...host, 0, 0, 0, 0, 0, 0, 0, 0]);

describe("a redirected path", () => {
  it("opens the other file, for every call that opens", async () => {
    const asked = file("asked", "asked");
    const given = file("given", "given!");
    const to = (e: CallEvent) => (e.path === asked ? redirect(given) : undefined);
    const how = `x:${"00".repeat(24)}`;
    const opens: Call[] = [
      ["open", `s:${asked}`, 0],
      ["openat", AT_FDCWD, `s:${asked}`, 0],
      ["openat2", AT_FDCWD, `s:${asked}`, how, 24],
    ];
    for (const open of opens) {
      const { outcomes } = await decided([open, ["read", "r:0", "o:6", 6]], {
        on: { open: to, openat: to, openat2: to },
      });
      expect(outcomes[1]!.outs[0]!.toString(), open[0]).toBe("given!");
    }
  });

  it("is what stat, access, readlink, chmod, truncate, rename, link and unlink work on", async () => {
    const given = file("target", "0123456789");
    symlinkSync("somewhere", join(folder, "alink"));
    const asked = join(folder, "does-not-exist");
    const all = (e: CallEvent) =>
      e.requested === asked ? redirect(e.name === "readlink" ? join(folder, "alink") : given) : undefined;
    const calls: Call[] = [
      ["stat", `s:${asked}`, "o:144"],
      ["newfstatat", AT_FDCWD, `s:${asked}`, "o:144", 0],
      ["statx", AT_FDCWD, `s:${asked}`, 0, 0xfff, "o:256"],
      ["access", `s:${asked}`, 4],
      ["readlink", `s:${asked}`, "o:64", 64],
      ["chmod", `s:${asked}`, 0o600],
      ["truncate", `s:${asked}`, 4],
      ["link", `s:${asked}`, `s:${folder}/linked`],
      ["rename", `s:${asked}`, `s:${folder}/renamed`],
    ];
    const { outcomes } = await decided(calls, { on: { "%file": all } });
    expect(outcomes.map((o) => o.errno)).toEqual(calls.map(() => undefined));
    expect(Number(outcomes[0]!.outs[0]!.readBigInt64LE(48))).toBe(10);
    expect(outcomes[4]!.outs[0]!.subarray(0, 9).toString()).toBe("somewhere");
    expect(readFileSync(join(folder, "renamed"), "utf8")).toBe("0123");
    expect(existsSync(given)).toBe(false);
  });

  it("can be the second path of a rename", async () => {
    const from = file("from", "x");
    const { outcomes } = await decided([["rename", `s:${from}`, `s:${folder}/to`]], {
      on: { rename: () => modify({ args: { newname: join(folder, "elsewhere") } }) },
    });
    expect(outcomes[0]!.result).toBe(0);
    expect(existsSync(join(folder, "elsewhere"))).toBe(true);
    expect(existsSync(join(folder, "to"))).toBe(false);
  });

  it("executes the other program", async () => {
    const policy = definePolicy({
      name: "test",
      on: { execve: (e) => (e.path === "/usr/bin/false" ? redirect("/bin/echo") : undefined) },
    });
    const { output } = await capture(["/usr/bin/false", "hello"], { policy });
    expect(output).toBe("hello\n");
  });

  it("leaves the program's own memory and registers as they were", async () => {
    const asked = file("keep", "asked");
    const given = file("given2", "given");
    const policy = definePolicy({
      name: "test",
      on: { openat: (e) => (e.path === asked ? redirect(given) : undefined) },
    });
    const { output, session } = await capture([program("registers"), asked], { policy });
    expect(output).toBe("given path-kept registers-kept\n");
    expect(session.summary.byAction.modify).toBe(1000);
  });

  it("works in many threads at once, in forked children, and while signals arrive", async () => {
    const asked = file("many", "asked");
    const given = file("given3", "given");
    const policy = definePolicy({
      name: "test",
      on: { openat: (e) => (e.path === asked ? redirect(given) : undefined) },
    });
    const { output, session } = await capture([program("storm"), asked, "given"], { policy });
    expect(output).toBe("8 threads, 8 children, 0 wrong\n");
    expect(session.problems).toEqual([]);
  });

  it("of 4095 bytes is taken, and one with a NUL is refused", async () => {
    const deep = `${folder}/${"./".repeat((4095 - folder.length - 2) >> 1)}`.slice(0, 4090);
    const long = `${deep}${"/".repeat(4095 - deep.length - 4)}long`;
    file("long", "long!");
    expect(long).toHaveLength(4095);
    const ok = await decided(
      [
        ["openat", AT_FDCWD, "s:/short", 0],
        ["read", "r:0", "o:5", 5],
      ],
      {
        on: { openat: (e) => (e.requested === "/short" ? redirect(long) : undefined) },
      },
    );
    expect(ok.outcomes[1]!.outs[0]!.toString()).toBe("long!");
    const nul = await decided([["openat", AT_FDCWD, "s:/short", 0]], {
      on: { openat: (e) => (e.requested === "/short" ? redirect("/etc/passwd\0.txt") : undefined) },
    });
    expect(nul.outcomes[0]!.errno).toBe("EACCES");
    expect(nul.session.problems[0]).toMatch(/NUL/);
  });
});

describe("a virtual file", () => {
  it("has the content that the policy gives it, and leaves nothing behind", async () => {
    const paths: string[] = [];
    const policy = definePolicy({
      name: "test",
      on: {
        openat: (e) => (e.requested === "/etc/app.conf" ? virtualFile("mode = safe\n") : undefined),
        close(e) {
          if (e.fd?.target?.includes("hermes-")) paths.push(e.fd.target);
        },
      },
    });
    const { output } = await capture(["cat", "/etc/app.conf"], { policy });
    expect(output).toBe("mode = safe\n");
    expect(paths.length).toBeGreaterThan(0);
    expect(existsSync(paths[0]!)).toBe(false);
  });
});

describe("a redirected address", () => {
  it("connects to the other address, by IPv4 and by IPv6 sockets", async () => {
    const server = createServer((socket) => socket.on("error", () => {}).end("other"));
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as { port: number };
    const six = Buffer.concat([
      Buffer.from([10, 0, 0, 9, 0, 0, 0, 0]),
      Buffer.from("20010db8000000000000000000000001", "hex"),
      Buffer.alloc(4),
    ]);
    for (const [family, address] of [
      [2, inet([192, 0, 2, 1], 9)],
      [10, six],
    ] as const) {
      const calls: Call[] = [
        ["socket", family, 1, 0],
        ["connect", "r:0", `x:${hex(address)}`, address.length],
        ["read", "r:0", "o:5", 5],
      ];
      const { outcomes, session } = await decided(calls, {
        on: { connect: () => redirect(`127.0.0.1:${port}`) },
      });
      expect(session.problems).toEqual([]);
      expect(outcomes[2]!.outs[0]!.toString()).toBe("other");
    }
    server.close();
  });

  it("takes the datagrams of sendto and sendmsg", async () => {
    const socket = createSocket("udp4");
    await new Promise<void>((done) => socket.bind(0, "127.0.0.1", done));
    const received: string[] = [];
    socket.on("message", (bytes) => received.push(bytes.toString()));
    const to = `127.0.0.1:${socket.address().port}`;
    const nowhere = hex(inet([192, 0, 2, 1], 9));
    const calls: Call[] = [
      ["socket", 2, 2, 0],
      ["sendto", "r:0", "s:first", 5, 0, `x:${nowhere}`, 16],
      ["sendmsg", "r:0", `m:${nowhere};7365636f6e64`, 0],
    ];
    const { outcomes } = await decided(calls, {
      on: { sendto: () => redirect(to), sendmsg: () => redirect(to) },
    });
    expect(outcomes.slice(1).map((o) => o.result)).toEqual([5, 6]);
    await expect.poll(() => received).toEqual(["first", "second"]);
    socket.close();
  });

  it("of another family is refused with a clear error", async () => {
    const calls: Call[] = [
      ["socket", 2, 1, 0],
      ["connect", "r:0", `x:${hex(inet([127, 0, 0, 1], 9))}`, 16],
    ];
    const { outcomes, session } = await decided(calls, {
      on: { connect: () => redirect("unix:/run/x.sock") },
    });
    expect(outcomes[1]!.errno).toBe("EACCES");
    expect(session.problems[0]).toMatch(
      /127\.0\.0\.1:9 \(ipv4\) cannot be redirected to unix:\/run\/x\.sock \(unix\): the address family differs/,
    );
  });
});

describe("a modified call", () => {
  it("has other scalar arguments", async () => {
    const path = file("flags", "content");
    const { outcomes } = await decided(
      [
        ["openat", AT_FDCWD, `s:${path}`, 0o2],
        ["write", "r:0", "s:x", 1],
        ["lseek", 0, 5, 1],
      ],
      {
        on: { openat: (e) => (e.path === path ? modify({ args: { flags: 0 } }) : undefined) },
      },
    );
    expect(outcomes[1]!.errno).toBe("EBADF");
    const big = await decided([["lseek", 99, 5, 0]], {
      on: { lseek: () => modify({ args: { 1: -(2n ** 62n) } }) },
    });
    expect(big.outcomes[0]!.errno).toBe("EBADF");
  });

  it("writes other data, longer or shorter, and the program is told what it expects", async () => {
    const path = join(folder, "written");
    const calls: Call[] = [
      ["openat", AT_FDCWD, `s:${path}`, 0o1101, 0o644],
      ["write", "r:0", "s:abc", 3],
      ["write", "r:0", "s:defghi", 6],
      ["pwrite64", "r:0", "s:PW", 2, 0],
    ];
    const data: Record<string, string> = { abc: "longer than it was|", defghi: "-" };
    const change = (e: CallEvent) =>
      data[e.data?.toString() ?? ""] ? modify({ data: data[e.data!.toString()]! }) : undefined;
    const { outcomes } = await decided(calls, { on: { write: change, pwrite64: change } });
    expect(outcomes.slice(1).map((o) => o.result)).toEqual([3, 6, 2]);
    expect(readFileSync(path, "utf8")).toBe("PWnger than it was|-");
  });

  it("writes other data of the same length through iovecs, and gives the program its memory back", async () => {
    const path = join(folder, "vectors");
    const calls: Call[] = [
      ["openat", AT_FDCWD, `s:${path}`, 0o1101, 0o644],
      ["writev", "r:0", "w:6162,636465", 2],
    ];
    const { outcomes } = await decided(calls, { on: { writev: () => modify({ data: "ABCDE" }) } });
    expect(outcomes[1]!.result).toBe(5);
    expect(readFileSync(path, "utf8")).toBe("ABCDE");
    const wrong = await decided([["writev", 1, "w:6162", 1]], {
      on: { writev: () => modify({ data: "longer" }) },
    });
    expect(wrong.session.problems[0]).toMatch(/several buffers/);
  });

  it("that cannot be modified so is denied, and the reason said", async () => {
    const cases: [Call, Omit<PolicySpec, "name">, RegExp][] = [
      [["getppid"], { on: { getppid: () => redirect("/x") } }, /takes no path or address/],
      [["getppid"], { on: { getppid: () => modify({ args: { nosuch: 1 } }) } }, /no argument "nosuch"/],
      [["getppid"], { on: { getppid: () => modify({ data: "x" }) } }, /writes no data/],
      [["getppid"], { on: { getppid: () => modify({ result: 1 }) } }, /only be changed on return/],
      [["getppid"], { on: { getppid: () => deny("x", "ENOSUCHERRNO") } }, /not an errno/],
      [["getppid"], { on: { getppid: () => fault({ signal: "SIGNOPE" }) } }, /not a signal/],
      [["getppid"], { on: { getppid: () => ({ action: "modify" }) } }, /its answer makes no sense/],
      [["getppid"], { on: { getppid: () => ({ action: "emulate" }) } }, /its answer makes no sense/],
    ];
    for (const [call, spec, message] of cases) {
      const { outcomes, session } = await decided([call], spec);
      expect(outcomes[0]!.errno, String(message)).toBe("EACCES");
      expect(session.problems[0]).toMatch(message);
    }
  });
});

describe("a return", () => {
  it("is seen with its result, its error, its data and its time", async () => {
    const path = file("returned", "some bytes");
    const seen: unknown[] = [];
    await decided(
      [
        ["openat", AT_FDCWD, `s:${path}`, 0],
        ["read", "r:0", "o:4", 4],
        ["openat", AT_FDCWD, "s:/nonexistent", 0],
      ],
      {
        returns: {
          openat: (e) =>
            void (
              e.requested?.includes("/lib") ||
              e.requested?.includes("ld.so") ||
              seen.push([e.kind, e.path, e.result > 0, e.errno, e.elapsed > 0])
            ),
          read: (e) => void (e.args.count === 4 && seen.push([e.result, e.data?.toString(), e.fd?.target])),
        },
      },
    );
    expect(seen).toEqual([
      ["return", path, true, undefined, true],
      [4, "some", path],
      ["return", "/nonexistent", false, "ENOENT", true],
    ]);
  });

  it("can have another result and other data", async () => {
    const path = file("changed", "original");
    const calls: Call[] = [
      ["openat", AT_FDCWD, `s:${path}`, 0],
      ["read", "r:0", "o:8", 8],
      ["getppid"],
      ["getpid"],
    ];
    const { outcomes } = await decided(calls, {
      returns: {
        read: (e) => (e.fd?.target === path ? modify({ data: "new" }) : undefined),
        getppid: () => modify({ result: 77 }),
        getpid: () => deny("hidden", "ENOSYS"),
      },
    });
    expect(outcomes[1]).toMatchObject({ result: 3 });
    expect(outcomes[1]!.outs[0]!.toString()).toBe("newginal");
    expect(outcomes[2]!.result).toBe(77);
    expect(outcomes[3]!.errno).toBe("ENOSYS");
  });

  it("can be delayed, fail, or bring a signal", async () => {
    const calls: Call[] = [
      ["clock_gettime", 1, "o:16"],
      ["getppid"],
      ["clock_gettime", 1, "o:16"],
      ["getpid"],
    ];
    const { outcomes } = await decided(calls, {
      returns: { getppid: () => fault({ delay: 200 }), getpid: () => fault({ errno: "EIO" }) },
    });
    const at = (i: number) =>
      Number(outcomes[i]!.outs[0]!.readBigInt64LE(0)) + Number(outcomes[i]!.outs[0]!.readBigInt64LE(8)) / 1e9;
    expect(at(2) - at(0)).toBeGreaterThanOrEqual(0.2);
    expect(outcomes[1]!.result).toBeGreaterThan(1);
    expect(outcomes[3]!.errno).toBe("EIO");
    const { session } = await decided([["getppid"]], {
      returns: { getppid: () => fault({ signal: "SIGTERM" }) },
    });
    expect(session.signal).toBe("SIGTERM");
  });

  it("can be emulated or end the process", async () => {
    const { outcomes } = await decided([["uname", "o:390"]], {
      returns: { uname: () => emulate(0, "Other\0") },
    });
    expect(outcomes[0]!.outs[0]!.subarray(0, 6).toString()).toBe("Other\0");
    const { session } = await decided([["uname", "o:390"]], { returns: { uname: () => kill() } });
    expect(session.exitCode).toBe(137);
  });
});

describe("a short transfer", () => {
  it("moves at most that many bytes", async () => {
    const path = file("short", "0123456789");
    const { outcomes } = await decided(
      [
        ["openat", AT_FDCWD, `s:${path}`, 0],
        ["read", "r:0", "o:10", 10],
        ["write", 1, "s:", 0],
      ],
      {
        on: { read: (e) => (e.args.count === 10 ? fault({ short: 3 }) : undefined) },
      },
    );
    expect(outcomes[1]).toMatchObject({ result: 3 });
  });
});
