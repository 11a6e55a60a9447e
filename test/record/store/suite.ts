import { afterEach, beforeEach, expect, it } from "vitest";
import { hashOf, START } from "../../../src/record/audit/chain.js";
import { openStore } from "../../../src/record/store/open.js";
import type { AuditRow, Store } from "../../../src/record/store/store.js";
import { until } from "../../support/until.js";
import { call, question, seal, session } from "./rows.js";

/** A place for stores: each test gets one of its own. */
export interface Place {
  /** A url that nothing is at yet. */
  fresh(): Promise<string>;
}

const NOW = 1_700_000_000_500;
const entry = (body: string) => ({ time: NOW, session: "s1", kind: "tool-call", body });

/** Texts that stores, terminals and programs stumble over. */
export const HOSTILE = {
  "SQL in a text": `'; DROP TABLE approval; --" \` $1 ?1 :x @y %s`,
  NUL: "a\0b\0",
  "lone surrogates": "\ud800 \udc80\udfff \udbff",
  "the sign that stands for them": "\ufdd0 \ufdd00041 \ufdd0d800",
  "terminal sequences": "\u001b[2J\u001b]0;x\u0007\r\n\t\u202e",
  "all of Unicode's corners": "\u{10ffff}\ufffe\uffff\ufeff é é 🦊",
  nothing: "",
};

export function storeSuite(place: () => Place): void {
  let url: string;
  let store: Store;
  const more: Store[] = [];
  /** The same store once more, as another process would open it. */
  const again = async () => {
    const other = await openStore(url);
    more.push(other);
    return other;
  };

  beforeEach(async () => {
    url = await place().fresh();
    store = await openStore(url);
  });
  afterEach(async () => {
    for (const each of [store, ...more.splice(0)]) await each.close();
  });

  it("keeps sessions, and when they ended", async () => {
    await store.openSession(session("s1"));
    await store.openSession({ ...session("s2"), started: 1_700_000_000_009 });
    await store.endSession("s1", NOW);
    await store.endSession("s1", NOW + 1);
    const other = await again();
    expect(await other.session("s1")).toEqual({ ...session("s1"), ended: NOW });
    expect(await other.session("s3")).toBeUndefined();
    expect((await other.sessions()).map(({ id }) => id)).toEqual(["s2", "s1"]);
    expect((await other.sessions({ open: true })).map(({ id }) => id)).toEqual(["s2"]);
    expect((await other.sessions({ open: false })).map(({ id }) => id)).toEqual(["s1"]);
    expect((await other.sessions({ limit: 1 })).map(({ id }) => id)).toEqual(["s2"]);
  });

  it("takes no second session, call or approval of the same name", async () => {
    await store.openSession(session("s1"));
    await store.addToolCall(call("c1"));
    await store.park(question("a1"));
    await expect(store.openSession(session("s1"))).rejects.toMatchObject({ code: "STORE" });
    await expect(store.addToolCall(call("c1"))).rejects.toMatchObject({ code: "STORE" });
    await expect(store.park(question("a1"))).rejects.toMatchObject({ code: "STORE" });
    expect(await store.toolCalls()).toHaveLength(1);
  });

  it("changes a tool call only from where it is expected to be", async () => {
    await store.addToolCall(call("c1"));
    expect(await store.changeToolCall("c1", ["BLOCKED"], { status: "RUNNING" })).toBe(false);
    expect(await store.changeToolCall("c1", [], { status: "RUNNING" })).toBe(false);
    expect(await store.changeToolCall("none", ["PENDING"], { status: "RUNNING" })).toBe(false);
    expect(await store.changeToolCall("c1", ["PENDING", "BLOCKED"], { status: "RUNNING", started: 5 })).toBe(
      true,
    );
    expect(await store.changeToolCall("c1", ["RUNNING"], { status: "DONE", ended: 6, output: "{}" })).toBe(
      true,
    );
    expect(await store.toolCall("c1")).toEqual({
      ...call("c1"),
      status: "DONE",
      started: 5,
      ended: 6,
      output: "{}",
    });
  });

  it("lists tool calls, newest first, by session and status", async () => {
    await store.addToolCall(call("c1"));
    await store.addToolCall(call("c2", { session: "s2" }));
    await store.addToolCall(call("c3", { created: 1 }));
    await store.addToolCall(call("c4", { status: "DONE" }));
    const ids = async (filter?: Parameters<Store["toolCalls"]>[0]) =>
      (await store.toolCalls(filter)).map(({ id }) => id);
    expect(await ids()).toEqual(["c4", "c2", "c1", "c3"]);
    expect(await ids({ session: "s1" })).toEqual(["c4", "c1", "c3"]);
    expect(await ids({ status: ["DONE", "FAILED"] })).toEqual(["c4"]);
    expect(await ids({ status: [] })).toEqual([]);
    expect(await ids({ limit: 2 })).toEqual(["c4", "c2"]);
  });

  it("parks a tool call together with the question about it", async () => {
    await store.addToolCall(call("c1"));
    await store.park(question("a1", { toolCall: "c1" }));
    expect((await store.toolCall("c1"))?.status).toBe("BLOCKED");
    expect(await store.approval("a1")).toEqual({
      ...question("a1", { toolCall: "c1" }),
      state: "pending",
      scope: null,
      answered: null,
      answeredBy: null,
      note: null,
      spent: null,
    });
  });

  it("asks nothing about a tool call that cannot wait any more", async () => {
    await store.addToolCall(call("c1", { status: "CANCELLED" }));
    await expect(store.park(question("a1", { toolCall: "c1" }))).rejects.toThrow(/no tool call c1/);
    await expect(store.park(question("a2", { toolCall: "c9" }))).rejects.toThrow(/no tool call c9/);
    expect(await store.approvals()).toEqual([]);
    expect((await store.toolCall("c1"))?.status).toBe("CANCELLED");
  });

  it("takes the first answer, and tells the others", async () => {
    await store.park(question("a1"));
    const other = await again();
    const first = await store.answer("a1", {
      state: "granted",
      scope: "once",
      by: "cli:a",
      note: "go",
      time: NOW,
    });
    const second = await other.answer("a1", { state: "refused", by: "cli:b", time: NOW + 1 });
    expect(first).toMatchObject({ mine: true, row: { state: "granted", answeredBy: "cli:a", note: "go" } });
    expect(second).toEqual({ mine: false, row: first.row });
    await expect(store.answer("none", { state: "granted", by: "x", time: NOW })).rejects.toThrow(
      /no approval none/,
    );
  });

  it("takes no answer when the time is over, noticed or not", async () => {
    await store.park(question("a1", { expires: NOW }));
    const late = await store.answer("a1", { state: "granted", scope: "always", by: "cli:a", time: NOW });
    expect(late).toMatchObject({ mine: false, row: { state: "expired", scope: null } });
    expect(await store.spend("a1", NOW)).toBe(false);
    await store.park(question("a2", { expires: NOW }));
    const withdrawn = await store.answer("a2", { state: "withdrawn", by: "agent", time: NOW + 1 });
    expect(withdrawn).toMatchObject({ mine: true, row: { state: "withdrawn" } });
  });

  it("spends a grant once, and nothing else at all", async () => {
    for (const id of ["granted", "refused", "pending"]) await store.park(question(id));
    await store.answer("granted", { state: "granted", scope: "once", by: "x", time: NOW });
    await store.answer("refused", { state: "refused", by: "x", time: NOW });
    const other = await again();
    const tries = [store, other, store, other].map((each) => each.spend("granted", NOW));
    expect((await Promise.all(tries)).filter(Boolean)).toHaveLength(1);
    for (const id of ["refused", "pending", "none"]) expect(await store.spend(id, NOW)).toBe(false);
    expect((await store.approval("granted"))?.spent).toBe(NOW);
  });

  it("gives each of several people another question, the oldest first, and again when their time is over", async () => {
    for (const [i, id] of ["a", "b", "c"].entries()) await store.park(question(id, { created: i }));
    await store.park(question("over", { created: 0, expires: 1 }));
    const other = await again();
    const taken = await Promise.all([store.claim("ann", NOW, NOW + 5), other.claim("bob", NOW, NOW + 5)]);
    expect(taken.map((row) => row?.id).sort()).toEqual(["a", "b"]);
    expect((await store.claim("cid", NOW, NOW + 5))?.id).toBe("c");
    expect(await store.claim("dan", NOW, NOW + 5)).toBeUndefined();
    // One's own stays one's own; anybody may answer it.
    expect((await store.claim("ann", NOW, NOW + 5))?.id).toBe(taken[0]!.id);
    await other.answer(taken[0]!.id, { state: "refused", by: "eve", time: NOW });
    expect(await store.claim("ann", NOW, NOW + 5)).toBeUndefined();
    expect((await store.claim("dan", NOW + 5, NOW + 9))?.id).toBe(taken[1]!.id);
  });

  it("gives up the beginning of a chain, and goes on at its end", async () => {
    const entry = { time: NOW, session: null, kind: "deed", body: "{}" };
    for (let i = 0; i < 5; i++) await store.appendAudit("h", entry, seal);
    const rows = await collect(store.audit());
    await store.trimAudit("h", 3);
    expect((await collect(store.audit())).map(({ seq }) => seq)).toEqual([4, 5]);
    expect(await store.chains()).toMatchObject([{ chain: "h", keptSeq: 3, keptHash: rows[2]!.hash }]);
    await expect(store.trimAudit("h", 3)).rejects.toThrow(/no record 3/);
    await store.trimAudit("h", 5);
    expect(await store.chainEnds()).toEqual([{ chain: "h", seq: 5, hash: rows[4]!.hash }]);
    expect(await store.appendAudit("h", entry, seal)).toMatchObject({ seq: 6, previous: rows[4]!.hash });
  });

  it("lets approvals expire, each for one caller", async () => {
    await store.park(question("a1", { expires: NOW, created: 2 }));
    await store.park(question("a2", { expires: NOW - 1, created: 1 }));
    await store.park(question("a3", { expires: NOW + 1 }));
    const other = await again();
    const expired = await Promise.all([store.expire(NOW), other.expire(NOW)]);
    expect(
      expired
        .flat()
        .map(({ id }) => id)
        .sort(),
    ).toEqual(["a1", "a2"]);
    expect(expired.flat()[0]).toMatchObject({ state: "expired", answered: NOW, answeredBy: "expiry" });
    expect(await store.expire(NOW)).toEqual([]);
    expect((await store.approvals({ state: ["pending"] })).map(({ id }) => id)).toEqual(["a3"]);
  });

  it("lists approvals, oldest first, by each field that can be asked for", async () => {
    await store.addToolCall(call("c1"));
    await store.park(question("a1", { toolCall: "c1" }));
    await store.park(question("a2", { session: "s2", digest: "e" }));
    await store.park(question("a3", { created: 5 }));
    await store.answer("a2", { state: "refused", by: "x", time: NOW });
    const ids = async (filter?: Parameters<Store["approvals"]>[0]) =>
      (await store.approvals(filter)).map(({ id }) => id);
    expect(await ids()).toEqual(["a3", "a1", "a2"]);
    expect(await ids({ state: ["pending"] })).toEqual(["a3", "a1"]);
    expect(await ids({ state: ["pending", "refused"], session: "s2" })).toEqual(["a2"]);
    expect(await ids({ toolCall: "c1" })).toEqual(["a1"]);
    expect(await ids({ digest: "e" })).toEqual(["a2"]);
    expect(await ids({ since: 6 })).toEqual(["a1", "a2"]);
    expect(await ids({ limit: 1 })).toEqual(["a3"]);
  });

  it("keeps the history of standing permissions", async () => {
    await store.addAllowance({ key: "recursive delete", given: true, by: "cli:a", time: 1 });
    await store.addAllowance({ key: "recursive delete", given: false, by: "cli:b", time: 2 });
    expect(await store.allowances()).toEqual([
      { key: "recursive delete", given: true, by: "cli:a", time: 1 },
      { key: "recursive delete", given: false, by: "cli:b", time: 2 },
    ]);
  });

  it("remembers the text of every policy's version", async () => {
    await store.rememberPolicy({ version: "v1", name: "p", text: "default: deny", time: 1 });
    await store.rememberPolicy({ version: "v1", name: "p", text: "default: deny", time: 2 });
    expect(await store.policy("v1")).toEqual({ version: "v1", name: "p", text: "default: deny", time: 1 });
    expect(await store.policy("v2")).toBeUndefined();
  });

  it("chains records without a gap, however many come at once, from however many", async () => {
    const other = await again();
    const rows = await Promise.all(
      Array.from({ length: 700 }, (_, i) => (i % 2 ? store : other).appendAudit("h", entry(`${i}`), seal)),
    );
    expect(new Set(rows.map(({ seq }) => seq)).size).toBe(700);
    const read = await collect(store.audit({ chain: "h" }));
    expect(read.map(({ seq }) => seq)).toEqual(Array.from({ length: 700 }, (_, i) => i + 1));
    expect(new Set(read.map(({ body }) => body)).size).toBe(700);
    expectChained(read);
    const sorted = rows.sort((a, b) => a.seq - b.seq);
    expect(sorted).toEqual(read);
  });

  it("keeps a chain for each host, and says where each ends", async () => {
    expect(await store.chainEnds()).toEqual([]);
    for (const chain of ["b", "a", "b"]) await store.appendAudit(chain, entry("x"), seal);
    const all = await collect(store.audit());
    expect(all.map(({ chain, seq }) => [chain, seq])).toEqual([
      ["a", 1],
      ["b", 1],
      ["b", 2],
    ]);
    const ends = [all[0]!, all[2]!].map(({ chain, seq, hash }) => ({ chain, seq, hash }));
    expect(await store.chainEnds()).toEqual(ends);
  });

  it("finds records by session, kind, time and place in the chain", async () => {
    for (let i = 1; i <= 5; i++)
      await store.appendAudit(
        "h",
        { time: i, session: i === 2 ? null : `s${i % 2}`, kind: i < 4 ? "deed" : "outcome", body: "{}" },
        seal,
      );
    const seqs = async (filter: Parameters<Store["audit"]>[0]) =>
      (await collect(store.audit(filter))).map(({ seq }) => seq);
    expect(await seqs({ session: "s1" })).toEqual([1, 3, 5]);
    expect(await seqs({ kind: ["outcome"] })).toEqual([4, 5]);
    expect(await seqs({ since: 2, until: 4 })).toEqual([2, 3, 4]);
    expect(await seqs({ chain: "h", after: 3 })).toEqual([4, 5]);
    expect(await seqs({ chain: "h", last: 2 })).toEqual([4, 5]);
    expect(await seqs({ chain: "h", last: 2, kind: ["deed"] })).toEqual([2, 3]);
    expect(await seqs({ chain: "other" })).toEqual([]);
  });

  it.each(Object.entries(HOSTILE))("gives every text back as it came: %s", async (_, text) => {
    await store.openSession({ ...session("s1"), workspace: text, agent: text });
    await store.addToolCall(call("c1", { input: text, digest: text }));
    await store.changeToolCall("c1", ["PENDING"], { status: "FAILED", output: text });
    await store.park(question(`a${text}`, { what: text, detail: text, digest: text }));
    await store.answer(`a${text}`, { state: "refused", by: text, note: text, time: NOW });
    await store.rememberPolicy({ version: text, name: text, text, time: 1 });
    const row = await store.appendAudit(`c${text}`, { time: 1, session: text, kind: text, body: text }, seal);
    const other = await again();
    expect(await other.session("s1")).toMatchObject({ workspace: text, agent: text });
    expect(await other.toolCall("c1")).toMatchObject({ input: text, output: text });
    expect(await other.approvals({ digest: text })).toMatchObject([
      { id: `a${text}`, what: text, detail: text, note: text },
    ]);
    expect((await other.policy(text))?.text).toBe(text);
    expect(await collect(other.audit({ chain: `c${text}`, session: text }))).toEqual([row]);
    expect(hashOf(row)).toBe(row.hash);
  });

  it("keeps a text of 20 million characters", async () => {
    const body = "€".repeat(20_000_000);
    await store.appendAudit("h", entry(body), seal);
    const [row] = await collect((await again()).audit({ chain: "h" }));
    expect(row!.body === body).toBe(true);
  });

  it("writes nothing of what fails, and all of what came with it", async () => {
    await store.addToolCall(call("c0"));
    const tries = ["c1", "c0", "c2"].map((id) => store.addToolCall(call(id)));
    const settled = await Promise.allSettled(tries);
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect((await store.toolCalls()).map(({ id }) => id).sort()).toEqual(["c0", "c1", "c2"]);
    await expect(store.appendAudit("h", { ...entry("x"), time: 1.5 }, seal)).rejects.toMatchObject({
      code: "STORE",
    });
    await store.appendAudit("h", entry("y"), seal);
    expect((await collect(store.audit())).map(({ seq }) => seq)).toEqual([1]);
  });

  it("tells of changes to approvals, its own and those of others, until told to stop", async () => {
    const other = await again();
    let told = 0;
    const stop = other.onApprovals(() => told++);
    const toldAgain = async () => {
      const before = told;
      await expect.poll(() => told).toBeGreaterThan(before);
    };
    const parked = toldAgain();
    await store.park(question("a1"));
    await parked;
    const answered = toldAgain();
    await other.answer("a1", { state: "refused", by: "x", time: NOW });
    await answered;
    // Another listener of the same store: once it has been called, the one that was stopped would have been.
    let witnessed = 0;
    const stopWitness = other.onApprovals(() => witnessed++);
    stop();
    const before = told;
    await store.park(question("a2"));
    await until(() => witnessed > 0, "the other listener to be called");
    stopWitness();
    expect(told).toBe(before);
  });

  it("writes what it was given before it closes, and takes nothing afterwards", async () => {
    const writes = [store.addToolCall(call("c1")), store.appendAudit("h", entry("x"), seal)];
    await store.close();
    await Promise.all(writes);
    await expect(store.addToolCall(call("c2"))).rejects.toThrow(/closed/);
    await expect(store.toolCalls()).rejects.toThrow(/closed/);
    const other = await again();
    expect(await other.toolCalls()).toHaveLength(1);
    expect(await collect(other.audit())).toHaveLength(1);
  });
}

export async function collect(rows: AsyncIterable<AuditRow>): Promise<AuditRow[]> {
  const all: AuditRow[] = [];
  for await (const row of rows) all.push(row);
  return all;
}

export function expectChained(rows: readonly AuditRow[]): void {
  let previous = START;
  for (const row of rows) {
    expect(row.previous).toBe(previous);
    expect(hashOf(row)).toBe(row.hash);
    previous = row.hash;
  }
}
