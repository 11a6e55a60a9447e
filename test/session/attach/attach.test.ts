import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AttachOptions, ask, definePolicy, type Session, startAttached } from "hermes-runtime";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { readTarget } from "../../../src/kernel/process/attach-target.js";
import { HERMES } from "../../support/cli.js";
import { program } from "../../support/programs.js";
import { Random } from "../../support/random.js";
import { until } from "../../support/until.js";

const folder = mkdtempSync(join(tmpdir(), "hermes-attach-"));
const policy = join(folder, "policy.yaml");
writeFileSync(
  policy,
  "name: p\nrules:\n  - { id: no, deny: read, path: /etc/hostname, errno: EXDEV, reason: Not that. }\n",
);
const running: ChildProcess[] = [];

afterEach(() => {
  for (const child of running.splice(0)) child.kill("SIGHUP");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Not a child of ours, which Node itself would wait for. */
const APART =
  'exec 3<&0; "$@" <&3 3<&- & echo "pid $!"; trap "kill -9 $!" HUP; while :; do wait $!; s=$?; kill -0 $! 2>/dev/null || exit $s; done';

/** A program that runs, its lines, and a way to wait for one. */
async function launch(command: string, ...args: string[]) {
  const child = spawn("sh", ["-c", APART, "sh", command, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  running.push(child);
  let text = "";
  child.stdout.on("data", (bytes: Buffer) => (text += bytes));
  const saw = async (what: RegExp, from = 0) => {
    while (!what.test(text.slice(from))) await once(child.stdout, "data");
    return what.exec(text.slice(from))!;
  };
  const ended = once(child, "exit");
  const pid = Number((await saw(/pid (\d+)\n/))[1]);
  return { child, pid, saw, length: () => text.length, ended };
}

/** Prints what comes of opening a file, again and again. */
const OPENER = `
import time
while True:
    try:
        open("/etc/hostname").close(); print("opened", flush=True)
    except OSError as error: print("errno", error.errno, flush=True)
    time.sleep(0.01)`;

/** Prints what an environment variable is, while other threads ask for it all the time. */
const ASKER = `
import ctypes, threading, time
libc = ctypes.CDLL(None)
libc.getenv.restype = ctypes.c_char_p
def ask():
    while True: libc.getenv(b"ASKED")
for _ in range(2): threading.Thread(target=ask, daemon=True).start()
while True:
    print("is", libc.getenv(b"ASKED"), flush=True)
    time.sleep(0.01)`;

async function attached(options: AttachOptions): Promise<Session> {
  let started = () => {};
  const up = new Promise<void>((resolve) => {
    started = resolve;
  });
  const session = await startAttached({ reload: false, ...options }, { started });
  await Promise.race([up, session.result]);
  return session;
}

async function leave(session: Session) {
  session.end();
  const result = await session.result;
  expect(result).toMatchObject({ detached: true, exitCode: 0, problems: [] });
  return result;
}

it("leaves no filter in a program when there was no policy to decide by one", async () => {
  const { pid, saw, length } = await launch("python3", "-c", OPENER);
  await saw(/opened/);
  const session = await attached({ pid });
  await saw(/opened/, length());
  session.end();
  expect((await session.result).protections.attached).toContain("no policy needs a filter");
  await saw(/opened/, length());
  expect(readFileSync(`/proc/${pid}/status`, "utf8")).toMatch(/^Seccomp:\t0$/m);
});

it("hooks functions of a running program with several threads, and takes the hooks away again", async () => {
  const hook = join(folder, "hook.ts");
  writeFileSync(
    hook,
    `import { definePolicy, deny } from "hermes-runtime";
    export default definePolicy({ name: "h", on: { "libc!getenv": () => deny("Not that.") } });`,
  );
  const asker = await launch("env", "ASKED=yes", "python3", "-c", ASKER);
  await asker.saw(/is b'yes'/);
  for (let round = 0; round < 2; round++) {
    const session = await attached({ pid: asker.pid, policy: hook });
    await asker.saw(/is None/, asker.length());
    const { summary } = await leave(session);
    expect(summary.decisions[0]).toMatchObject({ policy: "h", call: "libc!getenv" });
    await asker.saw(/is b'yes'/, asker.length());
  }
});

it("ends with the program where its execs are judged, which takes both doors", async () => {
  const execs = join(folder, "execs.yaml");
  writeFileSync(execs, "name: e\nrules:\n  - { id: no, deny: exec, path: /usr/bin/id, reason: Not that. }\n");
  const script = "read line; id 2> /dev/null || echo refused; exec true";
  const { child, pid, saw } = await launch("sh", "-c", script);
  const session = await attached({ pid, policy: execs });
  child.stdin.write("go\n");
  await saw(/refused/);
  const { exitCode } = await session.result;
  expect(exitCode).toBe(0);
});

describe.each(["notify", "trace"] as const)("attached, by the %s door", (door) => {
  it("decides on what a running program does, and leaves it as it was", async () => {
    const opener = await launch("python3", "-c", OPENER);
    await opener.saw(/opened/);
    for (let round = 0; round < 3; round++) {
      const session = await attached({ pid: opener.pid, policy, door });
      await opener.saw(/errno 18/, opener.length());
      const { summary } = await leave(session);
      expect(summary.decisions[0]).toMatchObject({ policy: "p", rule: "no", call: "openat" });
      await opener.saw(/opened/, opener.length());
    }
  });

  it("harms none of sixteen threads, whenever it comes and goes", async () => {
    const random = new Random(9);
    const steady = await launch(program("steady"));
    await steady.saw(/ready/);
    const rounds = 6;
    for (let round = 0; round < rounds; round++) {
      const session = await attached({ pid: steady.pid, policy, door });
      await new Promise((done) => setTimeout(done, random.below(60)));
      await leave(session);
    }
    process.kill(steady.pid, "SIGTERM");
    const [, interruptions] = await steady.saw(/interruptions (\d+)|wrong.*/);
    expect(interruptions).toBe("0"); // of eight that a careless tracer causes in each round
    expect(await steady.ended).toEqual([7, null]);
  });

  it("may be killed at any time: the program goes on, and can be attached to again", async () => {
    const opener = await launch("python3", "-c", OPENER);
    await opener.saw(/opened/);
    for (let round = 0; round < 2; round++) {
      const supervisor = spawn(HERMES, ["attach", "--door", door, "-p", policy, String(opener.pid)], {
        stdio: "ignore",
      });
      await opener.saw(/errno 18/, opener.length());
      supervisor.kill("SIGKILL");
      await once(supervisor, "exit");
      await opener.saw(/opened/, opener.length());
    }
    const session = await attached({ pid: opener.pid, policy, door });
    await opener.saw(/errno 18/, opener.length());
    await leave(session);
  });

  it("leaves one stopped that was stopped, and goes with its children and what they become", async () => {
    const shell = await launch(
      "bash",
      "-c",
      'while read line; do cat /etc/hostname > /dev/null && echo "$line read" || echo "$line refused"; done',
    );
    process.kill(shell.pid, "SIGSTOP");
    await until(() => readTarget(shell.pid)?.state === "T", "the shell to stop");
    const session = await attached({ pid: shell.pid, policy, door });
    shell.child.stdin.write("one\n");
    await leave(session);
    // A process that is let go with a signal runs for a moment, until the signal stops it.
    await until(() => readTarget(shell.pid)?.state === "T", "the shell to be stopped again");
    const again = await attached({ pid: shell.pid, policy, door });
    process.kill(shell.pid, "SIGCONT");
    await shell.saw(/one refused/);
    await leave(again);
    shell.child.stdin.write("two\n");
    await shell.saw(/two read/);
  });

  it("refuses what was not answered when it leaves", async () => {
    const asking = definePolicy({
      name: "asking",
      actions: ["ask"],
      on: { openat: (e) => (e.path === "/etc/hostname" ? ask("May it?") : undefined) },
    });
    const opener = await launch("python3", "-c", OPENER);
    await opener.saw(/opened/);
    let asked = () => {};
    const question = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const session = await startAttached(
      { pid: opener.pid, policy: asking, door, reload: false, ask: { patience: 60_000 } },
      { question: () => asked() },
    );
    await question;
    const from = opener.length();
    await leave(session);
    await opener.saw(/errno 13[\s\S]*opened/, from);
  });

  it("sees how the program ends", async () => {
    const shell = await launch("bash", "-c", "read line; exit 23");
    const session = await attached({ pid: shell.pid, policy, door });
    shell.child.stdin.end("go\n");
    const result = await session.result;
    expect(result).toMatchObject({ exitCode: 23 });
    expect(result.detached).toBeUndefined();
  });
});
