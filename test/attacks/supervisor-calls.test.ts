import { describe, expect, it } from "vitest";
import { isRoot } from "./campaign.js";
import { counted, parse, type Setting, supervisorCalls, unknown } from "./supervisor-calls.js";

const NAMES = { name: "named-1", address: "127.1.2.3", port: 4711, pid: 99 };

describe("what strace says of the supervisor", () => {
  it("is put together by thread, and told apart by name and descriptor", () => {
    const text = [
      '10 openat(AT_FDCWD</x>, "named-1", O_RDONLY <unfinished ...>',
      '11 readlinkat(5</proc/10/fd>, "7", "/x/named-1", 4095) = 10',
      "10 <... openat resumed>) = 7</x/named-1>",
      "10 close(7</x/named-1>) = 0",
      '11 process_vm_readv(12, [{iov_base="/x/named-1"}], 1, [{}], 1, 0) = 10',
      "11 kill(99, 0) = 0",
      '11 openat(AT_FDCWD, "/proc/990/stat", O_RDONLY) = 3</proc/990/stat>',
      '10 connect(3<socket:[1]>, {sin_port=htons(4711), sin_addr=inet_addr("127.0.0.1")}, 16) = 0',
    ];
    expect(counted(parse(text.join("\n"), NAMES))).toEqual({
      "openat: path by name": 1,
      "close: path by descriptor": 1,
      "kill: process by name": 1,
      "connect: address by name": 1,
    });
  });
});

/** Only root may trace a supervisor: it is not dumpable. */
const SETTINGS: readonly Setting[] = isRoot
  ? [
      { door: "notify", fence: "none", user: "root" },
      { door: "auto", fence: "strict", user: "ordinary" },
    ]
  : [];

describe("the supervisor", () => {
  if (isRoot)
    it("would be seen: of the program itself, every name is found", async () => {
      const counts = counted(await supervisorCalls({ door: "auto", fence: "none", user: "root" }, true));
      for (const kind of [
        "openat: path by name",
        "openat2: path by name",
        "connect: address by name",
        "kill: process by name",
        "pidfd_open: process by name",
      ])
        expect(counts[kind], kind).toBeGreaterThan(0);
    });

  for (const setting of SETTINGS)
    it(`names nothing that a program named but what is known: ${Object.values(setting).join(", ")}`, async () => {
      expect(unknown(await supervisorCalls(setting))).toEqual([]);
    });
});
