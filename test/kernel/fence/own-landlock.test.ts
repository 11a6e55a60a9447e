import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hermes } from "../../support/cli.js";

/** What a program forbids itself would not hold for calls that are made in its place: it is told that it cannot. */
let folder: string;
let looks: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-own-landlock-"));
  looks = join(folder, "looks.yaml");
  writeFileSync(
    looks,
    `name: looks\nrules:\n  - { id: files, deny: write, path: "/nowhere/**", reason: Nothing is there. }\n`,
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ASK = `
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
def told(*call):
    return 'can' if libc.syscall(*call) >= 0 else errno.errorcode[ctypes.get_errno()]
print(told(444, None, 0, 1), told(445, -1, 1, None, 0), told(446, -1, 0))
`;
const REFUSED = "ENOTSUP ENOTSUP ENOTSUP\n"; // the same number as EOPNOTSUPP
const isRoot = process.getuid?.() === 0;

describe.each(["auto", "notify", "trace"])("through the door %s", (door) => {
  const ask = (...options: string[]) =>
    hermes(["run", "-q", "--door", door, ...options, "--", "python3", "-c", ASK], { cwd: folder }).stdout;

  it("a program under a policy on files has no Landlock", () => {
    expect(ask("-p", looks)).toBe(REFUSED);
  });

  it("nor has one that only the session's own defence looks at, where it opens files for it", () => {
    if (isRoot) expect(ask()).toBe(REFUSED);
    expect(ask("--trace", join(folder, "trace.jsonl"))).toBe(REFUSED);
  });
});
