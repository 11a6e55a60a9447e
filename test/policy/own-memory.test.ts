import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HERMES } from "../support/cli.js";

/** What a program does to its own memory and to itself is no change of a file; errors of the kernel come before refusals. */

let folder: string;
beforeAll(() => {
  // Not in a temporary folder: these may be written to.
  folder = mkdtempSync(join(homedir(), ".hermes-memory-"));
  mkdirSync(join(folder, "workspace"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function python(script: string, ...policies: string[]) {
  const command = ["/usr/bin/python3", "-c", `${PRELUDE}\n${script}`];
  const under = policies.length > 0 ? [HERMES, "run", "-q", ...policies.flatMap((p) => ["-p", p]), "--"] : [];
  const [file, ...args] = [...under, ...command];
  const env = { PATH: process.env.PATH, HOME: folder };
  const { stdout, stderr } = spawnSync(file!, args, {
    cwd: join(folder, "workspace"),
    encoding: "utf8",
    env,
  });
  return stdout + stderr;
}

const PRELUDE = `
import ctypes, errno, os, resource
libc = ctypes.CDLL(None, use_errno=True)
def attempt(name, act):
    try: act(); print(name, "ok", flush=True)
    except OSError as error: print(name, errno.errorcode[error.errno], flush=True)
def raw(name, *args):
    if getattr(libc, name)(*args) < 0: raise OSError(ctypes.get_errno(), name)
def said(path, text):
    with open(path, "w") as file: file.write(text)
`;

const ITSELF = `
fd = os.memfd_create("x")
attempt("ftruncate", lambda: os.ftruncate(fd, 4096))
attempt("fallocate", lambda: os.posix_fallocate(fd, 0, 8192))
attempt("fchmod", lambda: os.fchmod(fd, 0o600))
attempt("open to write", lambda: os.open(f"/proc/self/fd/{fd}", os.O_RDWR))
attempt("open to read", lambda: os.open(f"/proc/self/fd/{fd}", os.O_RDONLY))
attempt("odd name", lambda: os.ftruncate(os.memfd_create("../../etc/x"), 10))
attempt("comm", lambda: said("/proc/self/comm", "renamed"))
attempt("comm of a thread", lambda: said("/proc/thread-self/comm", "renamed"))
attempt("oom_score_adj", lambda: said("/proc/self/oom_score_adj", "500"))
`;

const ERRORS = `
attempt("fchmod of nothing", lambda: os.fchmod(99, 0o600))
attempt("fchown of nothing", lambda: os.fchown(99, 0, 0))
attempt("ftruncate of nothing", lambda: os.ftruncate(99, 0))
attempt("fchdir of nothing", lambda: os.fchdir(99))
attempt("fsetxattr of nothing", lambda: os.setxattr(99, "user.x", b"1"))
attempt("open of NULL", lambda: raw("open", None, 0))
attempt("chmod of NULL", lambda: raw("chmod", None, 0))
attempt("unlink of NULL", lambda: raw("unlink", None))
attempt("rename to NULL", lambda: raw("rename", b"a", None))
attempt("truncate of a bad pointer", lambda: raw("truncate", ctypes.c_void_p(1), 0))
`;

describe.each(["agent", "workspace", "tools", "readonly"])("under %s", (policy) => {
  it("a program's own memory and its own name are as without it", () => {
    expect(python(ITSELF, policy)).toBe(python(ITSELF));
  });

  it("the kernel's errors are as without it", () => {
    expect(python(ERRORS, policy)).toBe(python(ERRORS));
  });

  it("files outside stay refused, before and after", () => {
    const outside = join(folder, `outside-${policy}`);
    const script = `
attempt("before", lambda: said("${outside}", "x"))
for i in range(20): os.ftruncate(os.open(f"/proc/self/fd/{os.memfd_create('x')}", os.O_RDWR), i)
attempt("after", lambda: said("${outside}", "x"))
attempt("another's name", lambda: said(f"/proc/{os.getppid()}/comm", "x"))`;
    expect(python(script, policy)).toMatch(/^before E\w+\nafter E\w+\nanother's name E\w+\n$/);
    expect(existsSync(outside)).toBe(false);
  });
});

it.runIf(process.getuid?.() === 0)("a file that is named like memory is a file", () => {
  const file = `/memfd:hermes-${process.pid}`;
  writeFileSync(file, "as it was");
  try {
    const script = `
attempt("write", lambda: said("${file}", "x"))
attempt("chmod", lambda: os.chmod("${file}", 0o777))
attempt("truncate", lambda: os.truncate("${file}", 0))`;
    expect(python(script, "workspace")).toBe("write EACCES\nchmod EACCES\ntruncate EACCES\n");
    expect(readFileSync(file, "utf8")).toBe("as it was");
  } finally {
    rmSync(file);
  }
});

it("a program in memory is judged as a program", () => {
  const policy = join(folder, "only.yaml");
  writeFileSync(
    policy,
    "name: only\ndefault: deny\nrules: [{ id: python, allow: exec, path: '/usr/bin/python3*' }, { id: rest, allow: [read, write, stat, list, load] }]\n",
  );
  const script = `
fd = os.memfd_create("x")
with open("/bin/true", "rb") as file: os.write(fd, file.read())
attempt("exec", lambda: os.execv(f"/proc/self/fd/{fd}", ["x"]))`;
  expect(python(script)).toBe("");
  expect(python(script, policy)).toMatch(/^exec E/);
});
