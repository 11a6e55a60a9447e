import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { HostConnection } from "../../src/fleet/host-connection.js";
import { enroll, hosts, revoke } from "../../src/fleet/hosts.js";
import { openStore } from "../../src/record/store/open.js";
import { PostgresServer } from "../record/store/postgres-server.js";
import { question } from "../record/store/rows.js";
import { until } from "../support/until.js";
import { as, databaseOf, host, type Place, place, type TestHost } from "./support.js";

let server: PostgresServer;
let here: Place;
let home: string;
const started: TestHost[] = [];
beforeAll(async () => {
  server = await PostgresServer.start();
  home = join(server.folder, "home");
  process.env.HERMES_HOME = home;
  here = await place(server);
});
afterEach(async () => {
  for (const one of started.splice(0)) await one.close();
});
afterAll(async () => {
  await here.fleet.close();
  await server.stop();
});

async function begun(id: string, labels = {}): Promise<TestHost> {
  const one = await host(here, id, labels);
  started.push(one);
  return one;
}

const all = () => here.fleet.read(hosts);
const found = async (id: string) => (await all()).find((one) => one.id === id)!;

describe("a host", () => {
  it("is known with its labels, version, protections and what runs there, and said to be away when it is silent", async () => {
    const one = await begun("web-1", { role: "build" });
    expect(await found("web-1")).toMatchObject({ state: "new", labels: { role: "build" }, version: null });
    one.runs = [{ pid: 7, command: "make \u001b[31m", calls: 1, denied: 0 }];
    one.start();
    // What runs there comes with a later message than the first sign of life.
    await expect
      .poll(() => found("web-1"))
      .toMatchObject({
        state: "online",
        version: expect.stringMatching(/^\d/),
        protections: [{ name: "notify", state: "yes" }],
        sessions: [{ pid: 7, command: "make \u001b[31m" }],
        trouble: null,
      });
    await one.agent!.close();
    await server.query("UPDATE hermes.host SET seen = seen - 60000", databaseOf(here.url));
    expect((await found("web-1")).state).toBe("away");
  });

  it("gets in with its key and with no other", async () => {
    const enrolled = await here.fleet.write(() => enroll("keyed", {}, 1));
    const file = join(server.folder, "data/pg_hba.conf");
    const before = readFileSync(file, "utf8");
    writeFileSync(file, `host all +hermes_hosts 127.0.0.1/32 scram-sha-256\n${before}`);
    await server.query("SELECT pg_reload_conf()");
    const enter = async (key: string) => {
      const client = new pg.Client({ connectionString: as(here.url, { ...enrolled, key }) });
      client.on("error", () => {});
      try {
        await client.connect();
        return (await client.query("SELECT hermes.me()")).rows[0].me;
      } finally {
        await client.end().catch(() => {});
      }
    };
    try {
      await expect
        .poll(() => enter("wrong").catch((error) => error.message))
        .toMatch(/password authentication/);
      expect(await enter(enrolled.key)).toBe("keyed");
      await here.fleet.write(() => revoke("keyed", 2));
      await expect(enter(enrolled.key)).rejects.toThrow(/not permitted to log in|password authentication/);
      expect((await found("keyed")).state).toBe("revoked");
    } finally {
      writeFileSync(file, before);
      await server.query("SELECT pg_reload_conf()");
    }
  });

  it("is served by a newer server, for as long as that speaks its protocol", async () => {
    const newer = await place(server);
    const one = await host(newer, "older");
    started.push(one);
    const change = (text: string) => server.query(text, databaseOf(newer.url));
    await change(
      "INSERT INTO hermes.migration VALUES (99, 0, '9.9.9'); ALTER TABLE hermes.host ADD COLUMN more TEXT",
    );
    one.start();
    await one.audit.record("config", { what: "old and new together" });
    await until(async () => (await change("SELECT seq FROM hermes.audit")).length === 1, "the delivery");
    await one.agent!.close();
    await change(
      "CREATE OR REPLACE FUNCTION hermes.speaks(protocol INT) RETURNS BOOLEAN LANGUAGE sql AS 'SELECT protocol > 1'",
    );
    one.start();
    await until(
      () => one.log.some((line) => line.includes("no longer supports agents of protocol 1")),
      "the refusal",
    );
    await newer.fleet.close();
  });

  it("is reached by TLS, unless the server is on the same machine", () => {
    const line = (url: string) => new HostConnection({ url, notice: () => {} });
    expect(() => line("postgres://x@db.example.org/x?sslmode=disable")).toThrow(/needs TLS/);
  });

  it("is one of a name", async () => {
    await here.fleet.write(() => enroll("twin", {}, 1));
    await expect(here.fleet.write(() => enroll("twin", {}, 1))).rejects.toThrow(
      /the host twin already exists/,
    );
    await expect(here.fleet.write(() => enroll("a b", {}, 1))).rejects.toThrow(
      /host name has at most 63 letters/,
    );
    await expect(here.fleet.write(() => revoke("nobody", 1))).rejects.toThrow(
      /the host nobody does not exist/,
    );
  });
});

describe("a host's role", () => {
  let client: pg.Client;
  let other: TestHost;
  let own: string;
  const tried = (text: string, values: unknown[] = []) =>
    client.query(text, values).then(
      ({ rows, rowCount, command }) => (command === "SELECT" ? rows : rowCount),
      (error) => error.code as string,
    );

  beforeAll(async () => {
    const enrolled = await here.fleet.write(() => enroll("mallory", { role: "build" }, 1));
    client = new pg.Client({ connectionString: as(here.url, enrolled), options: "-c search_path=hermes" });
    await client.connect();
    own = (await client.query("SELECT me() AS id")).rows[0].id;
    other = await host(here, "victim");
    await other.audit.record("config", { what: "something happened" });
    const central = await openStore(here.url);
    await central.park(question("q1"));
    await central.rememberPolicy({ version: "v", name: "secret", text: "default: deny", time: 1 });
    await central.appendAudit("direct", { time: 1, session: null, kind: "deed", body: "{}" }, () => ({
      hash: "h",
      signature: null,
    }));
    await central.close();
    await server.query(
      `UPDATE hermes.approval SET owner = 'third' WHERE id = 'q1';
       INSERT INTO hermes.session (id, started, host, pid, pid_started, workspace, agent, owner)
         VALUES ('s9', 1, 'victim', 1, 1, '/', 'a', 'victim');
       INSERT INTO hermes.release (policy, given_by, time) VALUES ('v', 'alice', 1);
       INSERT INTO hermes.trace (id, host, name, bytes, blocks, started, changed) VALUES ('t', 'victim', 'x', 1, 1, 1, 1)`,
      databaseOf(here.url),
    );
    other.start();
    const delivered = () =>
      server.query("SELECT seq FROM hermes.audit WHERE kind = 'config'", databaseOf(here.url));
    await until(async () => (await delivered()).length === 1);
  });
  afterAll(async () => {
    await client.end();
    await other.close();
  });

  it("says who it is", () => {
    expect(own).toBe("mallory");
  });

  it("sees nothing of other hosts, and no policy that is not its own", async () => {
    expect(await tried("SELECT id FROM host")).toEqual([{ id: "mallory" }]);
    for (const table of ["chain", "session", "approval", "release", "policy", "trace"])
      expect([table, await tried(`SELECT * FROM ${table}`)]).toEqual([table, []]);
    for (const table of ["audit", "audit_rest", "audit_before", "tool_call", "allowance", "assignment"])
      expect([table, await tried(`SELECT * FROM ${table}`)]).toEqual([table, "42501"]);
  });

  it("reads no policy by saying that it has it, or wants it", async () => {
    expect(await tried("UPDATE host SET applied = 1 WHERE id = me()")).toBe(1);
    expect(await tried("SELECT * FROM policy")).toEqual([]);
    for (const column of ["wanted", "pinned", "trial", "labels", "role", "id", "revoked"])
      expect([column, await tried(`UPDATE host SET ${column} = NULL`)]).toEqual([column, "42501"]);
  });

  it("changes nothing of other hosts, nor makes rows in their name", async () => {
    expect(await tried("UPDATE host SET seen = 1 WHERE id = 'victim'")).toBe(0);
    expect(await tried("UPDATE session SET ended = 1 WHERE id = 's9'")).toBe(0);
    const insert = "INSERT INTO session (id, started, host, pid, pid_started, workspace, agent, owner)";
    expect(await tried(`${insert} VALUES ('s2', 1, 'h', 1, 1, '/', 'a', 'victim')`)).toBe("42501");
    expect(await tried(`${insert} VALUES ('s2', 1, 'h', 1, 1, '/', 'a', NULL)`)).toBe("42501");
    const traced = "INSERT INTO trace (id, host, name, bytes, blocks, started, changed)";
    expect(await tried(`${traced} VALUES ('t2', 'victim', 'x', 1, 1, 1, 1)`)).toBe("42501");
    expect(await tried("UPDATE trace SET bytes = 2")).toBe(0);
  });

  it("changes no history, and adds to no chain but its own, at its end", async () => {
    for (const text of [
      "DELETE FROM audit",
      "UPDATE audit SET body = '{}'",
      "TRUNCATE audit",
      "INSERT INTO audit (chain, seq, time, kind, body, previous, hash) VALUES ('mallory', 1, 1, 'x', '{}', '', '')",
      "DELETE FROM audit_rest",
      "UPDATE chain SET seq = 0",
      "INSERT INTO chain (name, host, seq, hash, kept_seq, kept_hash) VALUES ('x', 'mallory', 0, '', 0, '')",
      "DELETE FROM host",
      "DROP TABLE audit",
      "ALTER TABLE host DISABLE ROW LEVEL SECURITY",
      "CREATE TABLE mine (x INT)",
      "CREATE OR REPLACE FUNCTION me() RETURNS TEXT LANGUAGE sql AS $$ SELECT 'victim' $$",
    ])
      expect([text, await tried(text)]).toEqual([text, "42501"]);
    const chain = other.audit.chain;
    expect(await tried("SELECT * FROM begin_chain($1, NULL)", [chain])).toBe("42501");
    expect(await tried("SELECT * FROM begin_chain('direct', NULL)")).toBe("42501");
    expect(await tried("SELECT deliver($1, '[]')", [chain])).toBe("42501");
    expect(await tried("SELECT * FROM begin_chain('mine', NULL)")).toEqual([
      { seq: "0", hash: "0".repeat(64) },
    ]);
    const record = (seq: number, previous: string, hash: string) => ({
      seq,
      time: 1,
      kind: "x",
      body: "{}",
      previous,
      hash,
    });
    const deliver = (...records: object[]) =>
      tried("SELECT deliver('mine', $1) AS seq", [JSON.stringify(records)]);
    const zero = "0".repeat(64);
    expect(await deliver(record(2, zero, "b"))).toBe("22000");
    expect(await deliver(record(1, "x", "a"))).toBe("22000");
    expect(await deliver(record(1, zero, "a"), record(3, "a", "c"))).toBe("22000");
    expect(await deliver(record(1, zero, "a"), record(2, "a", "b"))).toEqual([{ seq: "2" }]);
    // A record stays as it was first sent, even if another is sent later under its number.
    expect(await deliver(record(1, zero, "evil"), record(2, "evil", "worse"))).toEqual([{ seq: "2" }]);
    expect(await deliver(record(2, "a", "other"), record(3, "other", "c"))).toBe("22000");
    const rows = await server.query(
      "SELECT hash FROM hermes.audit WHERE chain = 'mine' ORDER BY seq",
      databaseOf(here.url),
    );
    expect(rows).toEqual([{ hash: "a" }, { hash: "b" }]);
  });

  it("answers no question, not even its own", async () => {
    const insert = (state: string, owner: string, expires = "server_now() + 1000") =>
      tried(`INSERT INTO approval (id, kind, session, created, expires, digest, keys, what, detail, state, owner)
        VALUES ('m-${state}', 'DEED', 's', server_now(), ${expires}, 'd', '[]', 'w', '{}', '${state}', ${owner})`);
    expect(await insert("pending", "'victim'")).toBe("42501");
    expect(await insert("granted", "me()")).toBe("42501");
    expect(await insert("pending", "me()", "server_now() + 999999999999")).toBe("42501");
    expect(await insert("pending", "me()")).toBe(1);
    for (const text of [
      "UPDATE approval SET state = 'granted'",
      "UPDATE approval SET scope = 'always'",
      "DELETE FROM approval",
      "INSERT INTO approval (id, answered_by) VALUES ('x', 'alice')",
    ])
      expect([text, await tried(text)]).toEqual([text, "42501"]);
    await tried("SELECT take_back('q1', 'mine now')");
    await tried("SELECT spent('q1')");
    await tried("SELECT take_back('m-pending', 'no need')");
    const rows = await server.query(
      "SELECT id, state, spent FROM hermes.approval ORDER BY id",
      databaseOf(here.url),
    );
    expect(rows).toEqual([
      { id: "m-pending", state: "withdrawn", spent: null },
      { id: "q1", state: "pending", spent: null },
    ]);
  });

  it("cannot become another, or make others", async () => {
    for (const text of [
      "SET ROLE hermes",
      "SET SESSION AUTHORIZATION hermes",
      "CREATE ROLE x",
      "GRANT hermes_staff TO CURRENT_USER",
      "COPY (SELECT 1) TO PROGRAM 'id'",
    ])
      expect([text, await tried(text)]).toEqual([text, "42501"]);
    // It may take on the group's name: no host has that.
    await tried("SET ROLE hermes_hosts");
    expect(await tried("SELECT id FROM host")).toEqual([{ id: "mallory" }]);
    await tried("RESET ROLE");
    await tried("CREATE TEMP TABLE host (id TEXT, role TEXT, revoked BIGINT)");
    await tried("INSERT INTO pg_temp.host VALUES ('victim', session_user, NULL)");
    expect(await tried("SELECT hermes.me() AS id")).toEqual([{ id: "mallory" }]);
  });
});
