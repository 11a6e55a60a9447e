import { AsyncLocalStorage } from "node:async_hooks";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { approvalsSection } from "../../src/intent/guard/config/approvals.js";
import { AnswerService } from "../../src/people/approval/answer-service.js";
import type { ApprovalOutcome } from "../../src/people/approval/approvals.js";
import { Queue } from "../../src/people/approval/queue.js";
import { verifyAll } from "../../src/record/audit/verify.js";
import { openStore } from "../../src/record/store/open.js";
import type { Store } from "../../src/record/store/store.js";
import { PostgresServer } from "../record/store/postgres-server.js";
import { session } from "../record/store/rows.js";
import { until } from "../support/until.js";
import { host, type Place, place, type TestHost } from "./support.js";

let server: PostgresServer;
let here: Place;
let central: Store;
const started: TestHost[] = [];
beforeAll(async () => {
  server = await PostgresServer.start();
  process.env.HERMES_HOME = join(server.folder, "home");
});
beforeEach(async () => {
  here = await place(server);
  central = await openStore(here.url);
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const one of started.splice(0)) await one.close();
  await central.close();
  await here.fleet.close();
});
afterAll(() => server.stop());

async function begun(id: string): Promise<TestHost & { queue: Queue }> {
  const one = await host(here, id);
  started.push(one);
  one.start();
  const { store, audit } = one;
  await store.openSession({ ...session(`s-${id}`), id: `s-${id}`, pid: process.pid });
  const config = approvalsSection.parse({});
  return Object.assign(one, { queue: new Queue({ store, audit, workspace: "/work", config: () => config }) });
}

const asking = (id: string, what: string) => ({
  kind: "TOOL_CALL" as const,
  session: `s-${id}`,
  what,
  digest: `${id} ${what}`,
  findings: [{ layer: "l", rule: "recursive-delete", action: "ask" as const, reason: "it deletes" }],
});

/** An approver at work until told to stop: takes the next, and answers it. */
async function approver(name: string, over: () => boolean): Promise<{ mine: number; late: number }> {
  const store = await openStore(here.url);
  const desk = new AnswerService({ store });
  let [mine, late] = [0, 0];
  for (let turn = 0; !over(); turn++) {
    const row = await store.claim(name, Date.now(), Date.now() + 5_000);
    if (!row) await new Promise((resolve) => setTimeout(resolve, 10));
    else if ((await desk.answer(row.id, { answer: turn % 2 === 0 ? "once" : "no", by: name })).mine) mine++;
    else late++;
  }
  await store.close();
  return { mine, late };
}

describe("questions of many hosts", () => {
  it("are answered by three people at once: each once, and what counts on the host is what was answered", async () => {
    const hosts = await Promise.all(["h0", "h1", "h2", "h3"].map(begun));
    let over = false;
    const people = ["ann", "bob", "cid"].map((name) => approver(name, () => over));
    const outcomes = await Promise.all(
      hosts.flatMap((one, h) =>
        Array.from({ length: 12 }, (_, i) =>
          one.queue.request(asking(`h${h}`, `rm ${i}`), { patience: 60_000 }),
        ),
      ),
    );
    over = true;
    const done = await Promise.all(people);
    expect(done.reduce((sum, { mine }) => sum + mine, 0)).toBe(48);
    // No approver got what another one had taken.
    expect(done.map(({ late }) => late)).toEqual([0, 0, 0]);
    const rows = await central.approvals();
    expect(rows).toHaveLength(48);
    for (const { approval, granted, by } of outcomes) {
      const row = rows.find(({ id }) => id === approval)!;
      expect({ granted, by }).toEqual({ granted: row.state === "granted", by: `fleet:${row.answeredBy}` });
    }
    await until(async () =>
      (await central.approvals({ state: ["granted"] })).every(({ spent }) => spent !== null),
    );
  });

  it("have one answer, however many answer at once, there and on the host", async () => {
    const one = await begun("h0");
    const stores = await Promise.all([1, 2, 3].map(() => openStore(here.url)));
    for (let i = 0; i < 8; i++) {
      let parked = "";
      const asked = one.queue.request(asking("h0", `rm ${i}`), {
        parked: (id) => {
          parked = id;
        },
      });
      await until(async () => parked !== "" && (await central.approval(parked)) !== undefined);
      const given = await Promise.all([
        ...stores.map((store, n) =>
          new AnswerService({ store }).answer(parked, { answer: n === 1 ? "no" : "once", by: `p${n}` }),
        ),
        // An approver at the host's own terminal, too.
        one.queue.answer(parked, { answer: "no", by: "terminal:root" }),
      ]);
      const there = given.slice(0, 3).filter(({ mine }) => mine);
      expect(there.length).toBeLessThanOrEqual(1);
      const outcome: ApprovalOutcome = await asked;
      const local = (await one.store.approval(parked))!;
      expect(outcome.granted).toBe(local.state === "granted");
      const row = (await central.approval(parked))!;
      if (local.answeredBy === "terminal:root") expect(outcome.granted).toBe(false);
      else expect(local.answeredBy).toBe(`fleet:${row.answeredBy}`);
      // A grant that the host did not use is never said to be used.
      await until(async () => (await central.approval(parked))!.state !== "pending");
      if (!outcome.granted) expect((await central.approval(parked))!.spent).toBeNull();
    }
    for (const store of stores) await store.close();
  });

  it("are taken back when no caller waits any more, and when their time is over", async () => {
    const one = await begun("h0");
    const stop = new AbortController();
    const gone = one.queue.request(asking("h0", "a"), { signal: stop.signal });
    const silent = one.queue.request(asking("h0", "b"), { patience: 900 });
    const pending = () => central.approvals({ state: ["pending"] });
    await until(async () => (await pending()).length === 2);
    stop.abort(new Error("enough"));
    expect(await gone).toMatchObject({ granted: false, state: "withdrawn" });
    expect(await silent).toMatchObject({ granted: false, state: "expired" });
    await until(async () => (await pending()).length === 0);
    const [a, b] = await central.approvals();
    expect(a).toMatchObject({
      what: "a",
      state: "withdrawn",
      note: expect.stringMatching(/withdrawn on the host/),
    });
    expect(["withdrawn", "expired"]).toContain(b!.state);
    const late = await new AnswerService({ store: central }).answer(a!.id, { answer: "once", by: "ann" });
    expect(late).toMatchObject({
      mine: false,
      told: expect.stringMatching(/^it is over: withdrawn on the host/),
    });
    // Who asked is shown until it has ended its work.
    expect(await central.sessions({ open: true })).toMatchObject([{ id: "s-h0", host: "h0" }]);
    await one.store.endSession("s-h0", Date.now());
    await until(async () => (await central.sessions({ open: true })).length === 0, "the end of the session");
  });

  it("of a host whose clock is wrong by hours are answered in time, and its records delivered", async () => {
    const one = await begun("h0");
    const real = Date.now.bind(Date);
    // The approver's clock is right, while that of the host is wrong.
    const approver = new AsyncLocalStorage<boolean>();
    for (const wrong of [-5 * 3_600_000, 40 * 24 * 3_600_000]) {
      vi.spyOn(Date, "now").mockImplementation(() => real() + (approver.getStore() ? 0 : wrong));
      let parked = "";
      const asked = one.queue.request(asking("h0", `rm ${wrong}`), {
        patience: 30_000,
        parked: (id) => {
          parked = id;
        },
      });
      await until(async () => parked !== "" && (await central.approval(parked)) !== undefined);
      const { created, expires } = (await central.approval(parked))!;
      expect(Math.abs(created - real())).toBeLessThan(60_000);
      expect(expires - created).toBeLessThanOrEqual(30_000);
      const answered = approver.run(true, () =>
        new AnswerService({ store: central }).answer(parked, { answer: "once", by: "ann" }),
      );
      expect((await answered).mine).toBe(true);
      expect(await asked).toMatchObject({ granted: true, by: "fleet:ann" });
      vi.restoreAllMocks();
    }
    const end = (await one.store.chainEnds())[0]!;
    await until(async () => (await central.chainEnds())[0]?.seq === end.seq, "the delivery");
    for (const { broken } of await verifyAll(central, [])) expect(broken).toBeNull();
  });
});
