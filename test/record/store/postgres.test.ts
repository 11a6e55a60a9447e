import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openStore } from "../../../src/record/store/open.js";
import { parsePostgresUrl } from "../../../src/record/store/postgres-url.js";
import { bundleChild, Child } from "./children.js";
import { crowdSuite, expectAll } from "./crowd.js";
import { PostgresServer } from "./postgres-server.js";
import { call, question, seal } from "./rows.js";
import { collect, storeSuite } from "./suite.js";

let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "hermes-store-"));
  process.env.HERMES_HOME = home;
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe("PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server.stop());
  storeSuite(() => server);
  crowdSuite(() => server, { kills: 20 });

  it("chains records also where the server's transactions are stricter than ours need to be", async () => {
    const url = await server.fresh();
    const name = url.split("/").at(-1);
    await server.query(`ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`);
    const stores = await Promise.all([1, 2, 3].map(() => openStore(url)));
    const entry = { time: 1, session: null, kind: "deed", body: "{}" };
    await Promise.all(Array.from({ length: 150 }, (_, i) => stores[i % 3]!.appendAudit("h", entry, seal)));
    const rows = await collect(stores[0]!.audit());
    expect(rows.map(({ seq }) => seq)).toEqual(Array.from({ length: 150 }, (_, i) => i + 1));
    for (const store of stores) await store.close();
  });

  it("works where commits are not synchronous by default, and makes its own so", async () => {
    const url = await server.fresh();
    const name = url.split("/").at(-1);
    await server.query(`ALTER DATABASE ${name} SET synchronous_commit = off`);
    const store = await openStore(url);
    await server.query(
      `CREATE TABLE public.seen (setting text);
       CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         INSERT INTO public.seen VALUES (current_setting('synchronous_commit')); RETURN NEW; END $$;
       CREATE TRIGGER see BEFORE INSERT ON hermes.tool_call FOR EACH ROW EXECUTE FUNCTION see()`,
      name,
    );
    await store.addToolCall(call("c1"));
    expect(await server.query("SELECT setting FROM public.seen", name)).toEqual([{ setting: "on" }]);
    await store.close();
  });

  it("says what is wrong with a server that it cannot use, without the password", async () => {
    const nobody = "postgres://me:hunter2@127.0.0.1:1/x";
    await expect(openStore(nobody)).rejects.toMatchObject({
      code: "STORE",
      message: expect.stringMatching(/cannot be reached/),
    });
    await expect(openStore(nobody)).rejects.not.toThrow(/hunter2/);
    await expect(openStore(server.url("none"))).rejects.toThrow(/no such database/);
    for (const wrong of [
      "postgres://me:hunter2@[x/y",
      "postgres://me:x@hunter2@h:y/z",
      "mysql://me:hunter2@x/y",
    ])
      await expect(openStore(wrong)).rejects.not.toThrow(/hunter2/);
    await expect(openStore("mysql://x/y")).rejects.toThrow(/sqlite:PATH or postgres/);
  });

  it("keeps out of the way of other tables in its database, and of those of its own schema's name", async () => {
    const url = await server.fresh();
    const name = url.split("/").at(-1)!;
    await server.query("CREATE TABLE approval (x int); CREATE TABLE session (x int)", name);
    const store = await openStore(url);
    await store.park(question("a1"));
    await store.close();
    expect(await server.query("SELECT * FROM public.approval", name)).toEqual([]);
    const other = await server.fresh();
    await server.query("CREATE SCHEMA hermes; CREATE TABLE hermes.x (y int)", other.split("/").at(-1)!);
    await expect(openStore(other)).rejects.toThrow(/database of something else/);
  });

  it("hears of changes again after the server was away", async () => {
    const url = await server.fresh();
    const store = await openStore(url);
    let told = 0;
    const stop = store.onApprovals(() => told++);
    await expect.poll(() => told).toBeGreaterThan(0);
    await server.crash();
    await server.run();
    const listening = () => server.query("SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN%'");
    await expect.poll(listening).toHaveLength(1);
    const before = told;
    const other = await openStore(url);
    await other.park(question("a1"));
    await expect.poll(() => told).toBeGreaterThan(before);
    stop();
    await other.close();
    expect(await store.approvals()).toHaveLength(1);
    await store.close();
  });

  it("loses nothing that was acknowledged when the server is killed", {
    timeout: 400_000,
  }, async () => {
    const script = await bundleChild();
    const url = await server.fresh();
    const children = [new Child(script, url), new Child(script, url)];
    await Promise.all(children.map((child) => child.next()));
    for (const child of children) child.order("write 4");
    const written = () =>
      children.reduce((sum, child) => sum + child.said.filter((s) => (s as { seq?: number }).seq).length, 0);
    for (let i = 0; i < 4; i++) {
      const before = written();
      await expect.poll(written).toBeGreaterThan(before + 10);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 100));
      await server.crash();
      await server.run();
    }
    await Promise.all(children.map((child) => child.kill()));
    const said = children.flatMap((child) => child.said);
    expect(said.some((line) => (line as { lost?: string }).lost !== undefined)).toBe(true);
    await expectAll(url, said);
    rmSync(script, { force: true });
  });
});

describe("the way to PostgreSQL", () => {
  it("is encrypted and the server's certificate checked, unless it ends on this machine", () => {
    const ssl = (url: string) => parsePostgresUrl(url).config.ssl;
    for (const near of ["localhost", "127.0.0.1", "127.8.0.1:99", "[::1]:99"])
      expect(ssl(`postgres://${near}/x`)).toBe(false);
    expect(ssl("postgres:///x?host=/var/run/postgresql")).toBe(false);
    for (const far of [
      "db.example.org",
      "10.0.0.1",
      "[2001:db8::1]:99",
      "127.0.0.1.example.org",
      "localhost.example.org",
    ])
      expect(ssl(`postgres://${far}/x`)).toEqual({ rejectUnauthorized: true });
    expect(ssl("postgres://127.0.0.1/x?sslmode=require")).toEqual({ rejectUnauthorized: true });
    expect(() => ssl("postgres://db.example.org/x?sslmode=disable")).toThrow(/needs TLS/);
    expect(() => ssl("postgres://127.0.0.1/x?host=db.example.org&sslmode=disable")).toThrow(/needs TLS/);
    expect(() => ssl("postgres://db.example.org/x?sslmode=prefer")).toThrow(/sslmode=prefer/);
    expect(() => ssl("postgres://db.example.org/x?ssl=0")).toThrow(/takes no "ssl"/);
  });

  it("has a name that tells no password", () => {
    const { name, config } = parsePostgresUrl("postgres://me:p%40ss@db.example.org:99/x");
    expect(name).toBe("postgres://db.example.org:99/x");
    expect(config).toMatchObject({
      user: "me",
      password: "p@ss",
      host: "db.example.org",
      port: 99,
      database: "x",
    });
  });

  it("is taken only to a server with TLS and the right certificate, where TLS is wanted", async () => {
    const plain = await PostgresServer.start();
    try {
      await expect(openStore(plain.url("postgres", "?sslmode=require"))).rejects.toThrow(
        /does not support SSL/,
      );
      const { key, cert } = certificate(home, "right", "IP:127.0.0.1");
      const wrong = certificate(home, "wrong", "IP:127.0.0.1");
      const keyFile = plain.give("server.key", readFileSync(key));
      const certFile = plain.give("server.crt", readFileSync(cert));
      await plain.crash();
      await plain.run("ssl=on", `ssl_key_file=${keyFile}`, `ssl_cert_file=${certFile}`);
      const store = await openStore(plain.url("postgres", `?sslmode=require&sslrootcert=${cert}`));
      const rows = await plain.query(
        "SELECT ssl FROM pg_stat_ssl s JOIN pg_stat_activity USING (pid) WHERE application_name = 'hermes'",
      );
      expect(rows).toEqual([{ ssl: true }]);
      await store.close();
      for (const parameters of ["?sslmode=require", `?sslmode=verify-full&sslrootcert=${wrong.cert}`])
        await expect(openStore(plain.url("postgres", parameters))).rejects.toThrow(/certificate/);
    } finally {
      await plain.stop();
    }
  });

  it("does not lead to a server that forgets", async () => {
    const server = await PostgresServer.start("fsync=off");
    try {
      await expect(openStore(server.url("postgres"))).rejects.toThrow(/fsync = off/);
    } finally {
      await server.stop();
    }
  });
});

function certificate(folder: string, name: string, subject: string): { key: string; cert: string } {
  const [key, cert] = [join(folder, `${name}.key`), join(folder, `${name}.crt`)];
  const words = `req -x509 -newkey ed25519 -nodes -days 2 -subj /CN=${name} -addext subjectAltName=${subject}`;
  execFileSync("openssl", [...words.split(" "), "-keyout", key, "-out", cert], { stdio: "pipe" });
  return { key, cert };
}
