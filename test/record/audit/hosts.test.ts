import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Audit } from "../../../src/record/audit/audit.js";
import { openStore } from "../../../src/record/store/open.js";
import { hermes } from "../../support/cli.js";
import { PostgresServer } from "../store/postgres-server.js";

describe("hosts that share a PostgreSQL", () => {
  let server: PostgresServer;
  let url: string;
  const homes: string[] = [];
  const env = (host: number) => ({ ...process.env, HERMES_HOME: homes[host], HERMES_STORE: url });
  const audit = (host: number, ...args: string[]) => hermes(["audit", ...args], { env: env(host) });

  beforeAll(async () => {
    server = await PostgresServer.start();
    url = await server.fresh();
    for (const name of ["one", "two"]) homes.push(mkdtempSync(join(tmpdir(), `hermes-${name}-`)));
    for (const host of [0, 1, 0]) {
      const store = await openStore(undefined, { env: env(host) });
      const own = Audit.open(store);
      await own.record("session", { what: "opened", agent: `agent of ${host}` });
      await own.record("session", { what: "closed" });
      own.close();
      await store.close();
    }
  });
  afterAll(async () => {
    await server.stop();
    for (const home of homes) rmSync(home, { recursive: true, force: true });
  });

  it("have a chain each, and see all of them", () => {
    const { stdout } = audit(1, "show", "--json");
    const rows = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(rows).toHaveLength(6);
    expect(new Set(rows.map(({ chain }) => chain)).size).toBe(2);
    expect(rows.map(({ time }) => time)).toEqual(rows.map(({ time }) => time).sort());
    expect(audit(0, "show", "-n", "1").stdout.trim().split("\n")).toHaveLength(1);
    expect(audit(0, "show", "--grep", "of 1").stdout).toMatch(/opened agent of 1/);
  });

  it("notice what was done to any of them, and to the end of their own", async () => {
    const name = url.split("/").at(-1)!;
    expect(audit(0, "verify").status).toBe(0);
    const exported = join(homes[0]!, "all.jsonl");
    expect(audit(0, "export", "-o", exported).status).toBe(0);
    expect(audit(1, "verify", "--file", exported).status).toBe(0);
    await server.query("DELETE FROM hermes.audit WHERE seq = 4", name);
    expect(audit(0, "verify").stdout).toMatch(/BROKEN: it ends with record 3, and went on to record 4/);
    expect(audit(1, "verify").status).toBe(0);
    await server.query("UPDATE hermes.audit SET body = '{}' WHERE seq = 2", name);
    const { status, stdout } = audit(1, "verify", "--json");
    expect(status).toBe(1);
    const broken = JSON.parse(stdout).chains.map((chain: { broken: object }) => chain.broken);
    expect(broken).toMatchObject([
      { seq: 2, what: "changed" },
      { seq: 2, what: "changed" },
    ]);
  });
});
