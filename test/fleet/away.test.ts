import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { push, ROLLBACK_LIMITS } from "../../src/fleet/releases.js";
import { AnswerService } from "../../src/people/approval/answer-service.js";
import { makeKeys } from "../../src/record/audit/keys.js";
import { verifyAll, verifyRows } from "../../src/record/audit/verify.js";
import { openStore } from "../../src/record/store/open.js";
import type { AuditRow, Store } from "../../src/record/store/store.js";
import { PostgresServer } from "../record/store/postgres-server.js";
import { question, session } from "../record/store/rows.js";
import { until } from "../support/until.js";
import { databaseOf, host, type Place, place, TestHost } from "./support.js";
import { Wire } from "./wire.js";

let server: PostgresServer;
let here: Place;
let wire: Wire;
let central: Store;
const started: TestHost[] = [];
beforeAll(async () => {
  server = await PostgresServer.start();
  process.env.HERMES_HOME = join(server.folder, "home");
});
beforeEach(async () => {
  here = await place(server);
  wire = await Wire.to(server.port);
  central = await openStore(here.url);
});
afterEach(async () => {
  for (const one of started.splice(0)) await one.close();
  await wire.close();
  await central.close();
  await here.fleet.close();
});
afterAll(() => server.stop());

/** Reaches the server through what can be cut. */
async function begun(id: string, more: Parameters<TestHost["start"]>[0] = {}): Promise<TestHost> {
  const direct = await host(here, id);
  const one = await new TestHost(direct.url.replace(`:${server.port}/`, `:${wire.port}/`)).open();
  await direct.close();
  started.push(one);
  one.start(more);
  return one;
}

const ask = (id: string, more = {}) => ({
  ...question(id),
  created: Date.now(),
  expires: Date.now() + 60_000,
  digest: id,
  ...more,
});

async function rowsOf(store: Store, chain: string): Promise<AuditRow[]> {
  const rows: AuditRow[] = [];
  for await (const row of store.audit({ chain })) rows.push(row);
  return rows;
}

/** The server has what the host has: all of it, once, in order. */
async function delivered(one: TestHost): Promise<void> {
  const own = await rowsOf(one.store, one.audit.chain);
  await until(async () => (await rowsOf(central, one.audit.chain)).length >= own.length, "the delivery");
  expect(await rowsOf(central, one.audit.chain)).toEqual(own);
}

describe("a host whose server is away", () => {
  it("keeps its records, and delivers them afterwards: all, once, in order", async () => {
    const one = await begun("one");
    for (let i = 0; i < 20; i++) await one.audit.record("config", { what: `before ${i} \u0000\ud800` });
    await delivered(one);
    const writing = (async () => {
      for (let i = 0; i < 1200; i++) await one.audit.record("config", { what: `during ${i}` });
    })();
    for (let i = 0; i < 5; i++) {
      wire.cut();
      await new Promise((resolve) => setTimeout(resolve, 40));
      wire.mend();
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    wire.cut();
    await writing;
    wire.mend();
    await delivered(one);
    for (const { broken } of await verifyAll(central, [])) expect(broken).toBeNull();
  });

  it("starts without it, and delivers when it is there", async () => {
    wire.cut();
    const one = await begun("one");
    await one.audit.record("config", { what: "alone" });
    await until(() => one.log.some((line) => line.startsWith("not connected")));
    expect(one.policy.file).toMatch(/policy\.yaml$/);
    wire.mend();
    await delivered(one);
  });

  it("keeps its policy, and takes the one that was given out meanwhile", async () => {
    const one = await begun("one");
    const text = (path: string) => `name: p\nrules:\n  - id: r\n    deny: read\n    path: ${path}\n`;
    const give = (path: string) =>
      here.fleet.write(() =>
        push({
          name: "p",
          text: text(path),
          selector: {},
          rank: 1,
          percent: 100,
          limits: ROLLBACK_LIMITS,
          by: "t",
        }),
      );
    const first = await give("/a");
    await until(() => one.policy.serial === first);
    wire.cut();
    const second = await give("/b");
    await until(() => !one.agent!.up);
    expect(one.policy.serial).toBe(first);
    wire.mend();
    await until(() => one.policy.serial === second);
  });

  it("delivers after the server was killed in the middle of it, and nothing twice", async () => {
    const one = await begun("one");
    let stop = false;
    const writing = (async () => {
      for (let i = 0; !stop; i++) await one.audit.record("config", { what: `${i}` });
    })();
    for (let i = 0; i < 1; i++) {
      const before = (await central.chainEnds()).find(({ chain }) => chain === one.audit.chain)?.seq ?? 0;
      await until(
        async () =>
          ((await central.chainEnds()).find(({ chain }) => chain === one.audit.chain)?.seq ?? 0) >
          before + 20,
      );
      await server.crash();
      await server.run();
    }
    stop = true;
    await writing;
    await delivered(one);
  });

  it("goes on over a slow and lossy way", async () => {
    wire.delay = 20;
    wire.piece = 1400;
    const one = await begun("one");
    for (let i = 0; i < 300; i++) await one.audit.record("config", { what: "x".repeat(200) });
    await until(async () => (await central.chainEnds()).some(({ chain }) => chain === one.audit.chain));
    wire.cut();
    wire.mend();
    wire.delay = 5;
    await delivered(one);
  });
});

describe("a question while the server is away", () => {
  const asked = async (one: TestHost, id: string) => {
    await one.store.openSession({ ...session(id), id }).catch(() => {});
    await one.store.park(ask(id, { session: id }));
  };
  const state = async (one: TestHost, id: string) => (await one.store.approval(id))!;

  it("is refused, by default", async () => {
    const one = await begun("one");
    await until(() => one.agent!.up);
    wire.cut();
    await asked(one, "q");
    await until(async () => (await state(one, "q")).state !== "pending", "an answer");
    expect(await state(one, "q")).toMatchObject({ state: "refused", answeredBy: "offline" });
  });

  it("waits, where that is chosen, and is answered when it is there again", async () => {
    const one = await begun("one");
    one.offline = "wait";
    const refusing = await begun("two");
    await until(() => one.agent!.up && refusing.agent!.up, "both hosts to be connected");
    wire.cut();
    await until(() => !one.agent!.up && !refusing.agent!.up, "both hosts to notice");
    await asked(one, "q");
    // Asked later, by a host that refuses by default: a refusal of the first would have come by then.
    await asked(refusing, "r");
    await until(async () => (await state(refusing, "r")).state === "refused", "the other host's refusal");
    expect((await state(one, "q")).state).toBe("pending");
    wire.mend();
    await until(async () => (await central.approval("q"))?.state === "pending", "the question");
    await new AnswerService({ store: central }).answer("q", { answer: "once", by: "alice" });
    await until(async () => (await state(one, "q")).state === "granted", "the answer");
    expect(await state(one, "q")).toMatchObject({ answeredBy: "fleet:alice", scope: "once" });
  });

  it("is granted, where that is chosen", async () => {
    const one = await begun("one");
    one.offline = "allow";
    await until(() => one.agent!.up);
    wire.cut();
    await asked(one, "q");
    await until(async () => (await state(one, "q")).state === "granted", "an answer");
    expect(await state(one, "q")).toMatchObject({ answeredBy: "offline", scope: "once" });
  });
});

describe("what a host keeps for the server", () => {
  it("is bounded: what comes then is refused, what was acknowledged is delivered, and there is room again", async () => {
    wire.cut();
    const one = await begun("one", { keep: 50 });
    await one.agent!.close();
    await one.store.close();
    const file = join(one.folder, "hermes.db");
    writeFileSync(`${file}.limit`, String(1024 * 1024));
    await one.open();
    one.start({ keep: 50 });
    let written = 0;
    const fill = async () => {
      for (; ; written++) await one.audit.record("config", { what: `${written} ${"x".repeat(2000)}` });
    };
    await expect(fill()).rejects.toThrow(/disk is full; nothing of this was written/);
    expect(written).toBeGreaterThan(100);
    expect(statSync(file).size).toBeLessThanOrEqual(1024 * 1024);
    wire.mend();
    const chain = one.audit.chain;
    await until(async () => (await rowsOf(central, chain)).length === written, "the delivery");
    await until(async () => (await rowsOf(one.store, chain)).length <= 100, "room");
    await one.audit.record("config", { what: "again" });
    await until(async () => (await rowsOf(central, chain)).length === written + 1);
    // Both ends verify: the host's knows where it begins.
    const own = await verifyRows(one.store.audit(), { kept: await one.store.chains() });
    expect(own).toMatchObject([{ broken: null }]);
    expect(await verifyAll(central, [])).toMatchObject([{ chain, broken: null, records: written + 1 }]);
  });
});

describe("the chains on the server", () => {
  it("must reach as far as they were delivered, and be signed by the key that the host first had", async () => {
    const direct = await host(here, "signer");
    await direct.close();
    const one = new TestHost(direct.url);
    makeKeys(join(one.folder, "hermes.db"));
    await one.open();
    started.push(one);
    one.start();
    for (let i = 0; i < 5; i++) await one.audit.record("config", { what: `${i}` });
    await delivered(one);
    const { chain } = one.audit;
    expect(await verifyAll(central, [])).toMatchObject([{ chain, broken: null, signedFrom: 1 }]);
    const change = (text: string) => server.query(text, databaseOf(here.url));
    await change(
      "CREATE TABLE public.kept AS SELECT * FROM hermes.audit; DELETE FROM hermes.audit WHERE seq = 5",
    );
    expect(await verifyAll(central, [])).toMatchObject([{ broken: { what: "cut-off", seq: 5 } }]);
    await change("DELETE FROM hermes.audit");
    expect(await verifyAll(central, [])).toMatchObject([{ chain, broken: { what: "cut-off", seq: 1 } }]);
    await change(
      "INSERT INTO hermes.audit SELECT * FROM public.kept; UPDATE hermes.audit SET signature = NULL WHERE seq > 2",
    );
    expect(await verifyAll(central, [])).toMatchObject([{ broken: { what: "signature", seq: 3 } }]);
    await change("DELETE FROM hermes.audit; INSERT INTO hermes.audit SELECT * FROM public.kept");
    expect(await verifyAll(central, [])).toMatchObject([{ broken: null }]);
  });
});
