import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { allAttacks, commandOf } from "../attacks/attacks.js";
import { below, nameOf } from "../support/processes.js";
import { program } from "../support/programs.js";
import { root } from "../support/root.js";
import { until } from "../support/until.js";

/** A program can take from HERMES neither its memory nor its time. */

let folder: string;
let looks: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-exhaustion-"));
  looks = join(folder, "looks.yaml");
  writeFileSync(
    looks,
    `name: looks
rules:
  - { id: files, deny: [read, write], path: "/nowhere/**", reason: Nothing is there. }
  - { id: programs, deny: exec, path: "/nowhere/**", reason: Nothing is there. }
  - { id: sockets, deny: connect, address: "unix:/nowhere", reason: Nothing is there. }
`,
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const MAIN = join(root, "dist/cli/main.cjs");

function number(pid: number, field: string): number {
  return Number(
    new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1],
  );
}

describe.each(["notify", "trace"])("through the %s door", (door) => {
  it("sixty large sends that wait for a receiver cost little memory, and arrive whole", {
    timeout: 120_000,
  }, async () => {
    const run = spawn(
      process.execPath,
      [MAIN, "run", "-q", "-p", looks, "--door", door, "--", program("senders")],
      {
        stdio: ["pipe", "pipe", "inherit"],
      },
    );
    const lines = createInterface({ input: run.stdout });
    await once(lines, "line");
    const broker = below(run.pid!).find((pid) => nameOf(`/proc/${pid}`) === "hermes-broker")!;
    // Each that waits has a thread of the broker's.
    await until(() => number(broker, "Threads") >= 60);
    let before = 0;
    await until(() => {
      const now = number(broker, "VmRSS");
      const same = now === before;
      before = now;
      return same;
    });
    expect(number(run.pid!, "VmHWM") + number(broker, "VmHWM")).toBeLessThan(256 * 1024);
    run.stdin.write("read\n");
    expect((await once(lines, "line"))[0]).toBe("60 whole");
    await once(run, "exit");
  });

  it("a pipe that is executed keeps no other caller waiting", () => {
    const script = "rm -f pipe; mkfifo pipe; chmod +x pipe; ./pipe 2> /dev/null; echo $?; echo served";
    expect(run(door, ["sh", "-c", script])).toBe("126\nserved\n");
  });

  it("a process that opens a file which another has a lease on waits alone", () => {
    expect(run(door, ["python3", "-c", LEASE])).toBe("others are served, one waits\nit has got it\n");
  });

  it("a script that another has a lease on is not run unread", () => {
    expect(run(door, ["python3", "-c", LEASED_SCRIPT])).toBe("ETXTBSY\n");
  });
});

it.skipIf(process.getuid?.() !== 0)(
  "a file system that the program serves itself is refused, with the reason",
  () => {
    const attack = allAttacks().find(({ name }) => name === "harm/own-file-system")!;
    const done = spawnSync(process.execPath, [MAIN, "run", "--fence", "none", "--", ...commandOf(attack)], {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, A_SYSTEM: "hermes" },
      timeout: 110_000,
      killSignal: "SIGKILL",
    });
    expect(done).toMatchObject({ status: 1, stdout: "" });
    expect(done.stderr).toContain("a program of this session serves (FUSE)");
  },
);

it.skipIf(process.getuid?.() !== 0)("FUSE is refused by its type too, and no other type is", () => {
  const script = `
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
def told(*call):
    return 'can' if libc.syscall(*call) >= 0 else errno.errorcode[ctypes.get_errno()]
print(told(430, b'fuse', 0), told(165, b'x', b'.', b'fuse.x', 0, None), told(430, b'tmpfs', 0))
`;
  const args = [MAIN, "run", "-q", "--fence", "none", "--", "python3", "-c", script];
  const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8", timeout: 110_000 });
  expect(stdout).toBe("EPERM EPERM can\n");
});

function run(door: string, command: readonly string[]): string {
  const args = [MAIN, "run", "-q", "-p", looks, "--door", door, "--", ...command];
  return spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8", timeout: 110_000 }).stdout;
}

const LEASE = `
import fcntl, os, signal
signal.signal(signal.SIGIO, signal.SIG_IGN)
f = os.open('leased', os.O_RDWR | os.O_CREAT)
fcntl.fcntl(f, fcntl.F_SETLEASE, fcntl.F_WRLCK)
asked = lambda: fcntl.fcntl(f, fcntl.F_GETLEASE) != fcntl.F_WRLCK
child = os.fork()
if child == 0:
    os.close(f)
    os.open('leased', os.O_RDONLY)
    os._exit(7)
while not asked(): pass
for i in range(50): os.close(os.open('other', os.O_RDWR | os.O_CREAT))
waits = os.waitpid(child, os.WNOHANG)[0] == 0
print('others are served, one waits' if waits else 'all have waited', flush=True)
fcntl.fcntl(f, fcntl.F_SETLEASE, fcntl.F_UNLCK)
print('it has got it' if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7 else 'it failed')
`;

const LEASED_SCRIPT = `
import errno, fcntl, os, signal
signal.signal(signal.SIGIO, signal.SIG_IGN)
with open('script', 'w') as script: print('#!/bin/sh', 'echo ran', sep=chr(10), file=script)
os.chmod('script', 0o755)
f = os.open('script', os.O_RDONLY)
fcntl.fcntl(f, fcntl.F_SETLEASE, fcntl.F_WRLCK)
try: os.execv('./script', ['./script'])
except OSError as e: print(errno.errorcode[e.errno])
`;
