import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { HERMES, hermes, shell } from "../support/cli.js";
import { program } from "../support/programs.js";
import { root } from "../support/root.js";

/** What happens when something fails, or there is too much of something: docs/faults.md has the table. */

let folder: string;
let policy: string;
let child: ChildProcess | undefined;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-faults-"));
  policy = file("folders.yaml", "name: folders\nrules:\n  - { id: no, deny: mkdir, path: /nowhere/** }\n");
});
afterEach(() => {
  child?.kill("SIGKILL");
  child = undefined;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

/** Processes that carry this session's mark in their environment. */
function marked(mark: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const state = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]![0];
        return state !== "Z" && readFileSync(`/proc/${pid}/environ`, "latin1").includes(`MARK=${mark}`);
      } catch {
        return false;
      }
    });
}

const BUSY =
  "(setsid sh -c 'trap \"\" HUP TERM; while :; do sleep 0.05; done' &) & while :; do sleep 0.05; done";

describe("a process of HERMES is killed with -9", () => {
  for (const door of ["notify", "trace"])
    it(`the thread that decides: no process of the session is left, through the ${door} door`, async () => {
      const mark = `worker-${door}-${process.pid}`;
      const options = ["-p", policy, "--door", door, "--env", `MARK=${mark}`];
      child = spawn(HERMES, ["run", "-q", ...options, "--", "sh", "-c", BUSY], { stdio: "ignore" });
      const ended = once(child, "exit");
      await expect.poll(() => marked(mark).length).toBeGreaterThanOrEqual(3);
      const threads = readdirSync(`/proc/${child.pid}/task`).map(Number);
      process.kill(Math.max(...threads), "SIGKILL");
      expect(await ended).toEqual([null, "SIGKILL"]);
      await expect.poll(() => marked(mark)).toEqual([]);
    });

  it("the program: its status is told, and its children stay in the session", () => {
    const { status, stdout } = hermes([
      ...["run", "-q", "-p", policy, "--", "sh", "-c"],
      "(sleep 0.3; mkdir /nowhere/x 2>/dev/null || echo still decided) & kill -9 $$",
    ]);
    expect([status, stdout]).toEqual([137, "still decided\n"]);
  });
});

describe("memory runs out", () => {
  it("for the program: it is told so, as without us", () => {
    const eat = "import sys\ntry:\n  x = bytearray(1 << 34)\nexcept MemoryError:\n  print('no memory')";
    const done = hermes(["run", "-q", "-p", policy, "--limit", "as=4000000000", "--", "python3", "-c", eat]);
    expect([done.status, done.stdout]).toEqual([0, "no memory\n"]);
  });

  it("for the supervisor, by a policy that keeps everything: no process of the session is left", async () => {
    const leak = file(
      "leak.ts",
      `import { definePolicy } from "hermes-runtime"; const kept: unknown[] = []; export default definePolicy({ name: "leak", actions: ["deny"], on: { getppid() { for (;;) kept.push(new Array(100000).fill({})); } } });`,
    );
    const mark = `memory-${process.pid}`;
    const main = join(root, "dist/cli/main.cjs");
    const options = [
      "run",
      "-q",
      "-p",
      leak,
      "--env",
      `MARK=${mark}`,
      "--",
      "perl",
      "-e",
      "getppid; sleep 1000",
    ];
    child = spawn(process.execPath, ["--max-old-space-size=64", main, ...options], { stdio: "ignore" });
    const [code, signal] = await once(child, "exit");
    expect([code === 0, signal]).not.toEqual([true, null]);
    await expect.poll(() => marked(mark)).toEqual([]);
  });
});

describe("there is no more of something", () => {
  it("descriptors, in the middle of a run: what cannot be decided is refused, and the run goes on", () => {
    const { status, stdout, signal } = shell(
      `ulimit -n 40; hermes run -q -p ${policy} -- sh -c 'for i in 1 2 3 4 5 6 7 8 9; do (sleep 0.3; mkdir ${folder}/fd$i; rmdir ${folder}/fd$i) & done; wait; echo end'`,
    );
    expect(signal).toBeNull();
    if (status !== 125) expect([status, stdout]).toEqual([0, "end\n"]);
  });

  it("space for the trace: the run stops, unless it was told to go on", () => {
    expect(hermes(["run", "-q", "-t", "/dev/full", "--", "sh", "-c", "ls -R /usr/include"]).status).toBe(125);
    expect(
      hermes(["run", "-q", "-t", "/dev/full", "--on-trace-error", "continue", "--", "sh", "-c", "exit 7"])
        .status,
    ).toBe(7);
  });

  it("a reader of our stdout: the program learns it as without us", () => {
    const under = shell("hermes run -q -- sh -c 'yes; echo $? >&2' | head -1; true");
    expect(under.stdout).toBe("y\n");
  });
});

describe("there is much of something", () => {
  const crowd = (door: string, kind: string, count: number) =>
    hermes(["run", "-q", "-p", policy, "--door", door, "--", program("crowd"), kind, String(count)], {
      cwd: folder,
      timeout: 500_000,
    });
  it.each([
    ["notify", "processes", 3_000],
    ["trace", "processes", 1_000],
    ["notify", "threads", 1_000],
    ["trace", "threads", 1_000],
    ["notify", "calls", 25_000],
    ["trace", "calls", 5_000],
    ["notify", "execs", 200],
    ["trace", "execs", 200],
    ["notify", "signals", 2_000],
    ["trace", "signals", 500], // each stops it once more
  ])(
    "through the %s door: %s, %i of them, and none goes wrong",
    { timeout: 600_000 },
    (door, kind, count) => {
      const { status, stdout, stderr } = crowd(door, kind, count);
      expect([status, stdout], stderr).toEqual([0, `made ${count}\n`]);
    },
  );

  it("of one process's calls: another is served meanwhile", () => {
    const { status, stdout } = hermes(
      [
        ...["run", "-q", "--orphans", "kill", "-p", policy, "--", "sh", "-c"],
        `${program("crowd")} calls 100000000 & for i in 1 2 3 4 5 6 7 8 9 10; do mkdir one && rmdir one && echo served; done; kill -9 $!`,
      ],
      { cwd: folder },
    );
    expect([status, stdout]).toEqual([0, "served\n".repeat(10)]);
  });
});
