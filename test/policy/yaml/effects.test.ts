import { describe, expect, test } from "vitest";
import { CLASSES, SYSCALLS, type SyscallName } from "../../../src/abi/index.js";
import { CALL_EFFECTS, callEffects } from "../../../src/policy/call-effects.js";
import { DEFAULT_COVERS, EFFECTS } from "../../../src/policy/effects.js";
import { event, open, ruleOf, rules } from "./policies.js";

describe("the table of effects", () => {
  const without = new Set(["getsockname", "getpeername"]);
  test("knows every call that takes a path or an address", () => {
    const missing = SYSCALLS.filter(
      ({ nr, name, args }) =>
        !without.has(name) &&
        args.some(
          ({ kind, direction = "in" }) => kind === "path" || (kind === "sockaddr" && direction === "in"),
        ) &&
        callEffects(nr).length === 0,
    );
    expect(missing.map(({ name }) => name)).toEqual([]);
  });

  test("names arguments that the calls have", () => {
    for (const { call, on } of CALL_EFFECTS)
      if (on.kind === "path" || on.kind === "fd")
        expect(
          call.args.map(({ name }) => name),
          call.name,
        ).toContain(on.argument);
  });

  test("covers every path argument of every call", () => {
    const left = SYSCALLS.flatMap(({ nr, name, args }) =>
      args
        .filter(
          (a) =>
            a.kind === "path" &&
            !callEffects(nr).some(({ on }) => "argument" in on && on.argument === a.name),
        )
        .map((a) => `${name}.${a.name}`),
    );
    expect(left).toEqual([]);
  });

  test("has a row for every effect", () => {
    for (const effect of Object.keys(EFFECTS))
      expect(
        CALL_EFFECTS.some(({ does }) => (does as readonly string[]).includes(effect)),
        effect,
      ).toBe(true);
  });

  test("covers by default what touches files, addresses, programs and processes", () =>
    expect(DEFAULT_COVERS).toEqual([
      "read",
      "write",
      "exec",
      "connect",
      "bind",
      "mount",
      "signal",
      "ptrace",
    ]));

  test("lets an effect's name win over a class of the same name", () =>
    expect(
      Object.keys(CLASSES)
        .filter((name) => name in EFFECTS)
        .sort(),
    ).toEqual(
      [
        "accept",
        "bind",
        "connect",
        "create",
        "delete",
        "exec",
        "link",
        "mount",
        "namespace",
        "ptrace",
        "read",
        "rename",
        "signal",
        "stat",
        "write",
      ].sort(),
    ));
});

const at = (path: string, more = {}) => ({ paths: [path], ...more });
const SECRET = "/s/key";
const fd = (path: string) => ({ targets: { fd: path } });

describe("reading cannot be had by another call", () => {
  test.each<[string, ReturnType<typeof event>]>([
    ["open", event("open", at(SECRET, { flags: "O_RDONLY" }))],
    ["open O_RDWR", event("open", at(SECRET, { flags: "O_RDWR" }))],
    ["open with access mode 3", event("open", at(SECRET, { flags: 3 }))],
    ["openat", open(SECRET)],
    ["openat2", event("openat2", at(SECRET, { flags: "O_RDONLY" }))],
    ["openat O_DIRECTORY", open(SECRET, "O_DIRECTORY")],
    ["open_by_handle_at", event("open_by_handle_at", { flags: "O_RDONLY" })],
    ["rename", event("rename", { paths: [SECRET, "/t/x"] })],
    ["renameat2", event("renameat2", { paths: [SECRET, "/t/x"] })],
    [
      "renameat2 RENAME_EXCHANGE the other way",
      event("renameat2", { paths: ["/t/x", SECRET], flags: "RENAME_EXCHANGE" }),
    ],
    ["rename of a folder above", event("rename", { paths: ["/s", "/t"] })],
    ["link", event("link", { paths: [SECRET, "/t/x"] })],
    ["linkat", event("linkat", { paths: [SECRET, "/t/x"] })],
    ["bind mount of a folder above", event("mount", { paths: ["/s", "/mnt"], flags: "MS_BIND" })],
    ["open_tree that clones", event("open_tree", at("/s", { flags: "OPEN_TREE_CLONE" }))],
  ])("%s", async (_, call) => expect(ruleOf(await rules("deny: read, path: /s/key/**"), call)).toBe("r1"));

  test("an openat2 whose struct cannot be read counts as everything", async () => {
    const unreadable = { ...event("openat2", at(SECRET)), args: {} } as ReturnType<typeof event>;
    expect(ruleOf(await rules("deny: read, path: /s/**"), unreadable)).toBe("r1");
    expect(ruleOf(await rules("deny: write, path: /s/**"), unreadable)).toBe("r1");
  });

  test.each<[string, ReturnType<typeof event>]>([
    ["write-only open", open(SECRET, "O_WRONLY")],
    ["O_PATH", open(SECRET, "O_PATH")],
    ["stat", event("newfstatat", at(SECRET))],
    ["execve", event("execve", at(SECRET))],
    ["a rename of something else", event("rename", { paths: ["/s2", "/t"] })],
  ])("%s is no reading", async (_, call) =>
    expect(ruleOf(await rules("deny: read, path: /s/**"), call)).toBeUndefined(),
  );
});

describe("writing cannot be had by another call", () => {
  const calls: [string, ReturnType<typeof event>][] = [
    ["open O_WRONLY", open(SECRET, "O_WRONLY")],
    ["open O_RDONLY|O_CREAT", open(SECRET, "O_CREAT")],
    ["open O_RDONLY|O_TRUNC", open(SECRET, "O_TRUNC")],
    ["open O_TMPFILE in the folder", open("/s/dir", "O_TMPFILE|O_RDWR")],
    ["openat2", event("openat2", at(SECRET, { flags: "O_WRONLY" }))],
    ["creat", event("creat", at(SECRET))],
    ["open_by_handle_at", event("open_by_handle_at", { flags: "O_RDWR" })],
    ["rename onto it", event("rename", { paths: ["/t/x", SECRET] })],
    ["rename away", event("renameat", { paths: [SECRET, "/t/x"] })],
    ["a hard link to it", event("linkat", { paths: [SECRET, "/t/x"] })],
    ["a link there", event("symlinkat", { paths: ["/s/l"] })],
    ["a socket bound there", event("bind", { address: "unix:/s/sock" })],
    ["mount on it", event("mount", { paths: ["none", "/s"] })],
    ["utimensat on a descriptor", event("utimensat", { targets: { dfd: SECRET } })],
    ...(
      [
        "mkdir",
        "mkdirat",
        "mknod",
        "mknodat",
        "unlink",
        "unlinkat",
        "rmdir",
        "truncate",
        "chmod",
        "fchmodat",
        "fchmodat2",
        "chown",
        "lchown",
        "fchownat",
        "utime",
        "utimes",
        "futimesat",
        "setxattr",
        "lsetxattr",
        "removexattr",
        "setxattrat",
        "removexattrat",
        "file_setattr",
        "acct",
        "swapon",
      ] as SyscallName[]
    ).map((name): [string, ReturnType<typeof event>] => [name, event(name, at(SECRET))]),
    ...(["ftruncate", "fallocate", "fchmod", "fchown", "fsetxattr", "fremovexattr"] as SyscallName[]).map(
      (name): [string, ReturnType<typeof event>] => [name, event(name, fd(SECRET))],
    ),
  ];
  test.each(calls)("%s", async (_, call) =>
    expect(ruleOf(await rules("deny: write, path: /s/**"), call)).toBe("r1"),
  );
  test.each(calls)("%s is also stopped where no path is named", async (_, call) =>
    expect(ruleOf(await rules("deny: write"), call)).toBe("r1"),
  );

  test("writing to a descriptor without a name writes to no named file", async () =>
    expect(ruleOf(await rules("deny: write"), event("ftruncate", fd("pipe:[1]")))).toBeUndefined());
});

describe("each deed of a call is judged on its own, and the strictest answer holds", () => {
  test("permission to write the target does not permit to take the source", async () => {
    const policy = await rules("allow: write, path: /ws/**", "deny: write");
    expect(ruleOf(policy, event("rename", { paths: ["/etc/passwd", "/ws/x"] }))).toBe("r2");
    expect(ruleOf(policy, event("rename", { paths: ["/ws/a", "/ws/b"] }))).toBe("r1");
    expect(ruleOf(policy, event("link", { paths: ["/etc/passwd", "/ws/x"] }))).toBe("r2");
  });

  test("permission to read everything does not permit to move it", async () => {
    const policy = await rules('allow: read, path: "/**"', "allow: write, path: /ws/**", "deny: write");
    expect(ruleOf(policy, event("rename", { paths: ["/etc/passwd", "/ws/x"] }))).toBe("r3");
  });

  test("permission to create does not permit to replace", async () => {
    const policy = await rules("allow: create, path: /ws/**", "deny: delete");
    expect(ruleOf(policy, event("renameat2", { paths: ["/t/a", "/ws/b"] }))).toBe("r2");
  });

  test("naming the narrow effect permits all of it", async () => {
    const policy = await rules("allow: rename, path: /ws/**", "deny: [read, write]");
    expect(ruleOf(policy, event("rename", { paths: ["/ws/a", "/ws/b"] }))).toBe("r1");
  });

  test("reading and writing in one open need both permissions", async () => {
    const policy = await rules("allow: read", "deny: write");
    expect(ruleOf(policy, open("/x", "O_RDWR"))).toBe("r2");
    expect(ruleOf(policy, open("/x"))).toBe("r1");
  });
});

describe("other effects", () => {
  const env = { argv: ["a"], env: [] };
  test.each<[string, string, ReturnType<typeof event>, boolean]>([
    ["exec", "execve", event("execve", { paths: ["/x"], ...env }), true],
    ["exec", "execveat", event("execveat", { paths: ["/x"], ...env }), true],
    ["connect", "connect", event("connect", { address: "1.1.1.1:1" }), true],
    ["connect", "sendto with an address", event("sendto", { address: "1.1.1.1:1" }), true],
    ["connect", "sendto without one", event("sendto", { peer: "1.1.1.1:1" }), false],
    ["send", "sendto without one", event("sendto", { peer: "1.1.1.1:1" }), true],
    ["send", "sendmsg", event("sendmsg", { address: "1.1.1.1:1" }), true],
    ["receive", "recvfrom", event("recvfrom", { peer: "1.1.1.1:1" }), true],
    ["bind", "listen without a bind", event("listen", { local: "0.0.0.0:0" }), true],
    ["accept", "accept", event("accept", { local: "0.0.0.0:80" }), true],
    ["signal", "kill of another", event("kill", { args: { pid: 5n, sig: 9n } }), true],
    ["signal", "kill of itself", event("kill", { args: { pid: 1000n, sig: 6n } }), false],
    ["signal", "kill with 0", event("kill", { args: { pid: 5n, sig: 0n } }), false],
    ["signal", "kill of all", event("kill", { args: { pid: -1n, sig: 9n } }), true],
    ["signal", "tgkill of itself", event("tgkill", { args: { tgid: 1000n, pid: 1000n, sig: 6n } }), false],
    ["signal", "tkill of another", event("tkill", { args: { pid: 7n, sig: 6n } }), true],
    ["signal", "pidfd_send_signal", event("pidfd_send_signal", { args: { sig: 15n } }), true],
    ["fork", "clone of a thread", event("clone", { flags: "CLONE_THREAD|CLONE_VM" }), false],
    ["fork", "clone", event("clone", { flags: 17 }), true],
    ["fork", "clone3 of a thread", event("clone3", { flags: 0x10000 }), false],
    ["fork", "vfork", event("vfork"), true],
    ["namespace", "clone3 with CLONE_NEWUSER", event("clone3", { flags: 0x10000000 }), true],
    ["namespace", "unshare of a namespace", event("unshare", { flags: "CLONE_NEWNS" }), true],
    ["namespace", "unshare of descriptors", event("unshare", { flags: "CLONE_FILES" }), false],
    ["load", "mmap of code", event("mmap", { ...fd("/lib/x.so"), args: { prot: 5n } }), true],
    ["load", "mmap of data", event("mmap", { ...fd("/lib/x.so"), args: { prot: 1n } }), false],
    [
      "load",
      "anonymous mmap",
      event("mmap", { flags: "MAP_ANONYMOUS|MAP_PRIVATE", args: { prot: 5n } }),
      false,
    ],
    ["list", "getdents64", event("getdents64", fd("/d")), true],
    ["list", "open of a folder", open("/d", "O_DIRECTORY"), true],
    ["list", "open of a file", open("/d"), false],
    ["stat", "O_PATH", open("/d", "O_PATH"), true],
    ["ptrace", "process_vm_readv", event("process_vm_readv"), true],
    ["ptrace", "pidfd_getfd", event("pidfd_getfd"), true],
    ["setuid", "setresuid", event("setresuid"), true],
    ["settime", "clock_adjtime", event("clock_adjtime"), true],
    ["mount", "move_mount", event("move_mount", { paths: ["/a", "/b"] }), true],
    ["mount", "chroot", event("chroot", at("/x")), true],
    ["write_data", "sendfile to a file", event("sendfile", { targets: { out_fd: "/o", in_fd: "/i" } }), true],
    ["sync", "fsync", event("fsync", fd("/x")), true],
    ["fsync", "fsync", event("fsync", fd("/x")), true],
    ["fsync", "fdatasync", event("fdatasync", fd("/x")), true],
    ["fsync", "msync", event("msync"), true],
    ["fsync()", "fsync", event("fsync", fd("/x")), true],
    ["fsync()", "fdatasync", event("fdatasync", fd("/x")), false],
    ["fdatasync", "fsync", event("fsync", fd("/x")), false],
    ["touch", "utime", event("utime", at("/x")), true],
    ["monitor", "inotify_add_watch", event("inotify_add_watch", at("/x")), true],
  ])("%s: %s", async (effect, _, call, expected) =>
    expect(ruleOf(await rules(`deny: ${effect}`), call) === "r1").toBe(expected),
  );

  test("the second descriptor of a call is looked up among the caller's", async () => {
    const policy = await rules("deny: read_data, path: /i");
    const call = (input: string) => event("sendfile", { targets: { out_fd: "/o", in_fd: input } });
    expect(ruleOf(policy, call("/i"))).toBe("r1");
    expect(ruleOf(policy, call("/j"))).toBeUndefined();
  });
});
