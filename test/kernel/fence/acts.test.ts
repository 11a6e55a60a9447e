import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hermes } from "../../support/cli.js";

/** A call that is made in the program's place must not reach further than the program could. */
const LOOKS = fileURLToPath(new URL("../../transparency/policies/every-path.ts", import.meta.url));
let folder: string;
let server: Server;
let port: number;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "hermes-acts-"));
  for (const name of ["work", "other"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "other/file"), "other\n");
  server = createServer((socket) => socket.end());
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  port = (server.address() as { port: number }).port;
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const ways = ["echo x > ../other/new", "echo x >> ../other/file", "mkdir ../other/new", "rm ../other/file"];
const moves = ["mv ../other/file .", "ln ../other/file ../other/new", "ln -s x ../other/new"];
const more = ["truncate -s 0 ../other/file", "mkfifo ../other/new", "cp /etc/hostname ../other/new"];

describe.each(["notify", "trace"])("behind a fence, through the %s door", (door) => {
  const run = (options: string[], script: string) =>
    hermes(["run", "-q", "-p", LOOKS, "--door", door, ...options, "--", "sh", "-c", script], {
      cwd: join(folder, "work"),
    });

  it.each([...ways, ...moves, ...more])("%s changes nothing outside", (script) => {
    const done = run(["--writable", join(folder, "work")], `echo in > inside && cat inside && ${script}`);
    expect(done.stdout).toBe("in\n");
    expect(done.status).not.toBe(0);
    expect(readdirSync(join(folder, "other"))).toEqual(["file"]);
  });

  it("nothing outside is read", () => {
    const options = ["--writable", join(folder, "work"), "--readable", join(folder, "work")];
    expect(run(options, "cat ../other/file")).toMatchObject({ status: 1, stdout: "" });
  });

  it("no other port is reached", () => {
    const connect = (to: number) =>
      `python3 -c 'import socket; socket.create_connection(("127.0.0.1", ${to})); print("reached")'`;
    expect(run(["--connect-port", String(port)], connect(port)).stdout).toBe("reached\n");
    expect(run(["--connect-port", "1"], connect(port)).stdout).toBe("");
  });

  const told = (lines: string) => `python3 -c '
import os, socket, fcntl, ctypes, errno
def told(f):
    try: f(); return "can"
    except OSError as e: return errno.errorcode[e.errno]
${lines}'`;

  it("no link to a file outside is made inside, and nothing is made outside by an open for reading", () => {
    const script = told(`
print(told(lambda: os.link("../other/file", "linked")), told(lambda: os.rename("../other/file", "moved")))
print(told(lambda: os.open("../other/made", os.O_CREAT | os.O_RDONLY)))`);
    const done = run(["--writable", join(folder, "work")], script);
    expect(done.stdout).toMatch(/^(EXDEV|EACCES) EACCES\nEACCES\n$/);
    expect(readdirSync(join(folder, "other"))).toEqual(["file"]);
  });

  it("no file of the root directory passes for one in memory", () => {
    const script = told(`print(told(lambda: os.mkdir(f"/memfd:{os.getpid()}-test")))`);
    const done = run(["--writable", join(folder, "work")], script);
    expect(done.stdout).toBe("EACCES\n");
  });

  it("no other port is bound, regardless of the family that the address claims", () => {
    const script = told(`
s = socket.socket()
libc = ctypes.CDLL(None, use_errno=True)
def bind(family):
    if libc.bind(s.fileno(), bytes([family, 0, 0x9c, 0x41] + [0] * 12), 16) < 0: raise OSError(ctypes.get_errno(), "")
print(told(lambda: bind(2)), told(lambda: bind(0)))`);
    expect(run(["--bind-port", "1"], script).stdout).toBe("EACCES EACCES\n");
  });

  it.skipIf(process.getuid?.() !== 0)(
    "nothing in /proc is written to where it is not the program's own",
    () => {
      const script = told(`print(told(lambda: os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY)))`);
      expect(run(["--writable", join(folder, "work")], script).stdout).toBe("EACCES\n");
    },
  );

  it.skipIf(process.getuid?.() !== 0)(
    "no device is controlled by what was opened in the program's place",
    () => {
      const script = told(
        `import fcntl; LOOP_CTL_GET_FREE = 0x4C82
print(told(lambda: fcntl.ioctl(os.open("/dev/loop-control", os.O_RDONLY), LOOP_CTL_GET_FREE)), told(lambda: os.open("/dev/null", os.O_RDWR)))`,
      );
      expect(run(["--writable", join(folder, "work")], script).stdout).toMatch(/^(EACCES|ENOENT) can\n$/);
    },
  );
});
