import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hermes } from "../support/cli.js";

/** A fault that never happens tests nothing, and the run says so. */

let folder: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "hermes-hits-")));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(rules: string, options: readonly string[], script: string) {
  writeFileSync(join(folder, "f.yaml"), `name: f\nrules:\n${rules}`);
  return hermes(["run", ...options, "-p", "f.yaml", "--", "/usr/bin/python3", "-c", script], { cwd: folder });
}

const SYNC = (call: string) => `
import ctypes, os, mmap, sys
fd = os.open("file", os.O_CREAT | os.O_RDWR); os.ftruncate(fd, 4096); libc = ctypes.CDLL(None, use_errno=True)
page = mmap.mmap(fd, 4096)
def fails(result):
  if result != 0: raise OSError(ctypes.get_errno(), "")
try: ${call}
except OSError as error: print(os.strerror(error.errno))
else: print("done")
`;
const CALLS = {
  fsync: "os.fsync(fd)",
  fdatasync: "os.fdatasync(fd)",
  sync_file_range: "fails(libc.sync_file_range(fd, ctypes.c_long(0), ctypes.c_long(0), 2))",
  msync: "page.flush()",
  syncfs: "fails(libc.syncfs(fd))",
} as const;

describe("fault: fsync", () => {
  it.each(Object.entries(CALLS))("is met by %s", (_, script) => {
    const { stdout, stderr } = run("  - { id: disk, fault: fsync, errno: EIO }\n", ["-q"], SYNC(script));
    expect(stdout, stderr).toBe("Input/output error\n");
  });

  it.each(Object.entries(CALLS))("as fsync() means that call alone: %s", (name, script) => {
    const rule = "  - { id: disk, fault: fsync(), errno: EIO }\n";
    const { stdout, stderr } = run(rule, [], SYNC(script));
    expect(stdout).toBe(name === "fsync" ? "Input/output error\n" : "done\n");
    expect(stderr.includes("rule f/disk never applied")).toBe(name !== "fsync");
  });
});

const TWO = `  - { id: disk, fault: sync, path: "**/file", errno: EIO }
  - { id: name, emulate: uname, data: { nodename: other } }
`;

describe("a rule that changes what happens", () => {
  it("is named in the summary when it never applied", () => {
    const { status, stderr } = run(TWO, [], "import os; os.uname()");
    expect(stderr).toContain("\n  rule f/disk never applied\n");
    expect(status).toBe(0);
  });

  it("fails the run with --require-hit, after the program has ended", () => {
    const { status, stdout, stderr } = run(TWO, ["-q", "--require-hit"], "print('ran')");
    expect([status, stdout]).toEqual([125, "ran\n"]);
    expect(stderr).toBe(
      "hermes: rules f/disk, f/name never applied, and --require-hit was given (the program: exit 0)\n",
    );
    expect(run(TWO, ["-q", "--require-hit"], `import os; os.uname()${SYNC(CALLS.fsync)}`).status).toBe(0);
  });

  it("is in the JSON, which stays the last line", () => {
    const { status, stderr } = run(TWO, ["--json", "--require-hit"], "import os; os.uname()");
    const [message, json] = stderr.trim().split("\n");
    expect(status).toBe(125);
    expect(message).toMatch(/^hermes: rule f\/disk never applied/);
    expect(JSON.parse(json!).summary.neverApplied).toEqual([{ policy: "f", rule: "disk" }]);
  });

  it("applied if it only let the call wait, which is told as a delay", () => {
    const { status, stderr } = run(
      "  - { id: slow, fault: sync, delay: 1ms }\n",
      ["--require-hit"],
      SYNC(CALLS.fdatasync),
    );
    expect(status).toBe(0);
    expect(stderr).toContain("· 1 delayed\n");
    expect(stderr).toMatch(/\n {2}delay {3}fdatasync +×1 +f\/slow \(.*\/file\)\n/);
    expect(stderr).not.toContain("made to fail");
  });

  it("of another kind is not asked for: a refusal that was not needed is good news", () => {
    const { status, stderr } = run("  - { id: no, deny: connect }\n", ["--require-hit"], "pass");
    expect(status).toBe(0);
    expect(stderr).not.toContain("never applied");
  });
});
