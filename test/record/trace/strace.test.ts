import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseFilter } from "../../../src/record/trace/filter.js";
import { hermes } from "../../support/cli.js";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-trace-"));
  writeFileSync(
    join(folder, 'odd \u001b[31m"name"\n'),
    "text\u0001\u00e9 and more than fits into thirty-two characters",
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SCRIPT = `
import os, socket, resource
os.getppid()
for name in sorted(os.listdir(".")):
    with open(name, "rb", buffering=0) as f: f.read(20); f.read(200); os.fstat(f.fileno())
try: os.open("missing", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_DIRECTORY)
except OSError: pass
os.close(os.open("made", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o640))
os.rename("made", "renamed"); os.unlink("renamed"); os.mkdir("d", 0o711); os.rmdir("d")
r, w = os.pipe(); os.write(w, b"\\x00\\x017\\xff\\t" * 10); os.read(r, 7)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(("127.0.0.1", 9)); s.close()
s = socket.socket(socket.AF_UNIX)
for peer in ("/no/such", "\\0abstract"):
    try: s.connect(peer)
    except OSError: pass
try: os.close(99)
except OSError: pass
resource.getrlimit(resource.RLIMIT_NOFILE)
os.kill(os.getpid(), 0)
os._exit(5)
`;
const CALLS =
  "openat,read,write,close,fstat,newfstatat,rename,unlink,mkdir,rmdir,pipe2,connect,prlimit64,kill,getppid,execve,exit_group";

/** What differs by nature: numbers of processes and inodes, addresses, how the environment is shown, our AT_FDCWD without a folder. */
function comparable(text: string): string[] {
  const pid = /^(\d+)/.exec(text)![1]!;
  return text
    .replaceAll(pid, "PID")
    .replaceAll(/:\[\d+\]/g, ":[N]")
    .replaceAll(/<UNIX-STREAM:|<UDP:/g, "<socket:")
    .replaceAll(/0x[0-9a-f]+ (\/\* \d+ vars \*\/)/g, "[$1]")
    .replaceAll(/AT_FDCWD<[^>]*>/g, "AT_FDCWD")
    .replaceAll(/\b0x[0-9a-f]+/g, "?")
    .replaceAll(/getppid\(\) += \d+/g, "getppid()")
    .replaceAll(/O_\w+(\|O_\w+)+/g, (flags) => flags.split("|").sort().join("|"))
    .replaceAll(/ +/g, " ")
    .split("\n");
}

/** From the first call of the script itself on. */
const ofScript = (lines: string[]) => lines.slice(lines.findLastIndex((line) => line.includes("getppid")));

describe("hermes trace", () => {
  it("writes what strace writes", () => {
    const command = ["/usr/bin/python3", "-I", "-c", SCRIPT];
    const [theirs, ours] = [join(folder, "..", `${process.pid}-s`), join(folder, "..", `${process.pid}-h`)];
    const strace = spawnSync("strace", ["-f", "-y", "-e", `trace=${CALLS}`, "-o", theirs, ...command], {
      cwd: folder,
    });
    const traced = hermes(["trace", "-f", "-y", "-e", `trace=${CALLS}`, "-o", ours, "--", ...command], {
      cwd: folder,
    });
    expect([strace.status, traced.status]).toEqual([5, 5]);
    const expected = ofScript(comparable(readFileSync(theirs, "utf8")));
    expect(expected.length).toBeGreaterThan(25);
    expect(ofScript(comparable(readFileSync(ours, "utf8")))).toEqual(
      // Descriptors inside arguments that are lists or structs stay numbers.
      expected.map((line) => line.replaceAll(/\[(\d+)<pipe:\[N\]>, (\d+)<pipe:\[N\]>\]/g, "[$1, $2]")),
    );
    rmSync(theirs);
    rmSync(ours);
  });

  it("goes to stderr, with process numbers as soon as there are several, and leaves stdout alone", () => {
    const { stdout, stderr, status } = hermes([
      "trace",
      "-e",
      "execve",
      "--",
      "sh",
      "-c",
      "/bin/echo hello; exit 3",
    ]);
    expect({ stdout, status }).toEqual({ stdout: "hello\n", status: 3 });
    expect(stderr).toMatch(
      /^execve\("\S+", \["sh", "-c", "\/bin\/echo hello; exit 3"\], \[\/\* \d+ vars \*\/\]\) = 0$/m,
    );
    expect(stderr).toMatch(/^\[pid +\d+\] execve\("\/bin\/echo", /m);
    expect(stderr).toMatch(/^(?:\[pid +\d+\] )?\+\+\+ exited with 3 \+\+\+$/m);
  });

  it("shows times as strace does: -t, -tt, -ttt, -r, -T", () => {
    const first = (...flags: string[]) =>
      hermes(["trace", ...flags, "-e", "openat", "--", "true"]).stderr.split("\n")[0]!;
    expect(first("-t")).toMatch(/^\d\d:\d\d:\d\d openat\(/);
    expect(first("-tt")).toMatch(/^\d\d:\d\d:\d\d\.\d{6} openat\(/);
    expect(first("-ttt")).toMatch(/^\d{10}\.\d{6} openat\(/);
    expect(first("-r")).toMatch(/^ {5}0\.000000 openat\(/);
    expect(first("-T")).toMatch(/ = 3 <\d\.\d{6}>$/);
  });

  it("filters by outcome, and shows denials whatever the filter says", () => {
    const policy = join(folder, "p.yaml");
    writeFileSync(
      policy,
      "name: p\nrules:\n  - { id: host, deny: read, path: /etc/hostname, reason: Not yours. }\n",
    );
    const script = ["sh", "-c", "cat /etc/hostname /no/such 2>/dev/null"];
    const failed = hermes(["trace", "-Z", "-e", "openat", "--", ...script])
      .stderr.trim()
      .split("\n");
    expect(failed.filter((line) => line.includes("openat")).every((line) => /= -1 E/.test(line))).toBe(true);
    const good = hermes([
      "trace",
      "-e",
      "status=successful",
      "-p",
      policy,
      "-e",
      "openat",
      "--",
      ...script,
    ]).stderr;
    expect(good).toMatch(
      /"\/etc\/hostname", O_RDONLY\) = -1 EACCES \(Permission denied\) \(DENY by p\/host: Not yours\.\)/,
    );
    expect(good).not.toMatch(/\/no\/such/);
  });

  it("sums up with -c", () => {
    const { stderr } = hermes([
      "trace",
      "-c",
      "-e",
      "openat,close",
      "--",
      "cat",
      "/etc/hostname",
      "/no/such",
    ]);
    const rows = stderr.slice(stderr.indexOf("% time")).trim().split("\n");
    expect(rows[0]).toBe("% time     seconds  usecs/call     calls    errors syscall");
    const count = (name: string) => Number(new RegExp(`(\\d+) +(?:\\d+ )?${name}$`, "m").exec(stderr)![1]);
    expect(count("total")).toBe(count("openat") + count("close"));
  });

  it("writes JSON lines with --json", () => {
    const { stderr } = hermes(["trace", "--json", "-e", "openat", "--", "true"]);
    const records = stderr
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(records[0]).toMatchObject({ hermes: "trace", command: ["true"] });
    expect(records.some((r) => r.name === "openat")).toBe(true);
  });

  it("takes only what it understands", () => {
    expect(hermes(["trace", "-e", "opnat", "--", "true"])).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/did you mean openat/),
    });
    expect(hermes(["trace", "-e", "inject=openat:error=EIO", "--", "true"])).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/inject=… is not known here/),
    });
    expect(hermes(["trace"]).status).toBe(2);
  });
});

describe("strace's expressions", () => {
  const names = (...expressions: string[]) => parseFilter(expressions).events!;

  it("choose calls by name, class, pattern and exception", () => {
    expect(names("openat")).toEqual(["openat"]);
    expect(names("trace=open,openat", "read")).toEqual(["open", "openat", "read"]);
    expect(names("t=?nosuchcall,close")).toEqual(["close"]);
    expect(names("%file")).toContain("unlinkat");
    expect(names("trace=file")).toEqual(names("%file"));
    expect(names("%net")).toEqual(names("%network"));
    expect(names("%%stat")).toContain("statx");
    expect(names("/^getp")).toEqual(expect.arrayContaining(["getpid", "getppid", "getpgid"]));
    expect(names("!read,write")).not.toContain("read");
    expect(names("!read,write").length).toBe(names("all").length - 2);
    expect(names("trace=none")).toEqual([]);
    expect(parseFilter([])).toEqual({});
  });

  it("choose by outcome", () => {
    expect(parseFilter(["status=failed,unfinished"]).status).toEqual(["failed", "unfinished"]);
    expect(parseFilter(["status=!failed"]).status).toEqual(["successful", "unfinished"]);
    expect(() => parseFilter(["status=happy"])).toThrow(/one of successful/);
  });
});
