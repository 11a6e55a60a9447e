import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { planDoors } from "../../src/kernel/doors/door-plan.js";
import { PolicyStack } from "../../src/policy/stack.js";
import { protectedNames } from "../../src/session/protected-files.js";
import { selfDefence } from "../../src/session/self-defence.js";
import { type Call, makeCalls } from "../support/calls.js";
import { HERMES, hermes } from "../support/cli.js";

/** test/attacks/harm tries to get past it; here is what it must leave alone. */

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-defence-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const AT_FDCWD = -100;

describe("what comes with every session", () => {
  it("does not stop what programs do all day", async () => {
    const calls: Call[] = [
      ["openat", AT_FDCWD, "s:/etc/hostname", 0],
      ["newfstatat", AT_FDCWD, "s:/etc/hostname", "o:144", 0],
      ["getppid"],
      ["mmap", 0, 4096, 3, 0x22, -1, 0],
      ["prlimit64", 0, 7, 0, "o:16"],
      ["sched_setaffinity", 0, 8, "o:8"],
      ["fcntl", 1, 3],
      ["ioctl", 1, 0x5401, "o:64"],
      ["kill", 999_999_999, 0],
      ["tgkill", 999_999_999, 999_999_999, 10],
      ["setpriority", 0, 0, 0],
    ];
    const { session } = await makeCalls(calls, []);
    for (const [name] of calls) expect(session.summary.byCall, name).not.toHaveProperty(name);
  });

  it("opens no second door where calls are only decided on", () => {
    const stack = new PolicyStack([selfDefence({ files: ["/x"], policies: [] })]);
    const { doorOf } = planDoors({ stack, recorded: [], door: "auto", live: [] });
    expect(new Set([...doorOf.values()].map(({ name }) => name))).toEqual(new Set(["notify"]));
  });

  it("lets a signal to the group reach everybody else in it", () => {
    const script =
      "trap 'echo first' TERM; (trap 'echo second; exit' TERM; touch \"$0\"; while :; do sleep 0.05; done) & until [ -e \"$0\" ]; do sleep 0.02; done; kill -TERM 0; wait; echo end";
    const { status, stdout } = spawnSync(
      "setsid",
      ["sh", "-c", `exec "$0" "$@"`, ...command(["sh", "-c", script, join(folder, "ready")])],
      {
        encoding: "utf8",
      },
    );
    expect(status).toBe(0);
    expect(stdout.split("\n").sort()).toEqual(["", "end", "first", "second"]);
  });

  it.each([
    ["deny: signal", "other"],
    ["deny: signal, target: outside", "other"],
    ["deny: signal, target: parent", "other reached"],
  ])("%s: a signal to the group reaches only whom the rule lets it reach", (rule, said) => {
    const policy = join(folder, "signals.yaml");
    writeFileSync(policy, `name: signals\nrules: [{ id: others, ${rule}, errno: EPERM, reason: No. }]\n`);
    // A group of its own, with a process outside of the run in it that waits for the run's end.
    const script = `trap 'echo reached' USR1; echo other; "$0" run -q -p "$1" -- sh -c 'trap "" USR1; kill -USR1 0'; true`;
    const { stdout } = spawnSync("setsid", ["-w", "bash", "-c", script, HERMES, policy], {
      encoding: "utf8",
    });
    expect(stdout.split("\n").join(" ").trim()).toBe(said);
  });

  it("says who refused it, and why", () => {
    const { stderr } = hermes(["run", "--", "sh", "-c", "kill -9 $PPID; true"]);
    expect(stderr).toMatch(/deny +kill +×1 +hermes\/self-defence: It concerns HERMES itself\./);
  });

  it("keeps policies and the trace as they are, and lets anything else be written", () => {
    const policy = join(folder, "p.yaml");
    const text = "name: p\nrules:\n  - { id: x, deny: connect, address: 10.0.0.0/8 }\n";
    writeFileSync(policy, text);
    const trace = join(folder, "t.jsonl");
    const script = `echo > ${policy}; echo x > ${trace}; rm ${trace}; mv ${policy} ${policy}.old; echo y > ${folder}/else && echo written`;
    const { stdout } = hermes([
      "run",
      "-q",
      "-p",
      policy,
      "-t",
      trace,
      "-e",
      "uname",
      "--",
      "sh",
      "-c",
      script,
    ]);
    expect(stdout).toBe("written\n");
    expect(readFileSync(policy, "utf8")).toBe(text);
    expect(readFileSync(trace, "utf8")).toMatch(/^\{"kind":"header"/);
  });

  it("does not take a device for a file of ours", () => {
    expect(protectedNames(["/dev/null", "/dev/full"])).toEqual([]);
    const done = hermes([
      "run",
      "-q",
      "-t",
      "/dev/null",
      "--",
      "sh",
      "-c",
      "echo x > /dev/null && echo written",
    ]);
    expect([done.status, done.stdout]).toEqual([0, "written\n"]);
  });
});

function command(words: readonly string[]): string[] {
  return [process.execPath, "dist/cli/main.cjs", "run", "-q", "--", ...words];
}
