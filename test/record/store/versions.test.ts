import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { migrate } from "../../../src/record/store/migrate.js";
import { openStore } from "../../../src/record/store/open.js";
import { PostgresEngine } from "../../../src/record/store/postgres.js";
import { LATEST } from "../../../src/record/store/schema.js";
import { SqliteEngine } from "../../../src/record/store/sqlite.js";
import { root } from "../../support/root.js";
import { PostgresServer } from "./postgres-server.js";
import { seal } from "./rows.js";
import { collect, expectChained } from "./suite.js";
import { unique } from "./unique.js";

const fixtures = join(root, "test/record/store/versions");
let home: string;
let server: PostgresServer;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "hermes-versions-"));
  process.env.HERMES_HOME = home;
  server = await PostgresServer.start();
});
afterAll(async () => {
  await server.stop();
  rmSync(home, { recursive: true, force: true });
});

const database = (url: string) => url.split("/").at(-1)!;
const sqlite = (file: string, text: string) =>
  execFileSync("sqlite3", ["-json", file], { input: text, encoding: "utf8" });

/** What differs between the engines. */
const ENGINES = {
  sqlite: {
    fresh: async () => join(home, `${unique()}.db`),
    open: (url: string) => SqliteEngine.open(url),
    load: async (url: string, text: string) => void sqlite(url, text),
    schema: async (url: string) =>
      JSON.parse(
        sqlite(
          url,
          "SELECT name, replace(sql, '    ', '') AS sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name",
        ),
      ).map(({ name, sql }: Record<string, string>) => ({ name, sql: sql!.replace(/\s+/g, " ") })),
  },
  postgres: {
    fresh: () => server.fresh(),
    open: (url: string) => PostgresEngine.open(url, home),
    load: async (url: string, text: string) => void (await server.query(text, database(url))),
    schema: async (url: string) => [
      ...(await server.query(
        `SELECT table_name, column_name, data_type, is_nullable, column_default, ordinal_position
         FROM information_schema.columns WHERE table_schema = 'hermes' ORDER BY 1, 6`,
        database(url),
      )),
      ...(await server.query(
        "SELECT indexdef FROM pg_indexes WHERE schemaname = 'hermes' ORDER BY 1",
        database(url),
      )),
    ],
  },
} as const;

describe.each(["sqlite", "postgres"] as const)("%s", (name) => {
  const engine = ENGINES[name];
  const made = async (version: number) => {
    const url = await engine.fresh();
    const opened = await engine.open(url);
    await migrate(opened, version);
    await opened.close();
    return url;
  };
  const loaded = async (version: number) => {
    const url = await engine.fresh();
    await engine.load(url, readFileSync(join(fixtures, `${version}.${name}.sql`), "utf8"));
    return url;
  };

  it("has a fixture of every version before this one", () => {
    const versions = readdirSync(fixtures)
      .filter((file) => file.endsWith(`.${name}.sql`))
      .map((file) => Number.parseInt(file, 10));
    expect(versions.sort()).toEqual(Array.from({ length: LATEST - 1 }, (_, i) => i + 1));
    expect(LATEST).toBeGreaterThan(1);
  });

  for (let version = 1; version < LATEST; version++) {
    it(`still makes version ${version} as it was released`, async () => {
      expect(await engine.schema(await made(version))).toEqual(await engine.schema(await loaded(version)));
    });

    it(`brings version ${version} to what a new store is, with all that is in it`, async () => {
      const url = await loaded(version);
      const store = await openStore(url);
      expect(await store.session("s1")).toMatchObject({ host: "old", ended: 1_700_000_000_009 });
      expect(await store.toolCall("c1")).toMatchObject({ status: "BLOCKED" });
      expect(await store.approval("a1")).toMatchObject({ state: "pending", toolCall: "c1" });
      expect(await store.allowances()).toHaveLength(1);
      expect((await store.policy("v1"))?.text).toBe("default: deny");
      const [end] = await store.chainEnds();
      const entry = { time: 1, session: "s1", kind: "deed", body: "{}" };
      await store.appendAudit(end!.chain, entry, (row) => ({ ...seal(row), signature: "sig" }));
      const rows = await collect(store.audit());
      expect(rows.map(({ signature }) => signature)).toEqual([null, null, "sig"]);
      expectChained(rows);
      const answer = await store.answer("a1", { state: "granted", scope: "once", by: "x", time: 2 });
      expect(answer.mine).toBe(true);
      await store.close();
      expect(await engine.schema(url)).toEqual(await engine.schema(await made(LATEST)));
    });
  }

  it("notes each step once, also when several take it together", async () => {
    const url = await loaded(1);
    const stores = await Promise.all(Array.from({ length: 6 }, () => openStore(url)));
    for (const store of stores) await store.close();
    const text = "SELECT version, program FROM migration ORDER BY version";
    const rows =
      name === "sqlite"
        ? JSON.parse(sqlite(url, text))
        : await server.query(text.replace("migration", "hermes.migration"), database(url));
    expect(rows.map(({ version }: { version: number }) => version)).toEqual(
      Array.from({ length: LATEST }, (_, i) => i + 1),
    );
  });

  it("makes a step wholly or not at all", async () => {
    const url = await loaded(1);
    // What the second step makes last is there already: it fails after the rest of it was done.
    const prefix = name === "sqlite" ? "" : "hermes.";
    await engine.load(url, `CREATE INDEX approval_tool_call ON ${prefix}approval (session)`);
    const before = await engine.schema(url);
    await expect(openStore(url)).rejects.toMatchObject({ code: "STORE" });
    expect(await engine.schema(url)).toEqual(before);
    await engine.load(url, `DROP INDEX ${prefix}approval_tool_call`);
    const store = await openStore(url);
    expect(await store.approvals()).toHaveLength(1);
    await store.close();
  });

  it("refuses what a newer HERMES has written, and leaves it alone", async () => {
    const url = await made(LATEST);
    const table = name === "sqlite" ? "migration" : "hermes.migration";
    await engine.load(url, `INSERT INTO ${table} VALUES (${LATEST + 1}, 0, '9.9.9')`);
    await expect(openStore(url)).rejects.toMatchObject({
      code: "STORE",
      message: expect.stringMatching(
        new RegExp(`newer HERMES \\(schema ${LATEST + 1}, this one knows ${LATEST}\\)`),
      ),
    });
  });

  it("refuses a database of something else", async () => {
    const url = await engine.fresh();
    const schema = name === "sqlite" ? "" : "CREATE SCHEMA hermes; SET search_path = hermes;";
    await engine.load(url, `${schema} CREATE TABLE photos (id INTEGER)`);
    await expect(openStore(url)).rejects.toThrow(/something else/);
  });
});
