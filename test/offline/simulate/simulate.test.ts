import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hermes } from "../../support/cli.js";
import { root } from "../../support/root.js";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-simulate-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

const TS = `import { definePolicy, deny } from "hermes-runtime";
export default definePolicy({
  name: "ts",
  rules: [{ id: "no-inet", deny: "socket", where: { family: "AF_INET" }, errno: "EAFNOSUPPORT" }],
  on: {
    openat: (e) => (e.path?.endsWith("hostname") ? { ...deny("no", "EPERM"), rule: "host" } : undefined),
    mkdir: (e) => (e.args.mode === 0o700 ? deny("private") : undefined),
  },
  returns: { openat: (e) => (e.errno === "ENOENT" && e.path === "/nonexistent" ? deny("again", "EIO") : undefined) },
});`;
const YAML = `name: yaml\nrules:\n  - { id: keys, deny: read, path: "/secret/**", reason: Keys. }\n  - { id: inner, deny: connect, address: 10.0.0.0/8 }\n`;
const LUA = `hermes.on("connect", function(e) if e.address.port == 25 then return hermes.deny("no mail") end end)`;

describe("hermes simulate", () => {
  it("decides on a recorded trace as the run itself did", () => {
    const policy = file("p.ts", TS);
    const trace = join(folder, "t.jsonl");
    const script = `cat /etc/hostname; cat /nonexistent; mkdir -m 700 ${folder}/private; mkdir ${folder}/open; python3 -c 'import socket; socket.socket()'`;
    const real = hermes(["run", "--json", "-p", policy, "-t", trace, "--", "sh", "-c", script]);
    const { summary } = JSON.parse(real.stderr.trim().split("\n").at(-1)!);
    const { status, stdout } = hermes(["simulate", "--json", "-p", policy, trace]);
    expect(status).toBe(1);
    const outcomes = JSON.parse(stdout).outcomes as {
      event: string;
      count: number;
      decision: { action: string; rule?: string };
    }[];
    const stopped = outcomes.filter((o) => o.decision.rule !== "no-inet");
    expect(stopped.reduce((sum, o) => sum + o.count, 0)).toBe(summary.byAction.deny);
    expect(outcomes.map((o) => o.event)).toEqual(
      expect.arrayContaining([
        "openat /etc/hostname",
        "return of openat /nonexistent",
        `mkdir ${folder}/private`,
      ]),
    );
  });

  it("decides on events that were written by hand, with every language", () => {
    const events = file(
      "events.yaml",
      "- { read: /secret/key }\n- { connect: 10.1.1.1:80 }\n- { connect: 9.9.9.9:25 }\n- { call: openat, path: /etc/hostname, flags: [O_RDONLY] }\n- { call: socket, where: { family: 2 } }\n",
    );
    const policies = [file("p.ts", TS), file("p.yaml", YAML), file("p.lua", LUA)].flatMap((p) => ["-p", p]);
    const { stdout } = hermes(["simulate", "--json", ...policies, events]);
    const rules = JSON.parse(stdout).outcomes.map(
      (o: { decision: { policy: string; rule?: string } }) => `${o.decision.policy}/${o.decision.rule ?? ""}`,
    );
    expect(rules.sort()).toEqual(["p/", "ts/host", "ts/no-inet", "yaml/inner", "yaml/keys"]);
  });

  it("shows only what changes against older policies", () => {
    const events = file(
      "more.yaml",
      "- { read: /secret/a }\n- { read: /public/a }\n- { connect: 10.1.1.1:80 }\n",
    );
    const old = file("old.yaml", YAML);
    const next = file("next.yaml", YAML.replace("/secret/**", "/public/**"));
    const { stdout } = hermes(["simulate", "-p", next, "--against", old, events]);
    expect(stdout).toMatch(/deny EACCES → allow {2}openat \/secret\/a/);
    expect(stdout).toMatch(/allow → deny EACCES {2}openat \/public\/a/);
    expect(stdout).not.toMatch(/10\.1\.1\.1/);
    expect(stdout).toMatch(/3 events, 2 decided differently/);
  });

  it("says where a trace or an event is broken", () => {
    const policy = file("p.yaml", YAML);
    expect(
      hermes(["simulate", "-p", policy, file("bad.jsonl", '{"hermes":"trace"}\nnot json\n')]),
    ).toMatchObject({ status: 125, stderr: expect.stringMatching(/bad\.jsonl:2: this line is not JSON/) });
    expect(hermes(["simulate", "-p", policy, file("bad.yaml", "- { raed: /x }\n")])).toMatchObject({
      status: 125,
      stderr: expect.stringMatching(
        /bad\.yaml, event 1: unknown key `raed` in an example: did you mean `read`\?/,
      ),
    });
    expect(hermes(["simulate", "-p", policy, "/no/such/trace"]).stderr).toMatch(
      /\/no\/such\/trace: cannot be read: ENOENT/,
    );
    expect(hermes(["simulate", policy])).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/needs --policy/),
    });
  });

  it("works where there is no native part at all", () => {
    const bare = join(folder, "bare");
    cpSync(join(root, "dist"), join(bare, "dist"), {
      recursive: true,
      filter: (source) => !source.endsWith("dist/native"),
    });
    cpSync(join(root, "package.json"), join(bare, "package.json"));
    symlinkSync(join(root, "node_modules"), join(bare, "node_modules"));
    const events = file(
      "bare.yaml",
      "- { read: /secret/key }\n- { connect: 9.9.9.9:25 }\n- { call: openat, path: /etc/hostname }\n",
    );
    const policies = [file("p.ts", TS), file("p.yaml", YAML), file("p.lua", LUA)].flatMap((p) => ["-p", p]);
    const run = (args: string[]) =>
      spawnSync("node", [join(bare, "dist/cli/main.cjs"), ...args], { encoding: "utf8" });
    const { status, stdout, stderr } = run(["simulate", ...policies, events]);
    expect(stderr).toBe("");
    expect(stdout).toMatch(/3 events, 3 with a verdict other than allow/);
    expect(status).toBe(1);
    expect(run(["run", "--", "true"])).toMatchObject({
      status: 125,
      stderr: expect.stringMatching(/cannot load the native part of HERMES: it is not built/),
    });
    expect(run(["policy", "check", join(folder, "p.yaml")]).status).toBe(0);
  });
});

describe("hermes policy", () => {
  it("check says what a policy is, or where it is broken", () => {
    expect(hermes(["policy", "check", file("p.yaml", YAML)]).stdout).toMatch(
      /✓ .*p\.yaml: yaml [0-9a-f]+, decides on \d+ calls/,
    );
    expect(
      hermes(["policy", "check", file("b.yaml", "name: b\nrules:\n  - { id: x, dney: read, path: /x }\n")]),
    ).toMatchObject({
      status: 125,
      stderr: expect.stringMatching(/b\.yaml:3:\d+: .*dney.*did you mean `deny`/),
    });
  });

  it("check points at rules that can never decide, that change nothing, and at patterns that match everything", () => {
    const policy = file(
      "lint.yaml",
      `name: lint
rules:
  - { id: broad, deny: read, path: "/srv/**" }
  - { id: shadowed, allow: read, path: "/srv/app/x" }
  - { id: same, deny: read, path: "/srv/**", errno: ENOENT }
  - { id: fine, deny: [read, write], path: "/srv/**" }
  - { id: everything, deny: connect, address: [0.0.0.0/0, "::/0"] }
  - { id: all-files, deny: exec, path: "/**" }
  - { id: limited, deny: mkdir, rate: 5/minute }
  - { id: after-limited, deny: mkdir, errno: EIO }
  - { id: useless, allow: symlink }
`,
    );
    const { status, stdout } = hermes(["policy", "check", policy]);
    expect(status).toBe(0);
    const found = stdout
      .split("\n")
      .filter((line) => line.startsWith("!"))
      .map((line) => /rule (\S+): (.*)$/.exec(line)!.slice(1, 3));
    expect(found).toEqual([
      ["shadowed", expect.stringMatching(/never decide: rule broad/)],
      ["same", expect.stringMatching(/never decide: rule broad/)],
      ["everything", expect.stringMatching(/match every peer/)],
      ["all-files", expect.stringMatching(/matches every file/)],
      ["useless", expect.stringMatching(/has no effect/)],
    ]);
    expect(stdout).toMatch(/lint\.yaml:4:\d+: rule shadowed/);
    expect(hermes(["policy", "check", "--strict", policy]).status).toBe(1);
  });

  it("test runs the tests beside a policy and fails when one does", () => {
    file("tested.yaml", YAML);
    const tests = file(
      "tested.test.yaml",
      "- { read: /secret/key, expect: deny, rule: keys }\n- { read: /etc/motd, expect: allow }\n",
    );
    expect(hermes(["policy", "test", join(folder, "tested.yaml")])).toMatchObject({
      status: 0,
      stdout: "2 passed, 0 failed\n",
    });
    writeFileSync(tests, "- { read: /etc/motd, expect: deny }\n");
    expect(hermes(["policy", "test", join(folder, "tested.yaml")])).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(/read \/etc\/motd: expected deny, got allow\n0 passed, 1 failed/),
    });
  });

  it("explain shows who decides an event and why the others did not", () => {
    const { stdout } = hermes([
      "policy",
      "explain",
      file("p.yaml", YAML),
      file("p.lua", LUA),
      "--event",
      "{ connect: 10.0.0.1:25 }",
    ]);
    expect(stdout).toMatch(/yaml: deny, EACCES, by rule inner/);
    expect(stdout).toMatch(/· keys \(.*p\.yaml:3:\d+\): .*read/);
    expect(stdout).toMatch(/✓ inner/);
    expect(stdout).toMatch(/p: deny, EACCES, no mail/);
  });

  it("explain shows what compiles to where", () => {
    const { stdout } = hermes(["policy", "explain", "--filter", "--program", file("p.ts", TS)]);
    expect(stdout).toMatch(/trace door .*: .*openat/);
    expect(stdout).toMatch(/in the kernel \(no stop\): deny socket by rule no-inet/);
    expect(stdout).toMatch(/instructions/);
  });
});
