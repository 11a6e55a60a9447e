import { describe, expect, test } from "vitest";
import { type SyscallName, syscallByName } from "../../../src/abi/index.js";
import type { ReceiverKind } from "../../../src/nouns/event.js";
import { RecordedCall } from "../../../src/offline/simulate/recorded-call.js";
import { constantTestHolds } from "../../../src/policy/constant-test.js";
import { madeUpEvent } from "../../../src/policy/yaml/example-event.js";
import { errorOf, load, rules } from "./policies.js";

type Loaded = Awaited<ReturnType<typeof rules>>;

/** What the policy says of a call with these registers: the filter says it, or the rules do. */
const decided = (policy: Loaded, name: SyscallName, args: Record<string, bigint>): string => {
  const call = syscallByName(name);
  const event = madeUpEvent({ call, args });
  const fixed = policy.subscription.constants.find(
    ({ nr, tests }) =>
      nr === call.nr && tests.every((one) => constantTestHolds(one, event.argument(one.arg))),
  );
  return fixed ? `filter ${fixed.id}` : (policy.decide(event)?.rule ?? "none");
};

describe("bits of an argument", () => {
  const W_X = "deny: [mmap, mprotect, pkey_mprotect], where: { prot: { all: [PROT_WRITE, PROT_EXEC] } }";

  test("W^X is decided by the filter, and stops nothing", async () => {
    const policy = await rules(W_X);
    expect(policy.subscription.calls.size).toBe(0);
    for (const name of ["mmap", "mprotect", "pkey_mprotect"] as const) {
      expect(decided(policy, name, { prot: 7n })).toBe("filter r1");
      expect(decided(policy, name, { prot: 6n })).toBe("filter r1");
      expect(decided(policy, name, { prot: 0x100000006n })).toBe("filter r1");
      for (const prot of [0n, 1n, 3n, 5n, 4n, 2n]) expect(decided(policy, name, { prot })).toBe("none");
    }
  });

  test("any and none, of flags and of numbers, in the filter", async () => {
    const policy = await rules("deny: openat, where: { flags: { any: [O_CREAT, O_TRUNC], none: [0x400] } }");
    expect(policy.subscription.calls.size).toBe(0);
    expect(decided(policy, "openat", { flags: 0x41n })).toBe("filter r1");
    expect(decided(policy, "openat", { flags: 0x201n })).toBe("filter r1");
    expect(decided(policy, "openat", { flags: 0x441n })).toBe("none");
    expect(decided(policy, "openat", { flags: 1n })).toBe("none");
  });

  test("flags of several bits are there only whole", async () => {
    const policy = await rules("deny: openat, where: { flags: { none: [O_SYNC] } }");
    expect(decided(policy, "openat", { flags: 0x101000n })).toBe("none");
    expect(decided(policy, "openat", { flags: 0x1000n })).toBe("filter r1");
  });

  test("a rule on the flags of open is not passed by openat2", async () => {
    const policy = await rules("deny: [open, openat, openat2], where: { flags: { all: [O_CREAT] } }");
    const call = syscallByName("openat2");
    expect(policy.decide(madeUpEvent({ call, flags: 0x41 }))?.rule).toBe("r1");
    expect(policy.decide(madeUpEvent({ call, flags: 1 }))?.rule).toBeUndefined();
  });

  test("what is no bit is an error", async () => {
    const wrong = (where: string) => errorOf(`name: x\nrules:\n  - { id: r, deny: mmap, where: ${where} }\n`);
    expect(await wrong("{ prot: { all: [PROT_EXECUTE] } }")).toContain('prot has no bit "PROT_EXECUTE"');
    expect(await wrong("{ prot: { all: [PROT_NONE] } }")).toContain("PROT_NONE is no bit of prot");
    expect(await wrong("{ prot: {} }")).toContain("names no bits");
    expect(await wrong("{ prot: { every: [PROT_EXEC] } }")).toContain("unknown key `every`");
  });
});

describe("none of", () => {
  test("a list of negations is none of them, in the filter", async () => {
    const policy = await rules('deny: socket, where: { family: ["!= AF_UNIX", "!= AF_INET"] }');
    expect(policy.subscription.calls.size).toBe(0);
    expect(decided(policy, "socket", { family: 1n })).toBe("none");
    expect(decided(policy, "socket", { family: 2n })).toBe("none");
    expect(decided(policy, "socket", { family: 10n })).toBe("filter r1");
  });

  test("beside values they are exceptions, and `!X` is the same", async () => {
    const policy = await rules('deny: socket, where: { family: ["> AF_UNIX", "!AF_INET"] }');
    expect([1n, 2n, 3n].map((family) => decided(policy, "socket", { family }))).toEqual([
      "none",
      "none",
      "filter r1",
    ]);
  });

  test("of signed numbers and of ranges too", async () => {
    const policy = await rules('deny: kill, where: { pid: ["-10..10", "!0", "!-1"] }');
    expect(policy.subscription.calls.size).toBe(0);
    const seen = [-11n, -10n, -1n, 0n, 1n, 11n].map((pid) => decided(policy, "kill", { pid }));
    expect(seen).toEqual(["none", "filter r1", "none", "none", "filter r1", "none"]);
  });

  test("of texts likewise", async () => {
    const policy = await rules('deny: mount, where: { type: ["!tmpfs", "!proc*"] }');
    const call = syscallByName("mount");
    const of = (type: string) =>
      policy.decide(madeUpEvent({ call, paths: ["/a", "/b"], args: { type } }))?.rule;
    expect([of("tmpfs"), of("proc"), of("ext4")]).toEqual([undefined, undefined, "r1"]);
  });
});

describe("a socket's family and type, apart", () => {
  test("SOCK_NONBLOCK and SOCK_CLOEXEC beside the type do not count", async () => {
    const policy = await rules("deny: socket, family: [inet, AF_INET6], type: [raw]");
    expect(policy.subscription.calls.size).toBe(0);
    expect(decided(policy, "socket", { family: 2n, type: 3n })).toBe("filter r1");
    expect(decided(policy, "socket", { family: 10n, type: 3n | 0x80800n })).toBe("filter r1");
    expect(decided(policy, "socket", { family: 1n, type: 3n })).toBe("none");
    expect(decided(policy, "socket", { family: 2n, type: 1n })).toBe("none");
  });

  test("a name of the type in `where` is compared in the same way", async () => {
    const policy = await rules("deny: socket, where: { type: SOCK_DGRAM }");
    expect(decided(policy, "socket", { type: 2n | 0x80000n })).toBe("filter r1");
    expect(decided(policy, "socket", { type: 1n })).toBe("none");
  });

  test("AF_PACKET by its old name is AF_PACKET", async () => {
    const policy = await rules("deny: socket, family: packet");
    expect(decided(policy, "socket", { family: 17n, type: 3n })).toBe("filter r1");
    expect(decided(policy, "socket", { family: 2n, type: 10n })).toBe("filter r1");
    expect(decided(policy, "socket", { family: 2n, type: 1n })).toBe("none");
  });

  test("exceptions: all but unix, all but streams", async () => {
    const policy = await rules('deny: socket, family: "!unix"', 'deny: socket, type: "!stream"');
    expect(policy.subscription.calls.size).toBe(0);
    expect(decided(policy, "socket", { family: 1n, type: 1n | 0x800n })).toBe("none");
    expect(decided(policy, "socket", { family: 1n, type: 2n })).toBe("filter r2");
    expect(decided(policy, "socket", { family: 2n, type: 1n })).toBe("filter r1");
  });

  test("only sockets have them", async () =>
    expect(await errorOf("name: x\nrules:\n  - { id: r, deny: openat, family: inet }\n")).toContain(
      "only socket and socketpair have a family and a type",
    ));
});

describe("whom a signal reaches", () => {
  const kill = (policy: Loaded, reaches: ReceiverKind[][], sig = 15n) =>
    policy.decide(
      madeUpEvent({
        call: syscallByName("kill"),
        args: { pid: 7n, sig },
        receivers: reaches.map((is) => ({ pid: 7, is })),
      }),
    )?.rule ?? "none";

  test("each receiver is judged, and the strictest holds", async () => {
    const policy = await rules("allow: signal, target: session", "deny: signal");
    expect(kill(policy, [["session"]])).toBe("r1");
    expect(kill(policy, [["session"], ["own", "session"]])).toBe("r1");
    expect(kill(policy, [["session"], ["outside"]])).toBe("r2");
  });

  test("a receiver that cannot be found is met by what restricts, and by no permission", async () => {
    const policy = await rules("allow: signal, target: [session, parent]", "deny: signal, target: outside");
    expect(kill(policy, [[]])).toBe("r2");
    expect(kill(policy, [])).toBe("r2");
    expect(kill(policy, [["outside", "parent"]])).toBe("r1");
  });

  test("exceptions and signals", async () => {
    const policy = await rules('deny: signal, target: [outside, "!parent"], signal: [SIGKILL, STOP]');
    expect(kill(policy, [["outside"]], 9n)).toBe("r1");
    expect(kill(policy, [["outside"]], 19n)).toBe("r1");
    expect(kill(policy, [["outside"]], 15n)).toBe("none");
    expect(kill(policy, [["outside", "parent"]], 9n)).toBe("none");
  });

  test("F_SETOWN signals too, with a signal that another call chooses", async () => {
    const policy = await rules("deny: signal, target: outside, signal: SIGKILL");
    const call = syscallByName("fcntl");
    const own = (cmd: bigint, arg: bigint) =>
      policy.decide(madeUpEvent({ call, args: { cmd, arg }, receivers: [{ pid: 7, is: ["outside"] }] }))
        ?.rule;
    expect([own(8n, 7n), own(8n, 0n), own(4n, 7n), own(8n, 1000n)]).toEqual(["r1", ...Array(3)]);
    expect(policy.subscription.calls.get(call.nr)!.when).toHaveLength(1);
  });

  test("a signal by its name alone is decided by the filter", async () => {
    const policy = await rules("deny: kill, signal: SIGKILL", 'deny: tgkill, where: { sig: ["SIGSTOP"] }');
    expect(policy.subscription.calls.size).toBe(0);
    expect(decided(policy, "kill", { sig: 9n })).toBe("filter r1");
    expect(decided(policy, "tgkill", { sig: 19n })).toBe("filter r2");
  });

  test("a recorded signal is judged by whom it reached", async () => {
    const policy = await rules("deny: signal, target: outside, signal: SIGKILL");
    const record = (is: ReceiverKind[], sig: string) =>
      new RecordedCall({ name: "kill", args: { pid: 7, sig }, receivers: [{ pid: 7, is }] });
    expect(policy.decide(record(["outside"], "SIGKILL"))?.rule).toBe("r1");
    expect(policy.decide(record(["session"], "SIGKILL"))?.rule).toBeUndefined();
    expect(policy.decide(record(["outside"], "SIGTERM"))?.rule).toBeUndefined();
  });

  test("examples say it, and are checked", async () => {
    const policy = (examples: string) =>
      `name: x\nrules:\n  - id: r\n    deny: signal\n    target: outside\n    signal: SIGKILL\n    examples: ${examples}\n`;
    await load(
      policy(
        "{ match: [{ signal: SIGKILL, target: outside }], not_match: [{ signal: SIGTERM, target: outside }, { signal: SIGKILL, target: session }] }",
      ),
    );
    expect(await errorOf(policy("{ match: [{ signal: SIGKILL, target: session }] }"))).toContain(
      "target: it reaches a process (session)",
    );
  });

  test("words that are no target, and calls that send no signal, are errors", async () => {
    const wrong = (rule: string) => errorOf(`name: x\nrules:\n  - { id: r, ${rule} }\n`);
    expect(await wrong("deny: signal, target: others")).toContain('unknown target "others"');
    expect(await wrong("deny: openat, target: outside")).toContain("no process or shared object as target");
    expect(await wrong("deny: openat, signal: SIGKILL")).toContain("send no signal");
  });
});

describe("whom other calls reach", () => {
  const decide = (policy: Loaded, name: string, args: Record<string, bigint>, own: boolean) =>
    policy.decide(madeUpEvent({ call: syscallByName(name)!, args, own }))?.rule;

  test.each([
    ["ptrace", "ptrace", { request: 16n, pid: 7n }],
    ["ptrace", "process_vm_readv", { pid: 7n }],
    ["ptrace", "pidfd_getfd", {}],
    ["limit", "prlimit64", { pid: 7n, new_rlim: 1n }],
    ["limit", "setpriority", { which: 0n, who: 7n }],
    ["share", "shmat", { shmid: 7n }],
    ["share", "msgget", { key: 7n }],
  ] as const)("%s: %s", async (effect, call, args) => {
    const policy = await rules(`deny: ${effect}, target: outside`);
    expect(decide(policy, call, args, false)).toBe("r1");
    expect(decide(policy, call, args, true)).toBeUndefined();
    const inward = await rules(`deny: ${effect}, target: session`);
    expect(decide(inward, call, args, false)).toBeUndefined();
    expect(decide(inward, call, args, true)).toBe("r1");
  });

  test("setpriority of a user is about other processes, for every caller", async () => {
    const policy = await rules("deny: setpriority, target: outside");
    expect(decide(policy, "setpriority", { which: 2n, who: 0n }, true)).toBe("r1");
  });

  test("the caller itself is own", async () => {
    const policy = await rules("deny: prlimit64, target: own");
    expect(decide(policy, "prlimit64", { pid: 0n }, false)).toBe("r1");
    expect(decide(policy, "prlimit64", { pid: 7n }, true)).toBeUndefined();
  });

  test("one rule speaks of signals and of the rest", async () => {
    const policy = await rules("deny: [signal, ptrace], target: outside");
    expect(decide(policy, "process_vm_readv", { pid: 7n }, false)).toBe("r1");
    const signal = (is: ReceiverKind[]) =>
      policy.decide(
        madeUpEvent({ call: syscallByName("kill"), args: { pid: 7n, sig: 9n }, receivers: [{ pid: 7, is }] }),
      )?.rule;
    expect([signal(["outside"]), signal(["session"])]).toEqual(["r1", undefined]);
  });

  test("what is known of signals alone is an error elsewhere", async () => {
    const wrong = (rule: string) => errorOf(`name: x\nrules:\n  - { id: r, ${rule} }\n`);
    expect(await wrong('deny: [signal, ptrace], target: [outside, "!parent"]')).toContain(
      "`parent` is known for signals only",
    );
  });

  test("`whom` is an error that names `target`", async () => {
    expect(await errorOf("name: x\nrules:\n  - { id: r, deny: ptrace, whom: other }\n")).toContain(
      "there is no key `whom`: use `target` instead: `target: outside` for `whom: other`",
    );
  });
});

describe("policy check", () => {
  const found = async (rule: string) =>
    (await rules(rule)).lint().map((line) => line.replace(/^.*rule r1: /, ""));

  test.each([
    [
      'deny: socket, where: { family: ["> 5", "!6..0xffffffff"] }',
      "it can never match: its `where` can never hold",
    ],
    [
      "deny: mmap, where: { prot: { all: [PROT_EXEC], none: [PROT_EXEC] } }",
      "it can never match: its `where` can never hold",
    ],
    ['deny: write(), where: { fd: "> 4294967296" }', "it can never match: its `where` can never hold"],
    ['deny: write(), where: { count: ">= 0" }', "its `where` always holds; leave it out if you mean that"],
    [
      "deny: openat, flags: { all: [O_CREAT], none: [O_CREAT] }",
      "it can never match: its `flags` can never hold",
    ],
    ['deny: kill, signal: [SIGKILL, "!SIGKILL"]', "it can never match: its `signal` can never hold"],
    [
      'deny: read, path: ["/a/b/**", "!/a/**"]',
      "it can never match: the exceptions of its `path` exclude everything that it names",
    ],
    [
      'deny: connect, address: ["10.0.0.1", "!10.0.0.1"]',
      "it can never match: the exceptions of its `address` exclude everything that it names",
    ],
    [
      "deny: signal, target: own",
      "it can never match: the effect `signal` covers other processes only; name the calls (kill …) for signals to the caller itself",
    ],
    [
      "fault: unlink, errno: EIO",
      "unlink is one call of several that delete covers; write unlink() if you mean it alone",
    ],
  ])("%s", async (rule, text) => expect(await found(rule)).toContain(text));

  test("says nothing of rules that make sense", async () => {
    for (const rule of [
      'deny: socket, where: { family: ["!= AF_UNIX", "!= AF_INET"] }',
      "deny: [mmap, mprotect], where: { prot: { all: [PROT_WRITE, PROT_EXEC] } }",
      "deny: socket, family: packet, type: raw",
      'deny: signal, target: [outside, "!parent"]',
      "fault: [unlink(), fsync, getrandom], errno: EIO",
      "deny: unlink",
    ])
      expect(await found(rule), rule).toEqual([]);
  });
});
