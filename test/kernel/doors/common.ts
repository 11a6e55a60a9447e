import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  allow,
  type CallEvent,
  definePolicy,
  deny,
  emulate,
  fault,
  kill,
  type PolicySpec,
  run,
  utsname,
} from "hermes-runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { planDoors } from "../../../src/kernel/doors/door-plan.js";
import { PolicyStack } from "../../../src/policy/stack.js";
import { type Call, makeBare, makeCalls } from "../../support/calls.js";

const AT_FDCWD = -100;

/** What every door must do alike. Each door runs this whole suite; what one alone can do has tests of its own. */
export function describeDoor(door: "notify" | "trace"): void {
  describe(`the ${door} door`, () => {
    let folder: string;
    let secret: string;
    let server: Server;
    let port: number;

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), "hermes-door-"));
      secret = join(folder, "secret");
      writeFileSync(secret, "hidden");
      writeFileSync(join(folder, "plain"), "visible");
      symlinkSync(secret, join(folder, "link"));
      mkdirSync(join(folder, "sub"));
      server = createServer((socket) => socket.on("error", () => {}).end("hello"));
      await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
      port = (server.address() as { port: number }).port;
    });

    afterAll(() => {
      server.close();
      rmSync(folder, { recursive: true, force: true });
    });

    const decided = (calls: readonly Call[], spec: Omit<PolicySpec, "name">) =>
      makeCalls(calls, definePolicy({ name: "test", ...spec }), { door });
    const address = (host: number[], p: number) =>
      `x:${Buffer.from([2, 0, p >> 8, p & 255, ...host, 0, 0, 0, 0, 0, 0, 0, 0]).toString("hex")}`;

    it("lets a call through unchanged when the policy allows it or says nothing", async () => {
      const calls: Call[] = [
        ["openat", AT_FDCWD, `s:${folder}/plain`, 0],
        ["read", "r:0", "o:7", 7],
        ["getppid"],
      ];
      const { outcomes, session } = await decided(calls, {
        on: { openat: () => allow(), read() {}, getppid() {} },
      });
      expect(outcomes[1]!.outs[0]!.toString()).toBe("visible");
      expect(outcomes[2]!.result).toBeGreaterThan(1);
      expect(session.summary.byAction).toEqual({});
    });

    for (const errno of ["EACCES", "ENOENT", "EPERM", "EIO", "ENOSPC", "ETIMEDOUT"])
      it(`denies with ${errno} when told so`, async () => {
        const { outcomes, session } = await decided([["openat", AT_FDCWD, `s:${secret}`, 0]], {
          on: { openat: (e) => (e.path === secret ? deny("not this one", errno) : undefined) },
        });
        expect(outcomes[0]).toMatchObject({ result: -1, errno });
        expect(session.summary.decisions).toMatchObject([
          { action: "deny", call: "openat", reason: "not this one", count: 1 },
        ]);
      });

    it("denies EACCES when no errno is given", async () => {
      const { outcomes } = await decided([["mkdir", `s:${folder}/new`, 0o755]], {
        on: { mkdir: () => deny() },
      });
      expect(outcomes[0]!.errno).toBe("EACCES");
    });

    it("kills the process that made the call, and nothing else", async () => {
      const policy = definePolicy({ name: "test", on: { mkdir: () => kill("no folders") } });
      const session = await run({
        command: ["sh", "-c", `mkdir ${folder}/x; exit 7`],
        policy,
        door,
        stdio: [0, 1, 1],
      });
      expect(session.exitCode).toBe(7);
      expect(session.summary.byAction.kill).toBe(1);
    });

    it("ends the session with 128+9 when the program itself is killed", async () => {
      const policy = definePolicy({ name: "test", on: { uname: () => kill() } });
      const session = await run({ command: ["uname"], policy, door });
      expect(session).toMatchObject({ exitCode: 137, signal: "SIGKILL" });
    });

    it("emulates a result and the bytes of an out buffer", async () => {
      const { outcomes } = await decided([["uname", "o:390"], ["getppid"]], {
        actions: ["emulate"],
        on: { uname: () => emulate(0, utsname({ nodename: "build" })), getppid: () => emulate(4242) },
      });
      expect(outcomes[0]!.outs[0]!.subarray(65, 71).toString()).toBe("build\0");
      expect(outcomes[1]!.result).toBe(4242);
    });

    it("emulates reads into plain buffers and across iovecs", async () => {
      const calls: Call[] = [
        ["read", 0, "o:8", 8],
        ["readv", 0, "wo:3,5", 2],
      ];
      const { outcomes } = await decided(calls, {
        actions: ["emulate"],
        on: {
          read: (e) => (e.args.fd === 0 ? emulate(5, "made\n") : undefined),
          readv: () => emulate(6, "abcdef"),
        },
      });
      expect(outcomes[0]).toMatchObject({ result: 5 });
      expect(outcomes[0]!.outs[0]!.toString()).toBe("made\n\0\0\0");
      expect(outcomes[1]!.outs.map(String)).toEqual(["abc", "def\0\0"]);
    });

    it("refuses to emulate more bytes than the program has room for", async () => {
      const { outcomes, session } = await decided([["read", 0, "o:4", 4]], {
        actions: ["emulate"],
        on: { read: (e) => (e.args.fd === 0 ? emulate(9, "nine long") : undefined) },
      });
      expect(outcomes[0]!.errno).toBe("EACCES");
      expect(session.problems[0]).toMatch(/9 bytes do not fit into argument buf of read/);
    });

    it("injects an errno, a signal, and a delay", async () => {
      const { outcomes } = await decided([["mkdir", `s:${folder}/a`, 0o755]], {
        on: { mkdir: () => fault({ errno: "EIO" }) },
      });
      expect(outcomes[0]!.errno).toBe("EIO");

      const signalled = definePolicy({ name: "test", on: { uname: () => fault({ signal: "SIGTERM" }) } });
      expect(await run({ command: ["uname"], policy: signalled, door })).toMatchObject({
        exitCode: 143,
        signal: "SIGTERM",
      });

      const slow = await decided([["clock_gettime", 1, "o:16"], ["getppid"], ["clock_gettime", 1, "o:16"]], {
        on: { getppid: () => fault({ delay: 250 }) },
      });
      const at = (i: number) =>
        Number(slow.outcomes[i]!.outs[0]!.readBigInt64LE(0)) +
        Number(slow.outcomes[i]!.outs[0]!.readBigInt64LE(8)) / 1e9;
      expect(at(2) - at(0)).toBeGreaterThanOrEqual(0.25);
      expect(slow.outcomes[1]!.result).toBeGreaterThan(1);
    });

    it("holds only the thread that is delayed", async () => {
      const policy = definePolicy({ name: "test", on: { mkdir: () => fault({ delay: 1500 }) } });
      const script = `mkdir ${folder}/slow & sleep 0.1; test ! -d ${folder}/slow && echo before > ${folder}/order; wait; test -d ${folder}/slow`;
      expect((await run({ command: ["sh", "-c", script], policy, door })).exitCode).toBe(0);
      expect(readFileSync(join(folder, "order"), "utf8")).toBe("before\n");
    });

    it("shows the canonical path and keeps the requested one", async () => {
      const seen: [string | undefined, string | undefined][] = [];
      const note = (e: CallEvent) => void seen.push([e.requested, e.path]);
      const calls: Call[] = [
        ["openat", AT_FDCWD, `s:${folder}/sub/../link`, 0],
        ["chdir", `s:${folder}/sub`],
        ["openat", AT_FDCWD, "s:../plain", 0],
        ["openat", AT_FDCWD, "s:new", 0o101, 0o600],
        ["lstat", `s:${folder}/link`, "o:144"],
        ["openat", AT_FDCWD, `s:/proc/self/root${folder}/plain`, 0],
      ];
      await decided(calls, {
        actions: ["deny"],
        on: {
          chdir: note,
          lstat: note,
          openat: (e) =>
            e.requested!.includes("/lib/") || e.requested!.includes("/etc/") ? undefined : note(e),
        },
      });
      expect(seen).toEqual([
        [`${folder}/sub/../link`, secret],
        [`${folder}/sub`, `${folder}/sub`],
        ["../plain", `${folder}/plain`],
        ["new", `${folder}/sub/new`],
        [`${folder}/link`, `${folder}/link`],
        [`/proc/self/root${folder}/plain`, `${folder}/plain`],
      ]);
    });

    it("names what a path reaches after a chroot, and `..` does not lead out of it", async () => {
      const seen: (string | undefined)[] = [];
      const NEW_USER = 0x1000_0000;
      const calls: Call[] = [
        ["unshare", NEW_USER], // an ordinary user may chroot in a user namespace of its own
        ["chroot", `s:${folder}`],
        ["openat", AT_FDCWD, "s:/plain", 0],
        ["openat", AT_FDCWD, "s:/../../plain", 0],
        ["openat", AT_FDCWD, "s:/sub/../plain", 0],
      ];
      const { outcomes } = await decided(calls, {
        actions: ["deny"],
        on: {
          openat(e) {
            if (e.requested?.endsWith("plain")) seen.push(e.path);
          },
        },
      });
      expect(outcomes.map((o) => o.errno)).toEqual(calls.map(() => undefined));
      expect(seen).toEqual(Array(3).fill(`${folder}/plain`));
    });

    it("decides connects by their real address", async () => {
      const calls: Call[] = [
        ["socket", 2, 1, 0],
        ["connect", "r:0", address([127, 0, 0, 1], port), 16],
        ["socket", 2, 1, 0],
        ["connect", "r:2", address([127, 9, 9, 9], port), 16],
      ];
      const { outcomes } = await decided(calls, {
        on: {
          connect: (e) =>
            e.address?.family === "ipv4" && e.address.host.startsWith("127.9.")
              ? deny("subnet", "ENETUNREACH")
              : undefined,
        },
      });
      expect(outcomes[1]).toMatchObject({ result: 0 });
      expect(outcomes[3]).toMatchObject({ result: -1, errno: "ENETUNREACH" });
    });

    it("gives the kernel's own EFAULT for a path that cannot be read, without asking the policy", async () => {
      const asked: string[] = [];
      const calls: Call[] = [
        ["openat", AT_FDCWD, "bad", 0],
        ["mkdir", "bad", 0],
        ["openat", AT_FDCWD, 0, 0],
        ["connect", 99, "bad", 16],
      ];
      const { outcomes } = await decided(calls, {
        actions: ["deny"],
        on: { openat: (e) => void asked.push(e.requested ?? "NULL"), mkdir: () => deny(), connect() {} },
      });
      expect(outcomes.slice(0, 3).map((o) => o.errno)).toEqual(["EFAULT", "EFAULT", "EFAULT"]);
      expect(asked.filter((path) => !path.startsWith("/"))).toEqual(["NULL"]);
    });

    it("reads paths that end at the end of mapped memory, and of every length up to the limit", async () => {
      const long = `/${"a/".repeat(2046)}`;
      const calls: Call[] = [
        ["openat", AT_FDCWD, `edge:${secret}`, 0],
        ["openat", AT_FDCWD, `edge:${long}aa`, 0], // 4095 bytes: the longest there is
        ["openat", AT_FDCWD, `edge:${long}aaa`, 0], // 4096: ENAMETOOLONG
      ];
      const bare = makeBare(calls);
      const lengths: number[] = [];
      const { outcomes } = await decided(calls, {
        actions: ["deny"],
        on: { openat: (e) => void lengths.push(e.requested!.length) },
      });
      expect(outcomes.map((o) => o.errno)).toEqual(bare.map((o) => o.errno));
      expect(outcomes[2]!.errno).toBe("ENAMETOOLONG");
      expect(lengths).toContain(4095);
      expect(lengths).not.toContain(4096);
    });

    it("passes paths of any bytes, unharmed and told apart", async () => {
      const raw = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff, 0xfe, 0xc3, 0x28])]);
      const seen: string[] = [];
      const { outcomes } = await decided([["openat", AT_FDCWD, `x:${raw.toString("hex")}00`, 0o101, 0o600]], {
        actions: ["deny"],
        on: { openat: (e) => void seen.push(e.path!) },
      });
      expect(outcomes[0]!.result).toBeGreaterThan(0);
      expect(seen.at(-1)).toBe(`${folder}/\udcff\udcfe\udcc3(`);
    });

    it("shows argv, environment, flags, descriptors and data", async () => {
      const seen: Record<string, unknown> = {};
      const calls: Call[] = [
        ["openat", AT_FDCWD, `s:${folder}/made`, 0o102, 0o640],
        ["write", "r:0", "s:some data", 9],
        ["writev", "r:0", "w:6162,6364", 2],
        ["execve", "s:/nonexistent/tool", "v:tool,-x,two", "v:A=1,B=2"],
      ];
      await decided(calls, {
        actions: ["deny"],
        on: {
          openat(e) {
            if (e.path?.endsWith("/made")) seen.flags = [...e.flags];
          },
          write(e) {
            if (e.fd?.target?.endsWith("/made")) seen.write = [e.fd.kind, e.data?.toString(), e.args.count];
          },
          writev(e) {
            seen.writev = e.data?.toString();
          },
          execve(e) {
            if (e.path === "/nonexistent/tool") Object.assign(seen, { argv: e.argv, env: e.env });
          },
        },
      });
      expect(seen).toEqual({
        flags: ["O_RDWR", "O_CREAT"],
        write: ["file", "some data", 9],
        writev: "abcd",
        argv: ["tool", "-x", "two"],
        env: ["A=1", "B=2"],
      });
    });

    it("knows who calls: pid, parents, program, arguments, folder, user, threads, descriptors, maps", async () => {
      const seen: Record<string, unknown>[] = [];
      const policy = definePolicy({
        name: "test",
        actions: ["deny"],
        on: {
          uname(e) {
            const { pid, parent, exe, argv, cwd, uid, gid, startTime, threads, fds, maps } = e.process;
            seen.push({
              pid: pid === e.tid,
              parent: parent?.exe,
              exe,
              argv,
              cwd,
              uid,
              gid,
              started: startTime > 0,
              threads: threads.length,
              fds: fds.length >= 3,
              mapped: maps.some((m) => m.path === exe && m.permissions.includes("x")),
            });
          },
        },
      });
      await run({ command: ["/bin/sh", "-c", "cd /usr; uname -r >/dev/null; true"], policy, door });
      expect(seen).toEqual([
        {
          pid: true,
          parent: "/usr/bin/dash",
          exe: "/usr/bin/uname",
          argv: ["uname", "-r"],
          cwd: "/usr",
          uid: process.getuid!(),
          gid: process.getgid!(),
          started: true,
          threads: 1,
          fds: true,
          mapped: true,
        },
      ]);
    });

    it("refuses io_uring while anybody watches what it could do unseen, and only then", async () => {
      const calls: Call[] = [["io_uring_setup", 1, "o:120"]];
      const watching = await decided(calls, { actions: ["deny"], on: { openat() {} } });
      expect(watching.outcomes[0]!.errno).toBe("ENOSYS");
      expect(watching.session.protections.ioUring).toBe("refused");
      const other = definePolicy({ name: "other", actions: ["deny"], on: { uname() {} } });
      const wishes = { stack: new PolicyStack([other]), recorded: [], door, live: [] };
      expect(planDoors(wishes).refusesIoUring).toBe(false);
    });

    it("denies a call whose policy throws, and says where", async () => {
      const { outcomes, session } = await decided([["mkdir", `s:${folder}/b`, 0o755], ["getppid"]], {
        on: {
          mkdir() {
            throw new TypeError("oops");
          },
        },
      });
      expect(outcomes[0]!.errno).toBe("EACCES");
      expect(outcomes[1]!.result).toBeGreaterThan(1);
      expect(session.problems).toEqual([
        expect.stringMatching(/policy test failed on mkdir .*: TypeError: oops/),
      ]);
    });

    it("denies a call whose policy answers nonsense or a promise", async () => {
      const nonsense = await decided([["getppid"]], { on: { getppid: (() => "ALLOW") as never } });
      expect(nonsense.outcomes[0]!.errno).toBe("EACCES");
      expect(nonsense.session.problems[0]).toMatch(/not a verdict/);
      const promise = await decided([["getppid"]], { on: { getppid: (async () => allow()) as never } });
      expect(promise.outcomes[0]!.errno).toBe("EACCES");
      expect(promise.session.problems[0]).toMatch(/no async handlers/);
    });

    it("refuses what would need a person when no approver can be reached", async () => {
      const { outcomes, session } = await decided([["getppid"]], {
        on: { getppid: () => ({ action: "ask", reason: "may it?" }) },
      });
      expect(outcomes[0]!.errno).toBe("EACCES");
      expect(session.summary.decisions[0]).toMatchObject({
        action: "deny",
        reason: expect.stringMatching(/no approver is connected .*: may it\?/),
      });
    });

    it("asks every policy and takes the strictest answer", async () => {
      const loose = definePolicy({ name: "loose", on: { getppid: () => allow() } });
      const strict = definePolicy({ name: "strict", on: { getppid: () => deny("no", "EPERM") } });
      for (const policies of [
        [loose, strict],
        [strict, loose],
      ]) {
        const { outcomes, session } = await makeCalls([["getppid"]], policies, { door });
        expect(outcomes[0]!.errno).toBe("EPERM");
        expect(session.summary.decisions[0]).toMatchObject({ policy: "strict" });
      }
    });

    it("denies when two policies would change one call in different ways", async () => {
      const one = definePolicy({ name: "one", actions: ["emulate"], on: { getppid: () => emulate(1) } });
      const two = definePolicy({ name: "two", actions: ["emulate"], on: { getppid: () => emulate(2) } });
      const { outcomes, session } = await makeCalls([["getppid"]], [one, two], { door });
      expect(outcomes[0]!.errno).toBe("EACCES");
      expect(session.problems[0]).toMatch(/policies one and two both change getppid/);
      const same = await makeCalls([["getppid"]], [one, definePolicy({ ...one.spec, name: "same" })], {
        door,
      });
      expect(same.outcomes[0]!.result).toBe(1);
    });
  });
}
