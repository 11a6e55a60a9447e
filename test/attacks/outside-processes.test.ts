import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { asEachUser, type Shipped } from "../support/workspace.js";

/** Processes and shared objects of others: no call reaches them. Those of the run it reaches as ever. */

const REACH = `
import ctypes, subprocess, sys
from multiprocessing import Process, shared_memory
libc = ctypes.CDLL(None, use_errno=True)
outsider, segment, memory = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
child = subprocess.Popen(["sleep", "100"])
class Vector(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
room = ctypes.create_string_buffer(8)
def call(nr, *arguments):
    ctypes.set_errno(0)
    return "done" if libc.syscall(nr, *arguments) >= 0 else ctypes.get_errno()
def attempts(pid):
    try:
        with open(f"/proc/{pid}/maps") as f: base = int(f.readline().split("-")[0], 16)
    except PermissionError: base = 0x400000
    here, there = Vector(ctypes.addressof(room), 8), Vector(base, 8)
    limit = (ctypes.c_uint64 * 2)(1000, 1000)
    return {
        "kill": call(62, pid, 18), "tgkill": call(234, pid, pid, 18), "tkill": call(200, pid, 18),
        "process_vm_readv": call(310, pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0),
        "prlimit64": call(302, pid, 7, limit, 0), "setpriority": call(141, 0, pid, 19),
        "sched_setaffinity": call(203, pid, 8, (ctypes.c_uint64 * 1)(1)), "pidfd_open": call(434, pid, 0),
    }
print("outsider", attempts(outsider))
print("child", attempts(child.pid))
child.kill()
print("everybody", call(62, -1, 18))
print("segment", call(30, segment, 0, 0), call(31, segment, 0, 0))
libc.shmat.restype = ctypes.c_void_p
own = libc.shmget(0, 4096, 0o1600)
print("own segment", "done" if libc.shmat(own, None, 0) not in (None, 2**64 - 1) else "refused")
libc.shmctl(own, 0, None)
def change(name):
    m = shared_memory.SharedMemory(name=name); m.buf[0] = 7; m.close()
m = shared_memory.SharedMemory(create=True, size=10)
p = Process(target=change, args=(m.name,)); p.start(); p.join()
print("own memory", m.buf[0]); m.close(); m.unlink()
for mode in ("rb", "r+b"):
    try: open(memory, mode); print("memory opened")
    except OSError as e: print("memory", e.errno)
`;

let place: Shipped;
let segment: number;
const memory = `/dev/shm/hermes-outside-${process.pid}`;

beforeAll(() => {
  const make = "import ctypes; print(ctypes.CDLL(None).shmget(0, 4096, 0o1666))";
  segment = Number(spawnSync("/usr/bin/python3", ["-c", make], { encoding: "utf8" }).stdout);
  writeFileSync(memory, "outside", { mode: 0o666 });
});
afterAll(() => {
  rmSync(memory, { force: true });
  spawnSync("ipcrm", ["-m", String(segment)]);
});

const EPERM = 1;
const CALLS = [
  "kill",
  "tgkill",
  "tkill",
  "process_vm_readv",
  "prlimit64",
  "setpriority",
  "sched_setaffinity",
  "pidfd_open",
];
const all = (result: string) => `{${CALLS.map((name) => `'${name}': ${result}`).join(", ")}}`;

asEachUser(
  (fresh) => {
    place = fresh;
  },
  () => {
    it.each(["run -p agent", "exec"])("%s: others are not reached, and the run's own are", (way) => {
      const outsider = place.start("sleep", "1000").pid!;
      place.write("reach.py", REACH);
      const { stdout, stderr } = place.hermes(
        way,
        `/usr/bin/python3 reach.py ${outsider} ${segment} ${memory}`,
      );
      expect(existsSync(`/proc/${outsider}`)).toBe(true);
      expect(readFileSync(memory, "utf8")).toBe("outside");
      expect(stdout.split("\n").filter(Boolean), stderr).toEqual([
        `outsider ${all(String(EPERM))}`,
        `child ${all("'done'")}`,
        `everybody ${EPERM}`,
        `segment ${EPERM} ${EPERM}`,
        "own segment done",
        "own memory 7",
        // With a view the run has a /dev/shm of its own.
        way === "exec" ? "memory 13" : "memory 2",
        "memory 13",
      ]);
    });
  },
);
