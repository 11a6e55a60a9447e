import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe } from "vitest";
import { built, needs, same } from "./both-ways.js";

needs("python3");

/** Rules on paths whose answers stand: native/fastpath/verdict-lookup.c answers. */
const standing = join(built, "standing.yaml");
writeFileSync(
  standing,
  `name: standing
rules:
  - { id: elsewhere, deny: [read, write, connect], path: "/nowhere/**", reason: It is not there. }
  - { id: publish, deny: exec, argv: [git, push], reason: It publishes commits. }
`,
);
const python = (name: string) => ({
  command: ["/usr/bin/python3", fileURLToPath(new URL(`./programs/${name}.py`, import.meta.url))],
});
const text = (script: string) => ({ command: ["/usr/bin/python3", "-c", script] });

for (const options of [[], ["-p", standing]])
  describe(options.length > 0 ? "with answers that stand" : "with every call decided", () => {
    same("without a number for a descriptor, nothing is emptied or made", {
      ...python("full-table"),
      options,
    });
    same("what was closed is closed: for leases, locks and watches", { ...python("copies"), options });
    same("sockets have names of any bytes", {
      ...text(`
import os, socket
for name in (b"\\xff", b"a\\xc3\\xa9", b"b\\xed\\xb2\\x80", b"./c\\xfe"):
    s, c = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    s.bind(name)
    s.listen()
    c.connect(name)
    print(os.fsencode(s.getsockname()), os.fsencode(c.getpeername()), sorted(os.listdir(b".")))
    os.unlink(name)
`),
      options,
    });
    same("programs take as many arguments as the kernel lets them", {
      ...text(`
import errno, subprocess
def run(*words):
    try: return subprocess.run(["/bin/true", *words]).returncode
    except OSError as error: return errno.errorcode[error.errno]
print(run(*["x"] * 10000), run(*["x" * 100] * 15000), run("x" * 100000), run("x" * 131072), run(*["x" * 1000] * 20000))
`),
      options,
    });
    same("arguments that cannot be read fail as the kernel says", {
      ...text(`
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
words = (ctypes.c_void_p * 3)(ctypes.cast(b"/bin/true", ctypes.c_void_p).value, 8, None)
for argv in (words, ctypes.c_void_p(8)):
    libc.execve(b"/bin/true", argv, None)
    print(errno.errorcode[ctypes.get_errno()])
`),
      options,
    });
  });
