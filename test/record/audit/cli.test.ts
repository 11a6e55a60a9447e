import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Toolbox } from "../../../src/agents/tools/toolbox.js";
import { configuredGuard } from "../../../src/intent/guard/host.js";
import type { Kind } from "../../../src/intent/guard/subject.js";
import { Audit } from "../../../src/record/audit/audit.js";
import type { ToolCallBody } from "../../../src/record/audit/records.js";
import { openStore } from "../../../src/record/store/open.js";
import type { Store } from "../../../src/record/store/store.js";
import { HERMES, hermes as run } from "../../support/cli.js";
import { session } from "../store/rows.js";

let folder: string;
let workspace: string;
let store: Store;
let audit: Audit;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "hermes-audit-"));
  workspace = join(folder, "work");
  mkdirSync(workspace);
  store = await openStore(join(folder, "hermes.db"));
  audit = Audit.open(store);
  await store.openSession({ ...session("s1"), workspace });
});
afterEach(async () => {
  audit.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const env = () => ({ ...process.env, HERMES_HOME: folder, HERMES_STORE: "" });
const hermes = (...args: string[]) => run(["audit", ...args], { env: env() });
const lines = (...args: string[]) => {
  const { stdout, status, stderr } = hermes("show", "--json", ...args);
  expect(status, stderr).toBe(0);
  return stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
};
const seqs = (...args: string[]) => lines(...args).map(({ seq }) => seq);

/** As the toolbox does: judged by the guard, then recorded. */
async function call(kind: Kind, input: string, fields?: Record<string, unknown>, inSession = "s1") {
  const guard = await configuredGuard({ workspace, home: folder });
  const { action, findings } = guard.check({ kind, input, ...(fields && { fields }) });
  const body: ToolCallBody = {
    id: "c",
    tool: "terminal_exec",
    kind,
    input,
    action,
    findings,
    ...(fields && { fields }),
  };
  return audit.record("tool-call", body, { session: inSession });
}

describe("hermes audit show", () => {
  beforeEach(async () => {
    await audit.record("session", { what: "opened", agent: "builder" }, { session: "s1", time: 1_000 });
    await call("command", "git status");
    await audit.record(
      "approval-asked",
      { id: "a1", kind: "TOOL_CALL", what: "git push", digest: "d", keys: ["git push"], expires: 1 },
      { session: "s2" },
    );
    await audit.record(
      "approval-answered",
      { id: "a1", what: "git push", digest: "d", state: "granted", scope: "once", by: "cli:ann" },
      { session: "s2" },
    );
    await audit.record("deed", {
      what: "connect 10.0.0.1:443",
      action: "deny",
      policy: "net",
      rule: "internal",
      reason: "Internal network.",
    });
    await audit.record(
      "outcome",
      { id: "c", status: "FAILED", exitCode: 1, durationMs: 12 },
      { session: "s1" },
    );
  });

  it("shows every kind in words", () => {
    const { stdout } = hermes("show");
    for (const text of [
      /^1970-01-01 00:00:01\.000 {2}1 session s1 {2}opened builder$/m,
      /2 tool-call s1 {2}allow terminal_exec git status$/m,
      /3 approval-asked s2 {2}\? git push \(git push\)$/m,
      /4 approval-answered s2 {2}granted once by cli:ann git push$/m,
      /5 deed {2}deny connect 10\.0\.0\.1:443 \(net\/internal\) Internal network\.$/m,
      /6 outcome s1 {2}FAILED exit 1 12 ms$/m,
    ])
      expect(stdout).toMatch(text);
  });

  it("chooses by session, kind, time and what stands in it", () => {
    expect(seqs("--session", "s1")).toEqual([1, 2, 6]);
    expect(seqs("--kind", "deed", "--kind", "outcome")).toEqual([5, 6]);
    expect(seqs("--until", "1970-01-02")).toEqual([1]);
    expect(seqs("--since", "1970-01-02")).toEqual([2, 3, 4, 5, 6]);
    expect(seqs("--since", "1h", "--session", "s2")).toEqual([3, 4]);
    expect(seqs("--grep", "GIT (push|pull)")).toEqual([3, 4]);
    expect(seqs("--grep", "^git status$")).toEqual([2]);
    expect(seqs("-n", "2")).toEqual([5, 6]);
    expect(seqs("-n", "1", "--grep", "git")).toEqual([4]);
    expect(seqs("-n", "0")).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("gives whole records as JSON", async () => {
    const [record] = lines("--kind", "deed");
    const row = (await store.chainEnds())[0]!;
    expect(record).toMatchObject({ chain: row.chain, seq: 5, session: null, kind: "deed", signature: null });
    expect(record.body).toMatchObject({ what: "connect 10.0.0.1:443", rule: "internal" });
    expect(record.hash).toMatch(/^[0-9a-f]{64}$/);
  });

  it.each([
    [["--kind", "deeds"], /--kind takes/],
    [["--since", "tomorrowish"], /--since takes a time/],
    [["--grep", "("], /not a regular expression/],
    [["-n", "many"], /-n takes a whole number/],
  ])("refuses %j", (args, message) => {
    expect(hermes("show", ...args)).toMatchObject({ status: 2, stderr: expect.stringMatching(message) });
  });

  it("shows what agents wrote harmlessly", async () => {
    await call("command", "echo \u001b[2J\u001b]0;owned\u0007\r\n\u202edaeh");
    const { stdout } = hermes("show", "-n", "1");
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f\u202e]/);
    expect(stdout).toContain("\\x1b[2J");
    await audit.record("deed", { what: "\u001b[31m".repeat(100_000), action: "deny" });
    expect(hermes("show", "-n", "1").stdout.length).toBeLessThan(400);
  });

  it("follows: shows what comes, once, also of other hosts", async () => {
    const child = spawn(HERMES, ["audit", "show", "--json", "-f", "-n", "1", "--kind", "outcome"], {
      env: env(),
    });
    let text = "";
    child.stdout.on("data", (piece) => {
      text += piece;
    });
    const shown = () =>
      text
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line).body.id);
    try {
      await expect.poll(shown).toEqual(["c"]);
      await audit.record("outcome", { id: "next", status: "DONE" });
      await audit.record("session", { what: "closed" });
      await expect.poll(shown).toEqual(["c", "next"]);
      const row = { time: 1, session: null, kind: "outcome", body: '{"id":"elsewhere"}' };
      await store.appendAudit("other-host", row, () => ({ hash: "h", signature: null }));
      await audit.record("outcome", { id: "last", status: "DONE" });
      await expect.poll(() => shown().sort()).toEqual(["c", "elsewhere", "last", "next"]);
    } finally {
      child.kill();
    }
  });
});

describe("what the tools do", () => {
  it("is recorded, verified and judged again: calls, refusals in the kernel, outcomes", async () => {
    const home = join(folder, "home");
    mkdirSync(join(home, ".ssh"), { recursive: true });
    writeFileSync(join(home, ".ssh/id_rsa"), "key");
    writeFileSync(join(workspace, "names"), join(home, ".ssh/id_rsa"));
    const toolbox = await Toolbox.open({ store, workspace, home });
    for (const command of ["ls", "rm -rf /", "xargs cat < names"])
      await toolbox.call("terminal_exec", { command });
    await toolbox.close();
    const kinds = lines("-n", "0").map(({ kind }) => kind);
    expect(kinds).toEqual([
      "session",
      ...["tool-call", "policy", "policy", "outcome"],
      ...["tool-call", "outcome"],
      ...["tool-call", "deed", "outcome"],
      "session",
    ]);
    const [deed] = lines("--kind", "deed");
    expect(deed.body).toMatchObject({
      action: "deny",
      rule: "ssh",
      call: { name: "openat", path: join(home, ".ssh/id_rsa") },
    });
    expect(hermes("verify").status).toBe(0);
    const replayed = run(["audit", "replay", "--json"], { env: { ...env(), HOME: home } });
    expect(JSON.parse(replayed.stdout)).toEqual({ judged: 4, notComparable: 0, changes: [] });
  });
});

describe("the record of an agent", () => {
  const names = ["hermes.db", "hermes.db-wal", "hermes.db.head", "hermes.db.host", "hermes.db.key"];

  it("cannot be read, changed or removed by what the agent runs, also where it may write", async () => {
    const own = await openStore(join(workspace, "hermes.db"));
    const toolbox = await Toolbox.open({ store: own, workspace, home: folder });
    writeFileSync(join(workspace, "hermes.db.key"), "key");
    // In a list, where no look at the command's text finds them.
    writeFileSync(join(workspace, "names"), names.join("\n"));
    const rules = async (command: string) => {
      const { output } = (await toolbox.call("terminal_exec", { command })) as {
        output: { refused: { rule: string }[]; stdout: string };
      };
      expect(output.stdout).toBe("");
      return output.refused.map(({ rule }) => rule);
    };
    expect(await rules("xargs -n1 cat < names")).toEqual(names.map(() => "own-records"));
    expect(await rules("xargs -n1 touch < names")).not.toEqual([]);
    expect(await rules("xargs mv -t .. < names")).not.toEqual([]);
    await toolbox.close();
    await own.close();
    expect(readFileSync(join(workspace, "hermes.db.key"), "utf8")).toBe("key");
    rmSync(join(workspace, "hermes.db.key"));
    expect(hermes("verify", "--store", join(workspace, "hermes.db")).status).toBe(0);
  });

  it("cannot be read or written with the agent's own tools", async () => {
    const own = await openStore(join(workspace, "hermes.db"));
    const toolbox = await Toolbox.open({ store: own, workspace, home: folder });
    for (const path of names) {
      expect(await toolbox.call("read_file", { path })).toMatchObject({
        status: "REFUSED",
        rule: "own-records",
      });
      const write = await toolbox.call("write_file", { path, content: "x" });
      expect(write).toMatchObject({ status: "REFUSED", rule: "own-records" });
    }
    await toolbox.close();
    await own.close();
  });
});

describe("hermes audit replay", () => {
  const changes = (...args: string[]) => {
    const { stdout, status, stderr } = hermes("replay", "--json", ...args);
    expect([0, 3], stderr).toContain(status);
    return { status, ...JSON.parse(stdout) };
  };

  it("finds no difference where nothing was changed", async () => {
    for (const command of ["git status", "rm -rf build", "rm -rf /", "curl http://169.254.169.254/"])
      await call("command", command);
    await call("path", "../../etc/passwd", { access: "write" });
    await call("url", "http://10.0.0.1/");
    expect(changes()).toEqual({ status: 0, judged: 6, notComparable: 0, changes: [] });
  });

  it("shows what hermes.yaml of today would decide otherwise, in the session's workspace", async () => {
    await call("command", "git status");
    await call("command", "make nightly");
    await call("command", "make nightly", {}, "s9");
    const pattern = '{ id: no-nightly, match: "make nightly", reason: Nightly builds are for people. }';
    writeFileSync(join(workspace, "hermes.yaml"), `patterns: [${pattern}]\n`);
    const { status, changes: found } = changes();
    expect(status).toBe(3);
    expect(found).toMatchObject([{ seq: 2, what: "command make nightly", before: "allow", now: "deny" }]);
    expect(found[0].why).toBe("no-nightly: Nightly builds are for people.");
    expect(changes("-C", workspace).changes).toHaveLength(2);
    const { stdout } = hermes("replay");
    expect(stdout).toMatch(/2 allow → deny {2}command make nightly/);
    expect(stdout).toMatch(/3 judged again; 1 would be decided differently/);
  });

  it("does not guess where a secret was taken out, or a part was cut off", async () => {
    await call(
      "command",
      "curl -H 'Authorization: Bearer ghp_16C7e42F292c6912E7710c838347Ae178B4a' https://example.org",
    );
    await call("command", `echo ${"a ".repeat(60_000)}`);
    await audit.record("tool-call", { id: "c", tool: "own", input: "x", action: "allow", findings: [] });
    await audit.record("deed", { what: "something", action: "allow" });
    expect(changes()).toMatchObject({ status: 0, judged: 0, notComparable: 4 });
  });

  it("has today's policies decide on what a program really did", async () => {
    const trace = join(folder, "t.jsonl");
    const file = join(workspace, "notes.txt");
    writeFileSync(file, "x\n");
    run(["run", "-q", "--trace", trace, "-e", "openat", "--", "cat", file]);
    const records = readFileSync(trace, "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    const opened = records.find((record) => record.name === "openat" && record.path === file);
    expect(opened).toBeDefined();
    await audit.record("deed", { call: opened, what: `openat ${file}`, action: "allow" }, { session: "s1" });
    await audit.record("deed", { call: { name: "no-such-call" }, what: "?", action: "allow" });
    const policy = join(folder, "p.yaml");
    const rule = (action: string) =>
      `name: p\nrules:\n  - { id: notes, ${action}: read, path: "${workspace}/**", reason: Private. }\n`;
    writeFileSync(policy, rule("deny"));
    const denied = changes("--policy", policy);
    expect(denied).toMatchObject({ status: 3, judged: 1, notComparable: 1 });
    expect(denied.changes).toMatchObject([
      { seq: 1, before: "allow", now: "deny", why: "p/notes: Private." },
    ]);
    writeFileSync(policy, rule("allow"));
    expect(changes("--policy", policy)).toMatchObject({ status: 0, judged: 1 });
    expect(changes()).toMatchObject({ status: 0, judged: 1, notComparable: 1 });
  });
});
