import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hermes } from "../support/cli.js";
import { program } from "../support/programs.js";

/** Execs that are decided on at the notify door, and verified by tracing their caller for that one call. */

const DOORS = ["notify", "auto"] as const;
const RULES = String.raw`name: test
rules:
  - { id: word, deny: exec, argv_matches: '^\S*echo (is )?forbidden$', reason: Not this word. }
  - { id: variable, deny: exec, env: { WORD: forbidden }, reason: Not this variable. }
`;
const TRACER = "grep TracerPid /proc/self/status";
let folder: string;
let policy: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-exec-"));
  policy = join(folder, "policy.yaml");
  writeFileSync(policy, RULES);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function under(door: string, command: readonly string[], options: readonly string[] = []) {
  const result = hermes(["run", "-p", policy, "--door", door, ...options, "--", ...command], { cwd: folder });
  const lines = result.stdout.split("\n").filter(Boolean);
  return { ...result, lines };
}
const python = (door: string, script: string) => under(door, ["python3", "-c", script]);

describe.each(DOORS)("with --door %s", (door) => {
  it("rules on exec are served by the notify door alone, and programs run untraced", () => {
    const { stdout, stderr } = under(door, ["sh", "-c", `${TRACER}; exec ${TRACER}`]);
    expect(stdout).toBe("TracerPid:\t0\nTracerPid:\t0\n");
    expect(stderr).toContain("active: notify door,");
  });

  it("a word that another thread of a vfork parent exchanges while the exec waits never runs", () => {
    const { lines, stderr } = under(door, [program("flipped-words"), "word", "300", "/bin/echo", "is"]);
    expect(lines).toContain("is permitted");
    expect(lines).not.toContain("is forbidden");
    expect(lines.at(-1)).toMatch(/^killed [1-9]/);
    expect(stderr).toContain("was in place of what was decided on");
  });

  it("neither does an environment that is exchanged, where a rule looks at it", () => {
    const { lines } = under(door, [program("flipped-words"), "variable", "300", "/usr/bin/env"]);
    expect(lines).toContain("WORD=permitted");
    expect(lines).not.toContain("WORD=forbidden");
    expect(lines.at(-1)).toMatch(/^killed [1-9]/);
  });

  it("200 execs at a time all run, and each is judged", () => {
    const script = "for i in $(seq 200); do /bin/echo $i & done; wait; /bin/echo forbidden";
    const { lines, stderr } = under(door, ["bash", "-c", script]);
    expect(lines.map(Number).sort((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, i) => i + 1));
    expect(stderr).toMatch(/deny\s+execve\s+×1 /);
  });

  it("threads that exec at the same time leave one program, from whichever of them", () => {
    const { lines } = python(
      door,
      `
import os, threading
for i in range(40):
    if (pid := os.fork()) == 0:
        for name in "abcd":
            threading.Thread(target=os.execv, args=("/bin/echo", ["echo", "ran"])).start()
        os.execv("/bin/echo", ["echo", "ran"])
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
`,
    );
    expect(lines).toEqual(Array(40).fill("ran"));
  });

  it("an exec that fails gives the kernel's error, and the caller goes on untraced", () => {
    const script = `
import errno, os, sys
open("text", "w").write("no program"); os.chmod("text", 0o755)
open("script", "w").write("#!/nonexistent/interpreter\\n"); os.chmod("script", 0o755)
open("plain", "w").write("x")
for file, words in (("text", ["x"]), ("script", ["x"]), ("plain", ["x"]), ("none", ["x"]), ("/", ["x"]), ("text/x", ["x"]), ("/bin/true", ["x" * 200000])):
    try: os.execv(file, words)
    except OSError as e: print(errno.errorcode[e.errno])
print(*[line.strip() for line in open("/proc/self/status") if line.startswith("TracerPid")])
`;
    expect(python(door, script).lines).toEqual([
      ...["ENOEXEC", "ENOENT", "EACCES", "ENOENT", "EACCES", "ENOTDIR", "E2BIG"],
      "TracerPid:\t0",
    ]);
  });

  it("a thread whose exec fails may make the next one at once", () => {
    const script = `
import os
for i in range(300):
    try: os.execv("/etc/passwd/x", ["x"])
    except NotADirectoryError: pass
os.execv("/bin/echo", ["echo", "ran"])
`;
    expect(python(door, script).lines).toEqual(["ran"]);
  });

  it("signals, stops and kills that come during an exec have their effect, and none is lost", () => {
    const script = `
import os, signal, random
ended = []
for i in range(120):
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        os.execv("/bin/sh", ["sh", "-c", "exec sh -c 'exec /bin/true'"])
    for _ in range(random.randrange(30)):
        os.kill(pid, random.choice((signal.SIGSTOP, signal.SIGCONT, signal.SIGCONT, signal.SIGWINCH)))
    last = i % 3
    os.kill(pid, signal.SIGKILL if last == 0 else signal.SIGCONT)
    status = os.waitpid(pid, 0)[1]
    ended.append(status in (0, 9) if last == 0 else status == 0)
print(all(ended), len(ended))
try: os.wait()
except ChildProcessError: print("no child left")
`;
    expect(python(door, script).lines).toEqual(["True 120", "no child left"]);
  });

  it("a parent waits for its children as without HERMES, and sees no stop of theirs", () => {
    const script = `
import os, signal
seen = []
signal.signal(signal.SIGCHLD, lambda *_: seen.append(1))
for i in range(30):
    pid = os.posix_spawn("/bin/true", ["true"], {})
    assert os.waitid(os.P_PID, pid, os.WEXITED | os.WSTOPPED).si_code == os.CLD_EXITED
print(len(seen))
`;
    expect(python(door, script).lines).toEqual(["30"]);
  });

  it("the program of a tracer in the session is verified in its tracer's stop", () => {
    const script =
      "strace -f -qq -o log sh -c '/bin/echo is permitted; /bin/echo is forbidden'; grep -c exited log";
    const { lines, stderr } = under(door, ["bash", "-c", script]);
    expect(lines[0]).toBe("is permitted");
    expect(lines).not.toContain("is forbidden");
    expect(stderr).toMatch(/deny\s+execve\s+×1 /);
  });
});

it.each([
  ["trace", []],
  ["auto", ["--live", "uname"]],
])("with --door %s %s the trace door verifies them", (door, options) => {
  const { lines, stderr } = under(
    door,
    [program("flipped-words"), "word", "100", "/bin/echo", "is"],
    options,
  );
  expect(lines).not.toContain("is forbidden");
  expect(stderr).toContain("active: notify and trace doors");
});

it("a session whose program is killed during an exec ends", () => {
  const script = "for i in $(seq 50); do /bin/true & done; kill -9 $$";
  expect(under("notify", ["bash", "-c", script]).status).toBe(137);
});
