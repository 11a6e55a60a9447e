import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dropPartitionsBefore, preparePartitions } from "../../src/fleet/audit-partitions.js";
import { verifyAll } from "../../src/record/audit/verify.js";
import { openStore } from "../../src/record/store/open.js";
import type { Store } from "../../src/record/store/store.js";
import { PostgresServer } from "../record/store/postgres-server.js";
import { seal } from "../record/store/rows.js";
import { hermes } from "../support/cli.js";
import { until } from "../support/until.js";
import { databaseOf, host, type Place, place, type TestHost } from "./support.js";

describe("the audit of all hosts", () => {
  let server: PostgresServer;
  let here: Place;
  let central: Store;
  let folder: string;
  const hosts: TestHost[] = [];
  const change = (text: string) => server.query(text, databaseOf(here.url));
  const serverNow = async () => {
    const [row] = await change("SELECT hermes.server_now()::text AS now");
    return Number(row!.now);
  };
  const record = async (one: TestHost, count: number) => {
    for (let i = 0; i < count; i++) await one.audit.record("config", { what: `${i}` });
    const end = (await one.store.chainEnds())[0]!.seq;
    const there = async () => (await central.chains()).find(({ chain }) => chain === one.audit.chain)?.seq;
    await until(async () => (await there()) === end, "the delivery");
  };
  const cli = (...words: string[]) =>
    hermes(["audit", ...words], { env: { ...process.env, HERMES_STORE: here.url, HERMES_HOME: folder } });

  beforeAll(async () => {
    server = await PostgresServer.start();
    folder = mkdtempSync(join(tmpdir(), "hermes-audit-"));
    process.env.HERMES_HOME = folder;
    here = await place(server);
    central = await openStore(here.url);
    for (const id of ["one", "two"]) {
      const one = await host(here, id);
      one.start();
      hosts.push(one);
    }
  });
  afterAll(async () => {
    for (const one of hosts) await one.close();
    await central.close();
    await here.fleet.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it("lies in parts by the months in which records came", async () => {
    const [one] = hosts as [TestHost];
    await record(one, 5);
    const made = await here.fleet.write(preparePartitions);
    expect(made).toHaveLength(3);
    expect(await here.fleet.write(preparePartitions)).toEqual([]);
    // What came before the part was there stays where it is; a part begins a minute later.
    await record(one, 5);
    expect((await change("SELECT count(*)::int AS n FROM hermes.audit_rest"))[0]).toEqual({ n: 10 });
    const begin = (await serverNow()) + 200;
    await change(
      `ALTER TABLE hermes.audit DETACH PARTITION hermes.${made[0]};
       ALTER TABLE hermes.audit ATTACH PARTITION hermes.${made[0]} FOR VALUES FROM (${begin}) TO (${begin + 86_400_000})`,
    );
    await until(async () => (await serverNow()) > begin, "the beginning of the part");
    await record(one, 5);
    expect((await change(`SELECT count(*)::int AS n FROM hermes.${made[0]}`))[0]).toEqual({ n: 5 });
    const reports = (await verifyAll(central, [])).filter(({ records }) => records > 0);
    expect(reports).toMatchObject([{ records: 15, broken: null }]);
  });

  it("gives up what is old, whatever the hosts' clocks say, and still verifies", async () => {
    const [one, two] = hosts as [TestHost, TestHost];
    await record(two, 3);
    await central.appendAudit("direct", { time: 9e12, session: null, kind: "deed", body: "{}" }, seal);
    const now = await serverNow();
    await until(async () => (await serverNow()) > now, "the server's next millisecond");
    await record(two, 2);
    const { records } = await here.fleet.write(() => dropPartitionsBefore(now));
    expect(records).toBe(19);
    // A chain of which nothing is left goes on where it was.
    expect(
      (await central.appendAudit("direct", { time: 1, session: null, kind: "deed", body: "{}" }, seal)).seq,
    ).toBe(2);
    await record(one, 2);
    const reports = await verifyAll(central, []);
    expect(reports.map(({ records, broken }) => ({ records, broken }))).toEqual([
      { records: 1, broken: null },
      { records: 2, broken: null },
      { records: 2, broken: null },
    ]);
    expect(cli("verify", "--all").stdout.match(/whole/g)).toHaveLength(3);
    expect(cli("verify").status).toBe(0);
    await expect(here.fleet.write(() => dropPartitionsBefore(9e12))).rejects.toThrow(/is in the future/);
    // Nothing may be taken from behind the place where it begins now.
    await change(`DELETE FROM hermes.audit WHERE chain = '${two.audit.chain}' AND seq = 4`);
    expect(cli("verify", "--all").stdout).toMatch(/BROKEN: record 4 is missing/);
    expect(cli("verify", "--all").status).toBe(1);
  });

  it("can be written as Parquet, with every record", async () => {
    const file = join(folder, "all.parquet");
    expect(cli("export", "--parquet", file).status).toBe(0);
    const { parquetReadObjects } = await import("hyparquet");
    const bytes = readFileSync(file);
    const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
    const rows = await parquetReadObjects({ file: buffer });
    const all = [];
    for await (const row of central.audit()) all.push(row);
    expect(rows.map(({ hash }) => hash)).toEqual(all.map(({ hash }) => hash));
    expect(rows[0]).toMatchObject({ chain: all[0]!.chain, seq: BigInt(all[0]!.seq), kind: all[0]!.kind });
  });
});
