import { describe, expect, test } from "vitest";
import { syscallByName, syscallByNumber } from "../../../src/abi/index.js";
import { notifyDoor } from "../../../src/kernel/doors/notify.js";
import { event, load, ruleOf, rules } from "./policies.js";

type Loaded = Awaited<ReturnType<typeof rules>>;
const names = ({ subscription }: Loaded) =>
  [...subscription.calls.keys()].map((nr) => syscallByNumber(nr)!.name).sort();
/** The calls that the notify door cannot serve. */
const traced = ({ subscription }: Loaded) =>
  [...subscription.calls]
    .filter(
      ([nr, { actions }]) => ![...actions].every((action) => notifyDoor.can(syscallByNumber(nr)!, action)),
    )
    .map(([nr]) => syscallByNumber(nr)!.name)
    .sort();

describe("a policy sees no more than it speaks of", () => {
  test("connect is four calls, and what leads packets elsewhere: some options and some sockets", async () => {
    const policy = await rules("deny: connect, address: 10.0.0.0/8");
    const rare = ["getsockopt", "setsockopt", "socket"];
    expect(names(policy)).toEqual(["connect", ...rare, "sendmmsg", "sendmsg", "sendto"].sort());
    for (const name of rare)
      expect(policy.subscription.calls.get(syscallByName(name)!.nr)!.when, name).toBeDefined();
  });

  test("exec is two, and an old one", async () =>
    expect(names(await rules("deny: exec, argv: [x]"))).toEqual(["execve", "execveat", "uselib"]));

  test("a program that is not to run is not to be mapped or renamed either, and only maps of code stop", async () => {
    const policy = await rules("deny: exec, path: /x");
    expect(names(policy)).toEqual(expect.arrayContaining(["execve", "mmap", "mprotect", "rename", "linkat"]));
    const { when } = policy.subscription.calls.get(syscallByName("mmap")!.nr)!;
    expect(when).toEqual([[{ arg: 2, width: 64, op: "masked", mask: 4n, value: 4n }]]);
    expect(names(await rules("deny: exec"))).not.toContain("rename");
  });

  test("reading is not writing", async () => {
    const seen = names(await rules("deny: read, path: /x"));
    expect(seen).toContain("openat2");
    expect(seen).not.toContain("unlink");
    expect(seen).not.toContain("read");
  });

  test("a virtual file concerns only the calls that open", async () =>
    expect(names(await rules("emulate: read, path: /x, content: y"))).toEqual(["open", "openat", "openat2"]));

  test("default: deny does not stop at every call", async () => {
    const policy = await load("name: x\ndefault: deny");
    expect(policy.subscription.calls.size).toBeLessThan(120);
    for (const name of ["read", "write", "mmap", "fstat", "newfstatat", "futex", "clone"])
      expect(names(policy)).not.toContain(name);
  });
});

describe("the cheapest door", () => {
  test("is enough for refusing, asking, killing and watching", async () => {
    const lines = ["deny: [read, write, connect]", "ask: exec, reason: x", "kill: ptrace", "watch: bind"];
    expect(traced(await rules(...lines))).toEqual([]);
  });

  test("is left by the calls that are changed, and no others", async () => {
    const lines = ["redirect: connect, address: 10.0.0.1, to: 127.0.0.1:1", "deny: read, path: /x"];
    expect(traced(await rules(...lines))).toEqual(["connect", "sendmmsg", "sendmsg", "sendto"]);
  });
});

describe("what the kernel decides alone", () => {
  const constants = async (...lines: string[]) => (await rules(...lines)).subscription;

  test("a refusal of a call on constants never stops the program", async () => {
    const { calls, constants: found } = await constants(
      "deny: socket, where: { family: AF_PACKET }, errno: EAFNOSUPPORT, reason: no",
    );
    expect(calls.size).toBe(0);
    expect(found).toEqual([
      {
        id: "r1",
        nr: syscallByName("socket").nr,
        tests: [{ arg: 0, width: 32, op: "eq", value: 17n }],
        action: "deny",
        errno: 97,
        reason: "no",
      },
    ]);
  });

  test("flags become masks", async () => {
    const { constants: found } = await constants(
      "kill: mprotect, flags: { all: [PROT_EXEC], none: [PROT_READ] }",
    );
    expect(found[0]!.tests).toEqual([
      { arg: 2, width: 64, op: "masked", mask: 4n, value: 4n },
      { arg: 2, width: 64, op: "masked", mask: 1n, value: 0n },
    ]);
  });

  test("a class is as many rules as calls", async () =>
    expect((await constants("deny: keyring")).constants).toHaveLength(3));

  test("an exception before it keeps it out of the filter", async () => {
    const { calls, constants: found } = await constants("allow: socket, user: root", "deny: socket");
    expect(found).toEqual([]);
    expect(calls.size).toBe(1);
  });

  test("what follows an unconditional refusal need not be seen by it", async () => {
    const { constants: found, calls } = await constants("deny: ptrace()", "deny: ptrace(), user: root");
    expect(found).toHaveLength(1);
    expect(calls.size).toBe(1);
  });

  test("kill and deny of one call are not put out of order", async () => {
    const { constants: found } = await constants("deny: socket, where: { family: AF_INET }", "kill: socket");
    expect(found.map(({ action }) => action)).toEqual(["deny"]);
  });

  test("a rule on an effect stays where it is recorded", async () =>
    expect((await constants("deny: ptrace")).constants).toEqual([]));

  test("a comparison with a sign is made with it", async () =>
    expect((await constants("deny: kill(), where: { pid: '< 0' }")).constants).toMatchObject([
      { tests: [{ arg: 0, width: 32, op: "lt", value: 0n, signed: true }] },
    ]));

  test("openat2's flags lie in memory and stay out of the filter", async () =>
    expect((await constants("deny: openat2, flags: O_CREAT")).constants).toEqual([]));

  test("it is decided alike where there is no kernel", async () =>
    expect(
      ruleOf(
        await rules("deny: socket, where: { family: AF_PACKET }"),
        event("socket", { args: { family: 17n } }),
      ),
    ).toBe("r1"));
});
