import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HERMES, hermes } from "../../support/cli.js";

let folder: string;
let session: ChildProcessWithoutNullStreams;
let output: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-top-test-"));
});
afterEach(async () => {
  session.stdin.end();
  if (session.exitCode === null && session.signalCode === null) await once(session, "exit");
  rmSync(folder, { recursive: true, force: true });
});

/** A session that says a line when it is there, works until its stdin ends, and answers lines meanwhile. */
async function start(script: string, ...flags: string[]): Promise<void> {
  session = spawn(HERMES, ["run", "-q", ...flags, "--", "/usr/bin/python3", "-I", "-u", "-c", script], {
    cwd: folder,
  });
  output = "";
  session.stdout.on("data", (bytes) => {
    output += bytes;
  });
  await expect.poll(() => output).toMatch(/\n/);
}

const POLICY =
  "name: watched\nrules:\n  - { id: host, deny: read, path: /etc/hostname, reason: No. }\n  - { id: all, watch: [read, connect] }\n";
const WORK = `import os, socket, threading, sys
def work():
    while True:
        s = socket.socket(); s.connect_ex(('127.0.0.1', 9)); s.close()
        with open('data', 'rb') as f: f.read(1000)
        try: open('/etc/hostname')
        except OSError: pass
threading.Thread(target=work, daemon=True).start()
print('ready')
sys.stdin.read()`;

const look = (...args: string[]) => hermes(["top", "--once", ...args]);

describe("hermes top", () => {
  it("tells processes, calls, bytes, files, peers and refusals of a running session", async () => {
    writeFileSync(join(folder, "data"), "x".repeat(1000));
    const policy = join(folder, "p.yaml");
    writeFileSync(policy, POLICY);
    await start(WORK, "-p", policy, "-t", join(folder, "t.htrace"), "-e", "openat,read,connect");
    // biome-ignore lint/suspicious/noExplicitAny: the answer as its readers see it
    let seen: any;
    const isBusy = () => {
      seen = JSON.parse(look("--json", String(session.pid)).stdout).sessions[0];
      const { files, peers } = seen.activity;
      const data = files.find((f: { path: string }) => f.path.endsWith("/data"));
      const peer = peers.find((p: { address: string }) => p.address === "127.0.0.1:9");
      return (
        data?.read >= 1000 && peer?.calls > 0 && seen.summary.byAction.deny > 0 && seen.callsPerSecond > 0
      );
    };
    await expect.poll(isBusy).toBe(true);
    expect(seen).toMatchObject({
      supervisor: session.pid,
      command: expect.arrayContaining(["/usr/bin/python3"]),
      policies: [{ name: "watched" }],
      trace: { file: join(folder, "t.htrace") },
      activity: { processes: [{ pid: seen.pid }] },
    });
    expect(seen.tree.map((p: { pid: number }) => p.pid)).toContain(seen.pid);
    const text = look(String(seen.pid)).stdout;
    expect(text).toMatch(/1 session/);
    expect(text).toMatch(/calls\/s/);
    expect(text).toMatch(/refused[\s\S]*by watched\/host: No\./);
  });

  it("counts the processes of the program, and none of HERMES behind a strict fence", async () => {
    await start(
      "import os, sys; os.fork() or sys.stdin.read(); print('ready'); sys.stdin.read()",
      "--fence",
      "strict",
    );
    const commands = () =>
      JSON.parse(look("--json", "-d", "0.1", String(session.pid)).stdout).sessions[0].tree.map(
        (one: { command: string[] }) => one.command[0],
      );
    await expect.poll(commands).toEqual(["/usr/bin/python3", "/usr/bin/python3"]);
    expect(look(String(session.pid)).stdout).toContain("2 processes");
  });

  it("is not answered from inside the session", async () => {
    const attack = `import os, signal, sys
os.mkdir('hermes-top-inside'); fd = os.open('hermes-top-inside/answers', os.O_RDWR | os.O_CREAT)
ppid = lambda pid: int(open(f'/proc/{pid}/stat').read().rsplit(')', 1)[1].split()[1])
try: os.kill(ppid(ppid(os.getpid())), signal.SIGURG)
except PermissionError: pass
print('asked')
sys.stdin.readline(); print('found', os.fstat(fd).st_size)
sys.stdin.read()`;
    await start(attack);
    // Signals are taken in order: when we have an answer, theirs was looked at.
    expect(JSON.parse(look("--json", String(session.pid)).stdout).sessions).toHaveLength(1);
    session.stdin.write("now\n");
    await expect.poll(() => output).toMatch(/found \d+\n/);
    expect(output).toMatch(/found 0\n/);
  });

  it("updates in place on a terminal, and gives the terminal back", async () => {
    await start("import sys; print('ready'); sys.stdin.read()");
    const terminal = spawn("script", ["-qefc", `${HERMES} top -d 0.1 ${session.pid}`, "/dev/null"], {
      env: { ...process.env, TERM: "xterm" },
    });
    let screen = "";
    terminal.stdout.on("data", (bytes) => {
      screen += bytes;
    });
    const frames = () =>
      screen.split("\u001b[Hhermes top").length + screen.split("\u001b[H\u001b[1mhermes top").length - 2;
    await expect.poll(frames).toBeGreaterThanOrEqual(2);
    terminal.stdin.write("q");
    await once(terminal, "exit");
    expect(screen.startsWith("\u001b[?1049h")).toBe(true);
    expect(screen.endsWith("\u001b[?1049l")).toBe(true);
  });

  it("says when there is nothing to see, and what it does not understand", async () => {
    await start("import sys; print('ready'); sys.stdin.read()");
    expect(look("1")).toMatchObject({ status: 1, stdout: expect.stringMatching(/no sessions/) });
    expect(look("me").status).toBe(2);
    expect(look("-d", "0").status).toBe(2);
    // A process that has nothing to do with it does not notice being asked.
    expect(spawnSync("sh", ["-c", "kill -URG $$; echo alive"], { encoding: "utf8" }).stdout).toBe("alive\n");
  });
});

describe("a trace that is being written", () => {
  it("can be followed, although the program is silent", async () => {
    const trace = join(folder, "t.jsonl");
    await start("import sys; print('ready'); sys.stdin.read()", "-t", trace, "-e", "openat");
    const count = () =>
      Number(JSON.parse(hermes(["query", "--json", trace, "SELECT count(*) AS n FROM calls"]).stdout).n);
    await expect.poll(count).toBeGreaterThan(5);
  });
});
