import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HERMES } from "../../support/cli.js";
import { OrdinaryUser } from "../../support/ordinary-user.js";
import { until } from "../../support/until.js";

/** Real programs at ordinary work, each in an empty workspace. What they print is what they print without a fence. */
const WORK: Readonly<Record<string, readonly string[]>> = {
  bash: [
    "bash",
    "-c",
    "x=$(echo hi | tr a-z A-Z); echo $x; cat <(echo sub) <<< here; sleep 0.1 & wait; printf '%s\\n' c a b | sort",
  ],
  git: [
    "sh",
    "-c",
    "git init -q . && echo a > a && git add a && git -c user.name=a -c user.email=b commit -qm x && git log --format=%s && git status --short",
  ],
  python3: [
    "python3",
    "-c",
    "import multiprocessing as m, socket, subprocess, tempfile\nt = tempfile.NamedTemporaryFile()\nprint(subprocess.run(['echo', 'child'], capture_output=True).stdout)\ns = socket.create_server(('127.0.0.1', 0))\nsocket.create_connection(s.getsockname())\nprint(m.Pool(2).map(abs, [-1, -2]))",
  ],
  node: [
    process.execPath,
    "-e",
    "const fs = require('fs'); fs.writeFileSync('n', 'x'); console.log(require('child_process').execSync('cat n').toString(), fs.mkdtempSync('/tmp/x').length); new (require('worker_threads').Worker)('console.log(1)', { eval: true })",
  ],
  "gcc and make": [
    "sh",
    "-c",
    "echo 'int main(void) { return 7; }' > a.c && printf 'b: a.c\\n\\tgcc -o b a.c\\n' > Makefile && make -s && ./b; echo $?",
  ],
  tar: ["sh", "-c", "mkdir d && echo x > d/f && tar czf t.tgz d && rm -r d && tar xzf t.tgz && cat d/f"],
  sqlite3: ["sqlite3", "db", "create table t(x); insert into t values (1), (2); select sum(x) from t;"],
  redis: [
    "sh",
    "-c",
    "redis-server --unixsocket $PWD/s --port 0 --save '' > log & until redis-cli -s $PWD/s ping 2>/dev/null | grep -q PONG; do sleep 0.1; done; redis-cli -s $PWD/s set a b; redis-cli -s $PWD/s get a; redis-cli -s $PWD/s shutdown nosave; wait",
  ],
  perl: [
    "perl",
    "-e",
    "open my $f, '>', 'p' or die; print $f 'x'; close $f; print -s 'p', qq(\\n); exec 'echo', 'done'",
  ],
};

describe("programs do their work under a strict fence", () => {
  let user: OrdinaryUser;
  let results: Record<string, { stdout: string; status: number }>;
  beforeAll(() => {
    user = new OrdinaryUser();
    // One run of Node for all, since starting it is what takes longest.
    const { stdout, stderr } = user.run(`
      import { definePolicy, run } from "./dist/index.js";
      import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
      const policy = definePolicy({ name: "p", actions: ["deny"], on: { "%file"() {}, "%network"() {}, execve() {} } });
      const results = {};
      for (const [name, command] of Object.entries(${JSON.stringify(WORK)})) {
        const cwd = "work-" + Object.keys(results).length;
        mkdirSync(cwd);
        const out = openSync(cwd + ".out", "w");
        const { exitCode } = await run({ command, policy, cwd, fence: "strict", stdio: [openSync("/dev/null"), out, 2] });
        closeSync(out);
        results[name] = { stdout: readFileSync(cwd + ".out", "utf8"), status: exitCode };
      }
      console.log(JSON.stringify(results));
    `);
    expect(stderr).toBe("");
    results = JSON.parse(stdout);
  });
  afterAll(() => user.remove());

  for (const [name, [file, ...args]] of Object.entries(WORK))
    it(name, () => {
      const bare = mkdtempSync(join(tmpdir(), "hermes-bare-"));
      const work = mkdtempSync(join(tmpdir(), "hermes-work-"));
      try {
        const { stdout, status } = spawnSync(file!, args, { cwd: bare, encoding: "utf8" });
        expect(results[name]).toEqual({ stdout, status });
        const fenced = spawnSync(HERMES, ["run", "-q", "--fence", "strict", "--", file!, ...args], {
          cwd: work,
          encoding: "utf8",
        });
        expect({ stdout: fenced.stdout, status: fenced.status }, fenced.stderr).toEqual({ stdout, status });
      } finally {
        for (const folder of [bare, work]) rmSync(folder, { recursive: true, force: true });
      }
    });
});

describe("processes behind a strict fence", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "hermes-processes-"));
  });
  const started: ChildProcess[] = [];
  afterAll(() => {
    for (const child of started) child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
  const start = (script: string) => {
    const child = spawn(HERMES, ["run", "-q", "--fence", "strict", "--", "sh", "-c", script], {
      cwd: folder,
    });
    started.push(child);
    return child;
  };

  const file = (name: string) => join(folder, name);
  /** Of all its threads. */
  const children = (pid: number) =>
    readdirSync(`/proc/${pid}/task`).flatMap((tid) =>
      readFileSync(`/proc/${pid}/task/${tid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number),
    );
  const isGone = (pid: number) =>
    !existsSync(`/proc/${pid}`) || /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));

  /** A program with a child, grandchildren that left, and a file that says that all run. */
  async function session() {
    const script = `(sleep 1000 & setsid sleep 1000 & echo ready > ${file("ready")}; wait) & wait`;
    rmSync(file("ready"), { force: true });
    const hermes = start(script);
    await until(() => existsSync(file("ready")));
    const [launcher] = children(hermes.pid!).filter((pid) =>
      readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("hermes"),
    );
    const all = (pid: number): number[] => [pid, ...children(pid).flatMap(all)];
    return { hermes, launcher: launcher!, inside: all(launcher!).slice(1) };
  }

  it("all end when the supervisor is killed", async () => {
    const { hermes, inside } = await session();
    expect(inside.length).toBeGreaterThanOrEqual(4);
    hermes.kill("SIGKILL");
    await until(() => inside.every(isGone));
  });

  it("all end when the launcher is killed", async () => {
    const { hermes, launcher, inside } = await session();
    const ended = new Promise<number | null>((done) => hermes.on("exit", done));
    process.kill(launcher, "SIGKILL");
    await until(() => inside.every(isGone));
    expect(await ended).toBe(125);
  });

  it("get the signals that HERMES is sent", async () => {
    const script = `trap 'echo got; exit 5' TERM; echo ready > ${file("signal")}; while :; do sleep 0.1; done`;
    const hermes = start(script);
    await until(() => existsSync(file("signal")));
    const ended = new Promise<number | null>((done) => hermes.on("exit", done));
    hermes.kill("SIGTERM");
    expect(await ended).toBe(5);
  });
});
