import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { coarseTime, definePolicy, emulate, virtualTime } from "hermes-runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { planDoors } from "../../../src/kernel/doors/door-plan.js";
import { PolicyStack } from "../../../src/policy/stack.js";
import { capture } from "../../support/calls.js";
import { hermes } from "../../support/cli.js";
import { program } from "../../support/programs.js";

const DAY = 86_400;
const DATE = Date.parse("2030-01-01T00:00:00Z") / 1000;
const waits = program("waits", "-lrt");

describe("virtual time", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "hermes-time-"));
    writeFileSync(
      join(folder, "now.go"),
      'package main\nimport ("fmt"; "time")\nfunc main() { fmt.Println("go", time.Now().Unix()) }\n',
    );
    execFileSync("go", ["build", "-o", "now", "now.go"], {
      cwd: folder,
      env: { ...process.env, HOME: folder },
    });
    execFileSync(
      "openssl",
      [
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-keyout",
        "key",
        "-out",
        "cert",
        "-days",
        "30",
        "-subj",
        "/CN=x",
      ],
      { cwd: folder, stdio: "ignore" },
    );
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const run = (env: Record<string, string>, ...command: string[]) =>
    hermes(["run", "-q", "-p", "policies/virtual-time.ts", "--", ...command], {
      env: { ...process.env, ...env },
    });

  it("is what every program sees, in every language", () => {
    const script = [
      "echo date $(date +%s)",
      'python3 -c \'import time, datetime; print("python", time.time()); print("datetime", datetime.datetime.now().timestamp())\'',
      "node -e 'console.log(\"node\", Date.now() / 1000)'",
      "echo bash $EPOCHREALTIME",
      "echo busybox $(busybox date +%s)",
      "echo perl $(perl -e 'print time')",
      `${folder}/now`,
      program("clocks", "-static"),
      `openssl x509 -noout -checkend 0 -in ${folder}/cert`,
    ].join("\n");
    const { stdout, stderr } = run({ HERMES_DATE: "2030-01-01" }, "bash", "-c", script);
    const lines = stdout.trim().split("\n");
    expect(lines.pop(), stderr).toBe("Certificate will expire"); // it has, long ago
    expect(lines.pop()).toBe("vdso there");
    expect(lines.pop()).toMatch(/^getcpu \d+$/);
    expect(lines.map((line) => line.split(" ")[0])).toEqual([
      ...["date", "python", "datetime", "node", "bash", "busybox", "perl", "go"],
      ...["clock_gettime", "coarse", "syscall", "tai", "gettimeofday", "time"],
    ]);
    const times = lines.map((line) => Number(line.split(" ")[1]));
    for (const [i, time] of times.entries()) {
      expect(time, lines[i]).toBeGreaterThanOrEqual(DATE);
      expect(time, lines[i]).toBeLessThan(DATE + DAY);
    }
  });

  it("stands still at speed 0, while waits take their time", () => {
    const script =
      "import time; a=time.time(); m=time.monotonic(); time.sleep(0.05); print(int(a), time.time()-a, time.monotonic()-m >= 0.05)";
    const { stdout } = hermes(["run", "-q", "-p", "virtual-time", "--", "python3", "-c", script], {
      env: { ...process.env, HERMES_DATE: `@${DATE}`, HERMES_SPEED: "0" },
    });
    expect(stdout).toBe(`${DATE} 0.0 True\n`);
  });

  it("waits for what it shows: by every call that waits, no wait ends too early or never", () => {
    const { stdout } = run({ HERMES_DATE: "2030-01-01" }, waits, "10");
    expect(stdout.match(/ waited$/gm)).toHaveLength(26);
    expect(stdout).not.toContain("early");
  });

  it("goes at another speed: five minutes pass in a moment, by every call that waits and on all clocks", () => {
    const { stdout } = run({ HERMES_DATE: "+90d", HERMES_SPEED: "6000" }, waits, "300000");
    expect(stdout.match(/ waited$/gm)).toHaveLength(26);
    expect(stdout).not.toContain("early");
  });

  it("goes together on all clocks, and never back", async () => {
    const script = `
import time
clocks = [time.CLOCK_REALTIME, time.CLOCK_MONOTONIC, time.CLOCK_BOOTTIME, time.CLOCK_MONOTONIC_RAW, time.CLOCK_TAI]
first = [time.clock_gettime_ns(c) for c in clocks]
last = list(first)
for _ in range(300):
    for i, c in enumerate(clocks):
        now = time.clock_gettime_ns(c)
        assert now >= last[i], "a clock went back"
        last[i] = now
# Each clock between two readings of the first: what has passed on it lies between what can have passed on that.
def readings():
    return [(time.time_ns(), time.clock_gettime_ns(c), time.time_ns()) for c in clocks]
before = readings()
time.sleep(3600)
for (a, b, c), (d, e, f) in zip(before, readings()):
    assert d - c - 2 <= e - b <= f - a + 2, "the clocks go apart"
    assert e - b >= 3600 * 10**9
print("together")
`;
    const { stdout, stderr } = run({ HERMES_SPEED: "36000" }, "python3", "-c", script);
    expect(stdout, stderr).toBe("together\n");
  });

  it("can be set by a program, and the machine's clock stays", () => {
    const { stdout } = run(
      { HERMES_DATE: "2030-01-01" },
      "bash",
      "-c",
      "date -u -s '2040-05-06 07:08:09' > /dev/null; date -u +%Y-%m-%d",
    );
    expect(stdout).toBe(process.getuid?.() === 0 ? "2040-05-06\n" : "2030-01-01\n");
    expect(Math.abs(Date.now() / 1000 - DATE)).toBeGreaterThan(DAY);
  });

  it("says what is wrong with a date or a speed", () => {
    expect(() => virtualTime({ date: "soon" })).toThrow(/"soon" is not a date: write 2030-01-01/);
    expect(() => virtualTime({ speed: "-1" })).toThrow(/"-1" is not a speed/);
    expect(() => virtualTime({ date: "@-5" })).toThrow(/1970/);
    const { stderr, status } = run({ HERMES_SPEED: "fast" }, "true");
    expect(stderr).toContain('"fast" is not a speed');
    expect(status).toBe(125);
  });
});

describe("coarse time", () => {
  it("has no clock finer than a millisecond", async () => {
    const script =
      "import time\nfor _ in range(50): print(time.time_ns() % 10**6, time.monotonic_ns() % 10**6)";
    const { output } = await capture(["python3", "-c", script], { policy: definePolicy(coarseTime()) });
    expect(output).toBe("0 0\n".repeat(50));
  });
});

describe("calls that the vDSO serves", () => {
  const arranged = (...on: string[]) =>
    planDoors({
      stack: new PolicyStack([
        definePolicy({
          name: "test",
          actions: ["deny"],
          on: Object.fromEntries(on.map((key) => [key, () => undefined])),
        }),
      ]),
      recorded: [],
      door: "auto",
      live: [],
    });

  it("are seen where a policy names them or their class, and else stay as fast as they are", () => {
    expect([...arranged("clock_gettime").unhidden]).toEqual([228]);
    expect([...arranged("%time").unhidden].sort()).toEqual([201, 228, 229, 96]);
    expect(arranged("*").unhidden.size).toBe(0);
    expect(arranged("openat").unhidden.size).toBe(0);
    expect(() =>
      planDoors({
        stack: new PolicyStack([definePolicy({ name: "t", on: { time: () => emulate(1) } })]),
        recorded: [],
        door: "notify",
        live: [],
      }),
    ).toThrow(/only the trace door/);
  });

  it("are seen in YAML and Lua too", () => {
    const folder = mkdtempSync(join(tmpdir(), "hermes-vdso-"));
    const answers = [
      ["a.yaml", "name: a\nrules:\n  - { id: t, emulate: time(), result: 42 }\n"],
      ["a.lua", 'hermes.on("time", function(e) return hermes.emulate(42) end)\n'],
    ].map(([name, text]) => {
      writeFileSync(join(folder, name!), text!);
      return hermes(["run", "-q", "-p", join(folder, name!), "--", program("clocks", "-static")]).stdout;
    });
    rmSync(folder, { recursive: true });
    for (const stdout of answers) expect(stdout).toContain("\ntime 42\n");
  });
});
