import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HERMES, hermes } from "../../support/cli.js";

let folder: string;
let trace: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-query-test-"));
  trace = join(folder, "t.htrace");
  const policy = join(folder, "p.yaml");
  writeFileSync(
    policy,
    "name: p\nrules:\n  - { id: host, deny: read, path: /etc/hostname, reason: 'No, \"thanks\".' }\n",
  );
  const script = `import os, socket, threading
open('/etc/passwd').read(10); s = socket.socket(); s.connect_ex(('127.0.0.1', 9))
t = threading.Thread(target=lambda: os.system('exit 3')); t.start(); t.join()
try: open('/etc/hostname')
except OSError: pass
r, w = os.pipe(); os.write(w, b'x' * 1234)`;
  hermes(["run", "-q", "-p", policy, "-t", trace, "--", "/usr/bin/python3", "-I", "-c", script]);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ask = (sql: string, ...flags: string[]) => {
  const { stdout, stderr, status } = hermes(["query", "--json", ...flags, trace, sql]);
  expect(stderr).toBe("");
  expect(status).toBe(0);
  return stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
};

describe("hermes query", () => {
  it("answers SQL over the calls, with peers, bytes and arguments as columns", () => {
    expect(ask("SELECT address, errno, result FROM calls WHERE name = 'connect'")).toEqual([
      { address: "127.0.0.1:9", errno: "ECONNREFUSED", result: -111 },
    ]);
    expect(ask("SELECT bytes FROM calls WHERE name = 'write' AND target LIKE 'pipe:%'")).toEqual([
      { bytes: 1234 },
    ]);
    expect(
      ask("SELECT DISTINCT args->>'flags' AS f FROM calls WHERE path = '/etc/passwd' AND name = 'openat'"),
    ).toEqual([{ f: "O_RDONLY|O_CLOEXEC" }]);
    expect(ask("SELECT policy, rule, reason, action, errno FROM denials")).toEqual([
      { policy: "p", rule: "host", reason: 'No, "thanks".', action: "deny", errno: "EACCES" },
    ]);
  });

  it("knows processes, their parents and their ends, although threads started them", () => {
    const [python, shell] = ask("SELECT * FROM processes ORDER BY id");
    expect(python).toMatchObject({
      parent: null,
      exe: expect.stringMatching(/python3/),
      code: 0,
      threads: 2,
    });
    expect(shell).toMatchObject({ parent: python.id, exe: expect.stringMatching(/sh$/), code: 3 });
    expect(JSON.parse(shell.argv)).toEqual(["sh", "-c", "exit 3"]);
    const who = ask(
      `SELECT DISTINCT pid FROM events WHERE kind IN ('fork', 'exit') AND process = ${python.id}`,
    );
    expect(who).toEqual([{ pid: python.pid }]);
  });

  it("counts every event once", () => {
    const [{ n, calls }] = ask("SELECT count(*) AS n, sum(kind = 'syscall') AS calls FROM events");
    expect(ask("SELECT max(id) AS n FROM events")).toEqual([{ n }]);
    expect(calls).toBeGreaterThan(50);
    expect(ask("SELECT result FROM events WHERE kind = 'end'")).toEqual([{ result: 0 }]);
  });

  it("writes CSV that keeps commas, quotes and line breaks", () => {
    const { stdout } = hermes([
      "query",
      "--csv",
      trace,
      "SELECT reason, NULL AS empty, 'a\nb' AS c FROM denials",
    ]);
    expect(stdout).toBe('reason,empty,c\r\n"No, ""thanks"".",,"a\nb"\r\n');
  });

  it("writes Parquet with types", async () => {
    const file = join(folder, "t.parquet");
    expect(hermes(["query", "--parquet", file, trace]).stderr).toMatch(/rows in .*t\.parquet/);
    const rows = await parquetReadObjects({ file: await asyncBufferFromFile(file) });
    expect(rows).toHaveLength(ask("SELECT count(*) AS n FROM events")[0].n);
    expect(rows.find((row) => row.name === "connect")).toMatchObject({
      id: expect.any(BigInt),
      time: expect.any(Number),
      address: "127.0.0.1:9",
      errno: "ECONNREFUSED",
      rule: null,
    });
  });

  it("shows a table to a person, and nothing that a terminal obeys", () => {
    const { stdout } = hermes([
      "query",
      trace,
      "SELECT 1 AS one, char(27) || '[31m' AS red UNION ALL SELECT 22, 'x'",
    ]);
    expect(stdout.split("\n")).toEqual(["one  red", "───  ────────", "  1  \\x1b[31m", " 22  x", ""]);
    expect(hermes(["query", "--columns"]).stdout).toMatch(/^ {2}address +TEXT +the peer/m);
  });

  it("reads from a pipe, and leaves nothing behind", () => {
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith("hermes-query-"));
    const piped = spawnSync(
      "sh",
      ["-c", `cat ${trace} | ${HERMES} query --json - 'SELECT count(*) AS n FROM events'`],
      { encoding: "utf8" },
    );
    expect(JSON.parse(piped.stdout)).toEqual(ask("SELECT count(*) AS n FROM events")[0]);
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith("hermes-query-"))).toEqual(before);
  });

  it("says what is wrong with a question", () => {
    const refused = (...args: string[]) => hermes(["query", ...args]);
    expect(refused(trace, "SELEC 1")).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/the query failed: near "SELEC"/),
    });
    expect(refused(trace, "SELECT nope FROM calls").stderr).toMatch(/no such column: nope/);
    expect(refused(trace, "DELETE FROM events").stderr).toMatch(/gives no rows/);
    expect(
      refused(trace, `WITH x AS (SELECT 1) INSERT INTO processes (id) SELECT 99 RETURNING id`).stderr,
    ).toMatch(/the query failed/);
    expect(refused("/no/such/trace", "SELECT 1")).toMatchObject({
      status: 125,
      stderr: expect.stringMatching(/cannot be read: ENOENT/),
    });
    expect(refused("--csv", "--json", trace).status).toBe(2);
    expect(refused("--parquet", "/no/such/folder/x", trace)).toMatchObject({
      status: 125,
      stderr: expect.stringMatching(/cannot write .*ENOENT/),
    });
    expect(refused().status).toBe(2);
  });
});
