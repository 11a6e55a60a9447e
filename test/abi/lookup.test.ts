import { describe, expect, it } from "vitest";
import {
  errnoName,
  errnoNumber,
  errnoText,
  flagTable,
  formatFlags,
  parseFlags,
  SYSCALLS,
  signalName,
  signalNumber,
  sockoptTable,
  suggest,
  syscallByName,
  syscallByNumber,
  syscallsOfClass,
} from "../../src/abi/index.js";

describe("looking up a system call", () => {
  it("finds it by name in any case", () => {
    for (const name of ["connect", "Connect", "CONNECT"]) expect(syscallByName(name)?.nr).toBe(42);
    expect(syscallByName("OpenAt")?.nr).toBe(257);
  });

  it("does not find what is not there, nor what every object inherits", () => {
    for (const name of ["opennat", "", "constructor", "__proto__", "toString"])
      expect(syscallByName(name)).toBeUndefined();
    for (const nr of [-1, 0.5, 400, 9999]) expect(syscallByNumber(nr)).toBeUndefined();
  });

  it("finds the members of a class, and none of an unknown one", () => {
    expect(syscallsOfClass("exec").map((row) => row.name)).toEqual(["execve", "uselib", "execveat"]);
    expect(syscallsOfClass("random").map((row) => row.name)).toEqual(["getrandom"]);
    expect(syscallsOfClass("nonsense")).toEqual([]);
  });

  it("suggests the near miss and nothing for the far one", () => {
    const names = SYSCALLS.map((row) => row.name);
    expect(suggest("opennat", names)).toBe("openat");
    expect(suggest("conect", names)).toBe("connect");
    expect(suggest("exceve", names)).toBe("execve");
    expect(suggest("frobnicate", names)).toBeUndefined();
  });
});

describe("flags", () => {
  it("read as strace writes them", () => {
    expect(formatFlags("open", 0o2000000)).toBe("O_RDONLY|O_CLOEXEC");
    expect(formatFlags("open", 0o101 | 0o1000)).toBe("O_WRONLY|O_CREAT|O_TRUNC");
    expect(formatFlags("mmap_prot", 0)).toBe("PROT_NONE");
    expect(formatFlags("mmap_prot", 5)).toBe("PROT_READ|PROT_EXEC");
    expect(formatFlags("mmap_flags", 0x22)).toBe("MAP_PRIVATE|MAP_ANONYMOUS");
    expect(formatFlags("socket_family", 10)).toBe("AF_INET6");
    expect(formatFlags("socket_type", 1 | 0o2000000)).toBe("SOCK_STREAM|SOCK_CLOEXEC");
    expect(formatFlags("futex", 0x80)).toBe("FUTEX_WAIT|FUTEX_PRIVATE_FLAG");
    expect(formatFlags("clone", 0x3d0f00)).toMatch(/^CLONE_VM\|CLONE_FS\|/);
    expect(formatFlags("clone", 0x1200011)).toBe("SIGCHLD|CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID");
  });

  it("name the widest set of bits that fits", () => {
    expect(formatFlags("open", 0o4010000)).toBe("O_RDONLY|O_SYNC");
    expect(formatFlags("open", 0o20200000)).toBe("O_RDONLY|O_TMPFILE");
  });

  it("show what has no name in hex, and nothing as 0", () => {
    expect(formatFlags("at", 0x100 | 0x40)).toBe("AT_SYMLINK_NOFOLLOW|0x40");
    expect(formatFlags("at", 0)).toBe("0");
    expect(formatFlags("socket_family", 99)).toBe("0x63");
    expect(formatFlags("open", 3)).toBe("0x3");
  });

  it("read bigints and negative numbers as the register they came from", () => {
    expect(formatFlags("epoll_events", 0x80000001n)).toBe("EPOLLIN|EPOLLET");
    expect(formatFlags("clone3", 0x100000000n)).toBe("CLONE_CLEAR_SIGHAND");
    expect(formatFlags("wait", -0x80000000)).toBe("__WCLONE");
    expect(formatFlags("rusage", -1)).toBe("RUSAGE_CHILDREN");
    expect(formatFlags("rusage", 0xffffffff)).toBe("RUSAGE_CHILDREN");
  });

  it("parse back to the number they came from", () => {
    expect(parseFlags("open", "O_WRONLY|O_CREAT | o_trunc")).toBe(0o1101);
    expect(parseFlags("open", "0x41")).toBe(0x41);
    expect(parseFlags("open", 65)).toBe(65);
    expect(parseFlags("socket_family", "AF_INET")).toBe(2);
    for (const value of [0, 1, 2, 0o101, 0o4010000, 0x280041])
      expect(parseFlags("open", formatFlags("open", value))).toBe(value);
  });

  it("are refused when unknown", () => {
    expect(() => parseFlags("open", "O_RDONLY|O_NONSENSE")).toThrow('unknown flag "O_NONSENSE"');
    expect(() => parseFlags("socket_family", "AF_INET|AF_INET6")).toThrow("one name expected");
    expect(() => parseFlags("open", "")).toThrow("unknown flag");
    expect(() => flagTable("constructor")).toThrow("no flag table");
  });

  it("of socket options depend on the level", () => {
    expect(formatFlags(sockoptTable(1)!, 1)).toBe("SO_DEBUG");
    expect(formatFlags(sockoptTable(6)!, 1)).toBe("TCP_NODELAY");
    expect(sockoptTable(270)).toBeUndefined();
  });
});

describe("errnos and signals", () => {
  it("go from number to name and back", () => {
    expect(errnoName(13)).toBe("EACCES");
    expect(errnoName(-2)).toBe("ENOENT");
    expect(errnoText(2)).toBe("No such file or directory");
    expect(errnoNumber("eacces")).toBe(13);
    expect(errnoName(11)).toBe("EAGAIN");
    expect(errnoNumber("EWOULDBLOCK")).toBe(11);
    expect([errnoName(512), errnoName(516)]).toEqual(["ERESTARTSYS", "ERESTART_RESTARTBLOCK"]);
    expect([errnoName(0), errnoName(9999), errnoNumber("EWHAT")]).toEqual([undefined, undefined, undefined]);
  });

  it("accept signal names with and without SIG, in any case, and numbers", () => {
    for (const name of ["SIGTERM", "TERM", "sigterm", "15"]) expect(signalNumber(name)).toBe(15);
    expect(signalName(9)).toBe("SIGKILL");
    expect([signalNumber("RTMIN+3"), signalNumber("SIGRTMAX-1")]).toEqual([37, 63]);
    expect([signalName(0), signalName(65), signalNumber("SIGWHAT"), signalNumber("65")]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});
