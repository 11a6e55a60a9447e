import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hermes } from "../../support/cli.js";
import { program } from "../../support/programs.js";

const folder = mkdtempSync(join(tmpdir(), "hermes-stacks-"));
const path = (name: string) => join(folder, name);
const trace = path("t.htrace");
const DEEP = /^libc!syscall\S* ← \S+!mark\S* ← (\S+!deep\S* ← ){12}\S+!main\S* ← libc!__libc_start_call_main/;

beforeAll(() => {
  const args = ["run", "-q", "--trace", trace, "--stack=getppid", "--", program("stacks")];
  expect(hermes(args).status).toBe(0);
});
afterAll(() => rmSync(folder, { recursive: true }));

const query = (sql: string) =>
  hermes(["query", trace, sql, "--json"])
    .stdout.split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));

describe("a trace with stacks", () => {
  it("has them for the calls that were asked for, and stays small", () => {
    const rows = query("select stack, caller from events where name = 'getppid'");
    expect(rows).toHaveLength(9);
    expect(rows[0].stack).toMatch(DEEP);
    expect(rows[0].caller).toMatch(/!mark\+0x/);
    expect(query("select count(*) n from events where stack is not null")).toEqual([{ n: 9 }]);
    expect(statSync(trace).size).toBeLessThan(20_000);
  });

  it("shows them as text, for Perfetto and as spans", () => {
    const text = hermes(["export", trace, "--to", "strace"]).stdout;
    expect(text).toMatch(/getppid\(\) += \d+ .*\n > libc!syscall\+0x\w+\n > \S+!mark\+0x\w+\n > \S+!deep/);
    const chrome = hermes(["export", trace, "--to", "chrome"]).stdout;
    const event = JSON.parse(chrome).traceEvents.find(({ name }: { name: string }) => name === "getppid");
    expect(event.args.stack[1]).toMatch(/^ > \S+!mark/);
    const spans = hermes(["export", trace, "--to", "otlp", "--calls", "all"]).stdout;
    expect(spans).toMatch(/"code\.stacktrace".{1,40} > libc!syscall/);
  });

  it("tells in an analysis who made the calls", () => {
    const { stdout } = hermes(["analyze", trace]);
    expect(stdout).toMatch(/Called from\n +9 {2}getppid +\S+!mark\n/);
  });

  it("lets rules on stacks be tried on it, and says where there is none", () => {
    const policy = path("p.yaml");
    writeFileSync(policy, "name: p\nrules:\n  - { id: r, deny: getppid, stack: 'app!deep', reason: no }\n");
    expect(hermes(["simulate", "--policy", policy, trace]).stdout).toMatch(
      /deny EACCES +getppid +×2 +p\/r: no/,
    );
    writeFileSync(path("old.jsonl"), '{"kind":"syscall","name":"getppid","pid":1,"time":1}\n');
    expect(hermes(["export", path("old.jsonl"), "--to", "strace"]).stdout).toMatch(/getppid\(\)/);
    const old = hermes(["simulate", "--policy", policy, path("old.jsonl")]);
    expect(old.stdout + old.stderr).toMatch(/the stack of getppid is not in the recording/);
  });
});

describe("hermes trace --stack", () => {
  it("shows stacks below the lines, through the generated code of node by its perf map", () => {
    const script = "function writeIt() { require('fs').writeSync(1, 'x') } writeIt()";
    const node = ["node", "--perf-basic-prof", "--interpreted-frames-native-stack", "-e", script];
    const { stderr } = hermes(["trace", "-e", "trace=write", "--stack=write", "--", ...node]);
    const map = `/tmp/perf-${/\[pid +(\d+)\] write\(1, "x"/.exec(stderr)?.[1]}.map`;
    expect(readFileSync(map, "utf8")).toContain("writeIt");
    rmSync(map);
    expect(stderr).toMatch(
      /write\(1, "x", 1\) += 1\n > libc!write\S+\n( > node!.*\n)+ > JS:\S*writeSync.*\n > JS:\S*writeIt /,
    );
    expect(stderr).toMatch(/> Script:.*\n( > .*\n)* > node!main|> node!_start|> \(limit\)/);
  });

  it("needs a trace to put them in, and calls that exist", () => {
    expect(hermes(["run", "--stack", "--", "true"])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("--stack needs --trace"),
    });
    expect(hermes(["trace", "--stack=opnat", "--", "true"])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('did you mean "openat"'),
    });
  });
});
