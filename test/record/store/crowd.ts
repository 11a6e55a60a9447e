import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readHead } from "../../../src/record/audit/head.js";
import { ChainVerifier } from "../../../src/record/audit/verify.js";
import { openStore } from "../../../src/record/store/open.js";
import type { Store } from "../../../src/record/store/store.js";
import { bundleChild, Child } from "./children.js";
import { question } from "./rows.js";
import { collect, expectChained, type Place } from "./suite.js";

const CROWD = 20;

/** Many processes at one store, and processes that are killed: the same for each engine. */
export function crowdSuite(place: () => Place, { kills }: { kills: number }): void {
  let script: string;
  beforeAll(async () => {
    script = await bundleChild();
  });
  afterAll(() => rmSync(script, { force: true }));

  it("has one winner in every race: answers, grants, places in a chain", {
    timeout: 400_000,
  }, async () => {
    const url = await place().fresh();
    // They make the schema together, too.
    const children = Array.from({ length: CROWD }, () => new Child(script, url));
    expect(await Promise.all(children.map((child) => child.next()))).toEqual(Array(CROWD).fill("ready"));
    const store = await openStore(url);
    try {
      for (const id of ["a1", "a2", "a3"]) {
        await store.park(question(id));
        const mine = await Promise.all(children.map((child) => child.ask(`answer ${id}`)));
        expect(mine.filter(Boolean), "answers that won").toHaveLength(1);
        const winner = children[mine.indexOf(true)]!.process.pid;
        expect(await store.approval(id)).toMatchObject({ state: "granted", answeredBy: `process:${winner}` });
        const spent = await Promise.all(children.map((child) => child.ask(`spend ${id}`)));
        expect(spent.filter(Boolean), "spenders of one grant").toHaveLength(1);
      }
      const seqs = (await Promise.all(children.map((child) => child.ask("append 50")))).flat() as number[];
      expect(seqs.sort((a, b) => a - b)).toEqual(Array.from({ length: CROWD * 50 }, (_, i) => i + 1));
      expectChained(await collect(store.audit({ chain: "host" })));
    } finally {
      for (const child of children) child.process.stdin!.end();
      await Promise.all(children.map((child) => child.ended));
      await store.close();
    }
  });

  it(`loses nothing that was acknowledged, however writers die: ${kills} times`, {
    timeout: 400_000,
  }, async () => {
    const url = await place().fresh();
    const said: unknown[] = [];
    for (let i = 0; i < kills; i += 2) {
      const pair = [new Child(script, url), new Child(script, url)];
      await Promise.all(
        pair.map(async (child) => {
          await child.next();
          child.order("write 4");
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 250));
          await child.kill();
          said.push(...child.said);
        }),
      );
    }
    await expectAll(url, said);
  });
}

interface Said {
  readonly call?: string;
  readonly parked?: string;
  readonly answered?: string;
  readonly spent?: string;
  readonly seq?: number;
  readonly hash?: string;
}

/** Everything that writers were told is written is there, and nothing is there by half. */
export async function expectAll(url: string, lines: readonly unknown[]): Promise<void> {
  const store = await openStore(url);
  try {
    const said = lines.filter((line): line is Said => typeof line === "object" && line !== null);
    const calls = new Map((await store.toolCalls()).map((row) => [row.id, row]));
    const approvals = new Map((await store.approvals()).map((row) => [row.id, row]));
    const records = await collect(store.audit());
    const hashes = new Map(records.map(({ seq, hash }) => [seq, hash]));
    expect(said.filter(({ seq }) => seq !== undefined).length).toBeGreaterThan(0);
    for (const { call, parked, answered, spent, seq, hash } of said) {
      if (call !== undefined) expect(calls.has(call)).toBe(true);
      if (parked !== undefined) expect(approvals.has(parked)).toBe(true);
      if (answered !== undefined) expect(approvals.get(answered)?.state).toBe("granted");
      if (spent !== undefined) expect(approvals.get(spent)?.spent).not.toBeNull();
      if (seq !== undefined) expect(hashes.get(seq)).toBe(hash);
    }
    for (const id of approvals.keys()) expect(calls.get(id)?.status).toBe("BLOCKED");
    await expectWhole(store);
  } finally {
    await store.close();
  }
}

/** Also for tests that look for signs of a change. */
async function expectWhole(store: Store): Promise<void> {
  const head = readHead(`${store.beside}.head`);
  for (const { chain, seq } of await store.chainEnds()) {
    const verifier = new ChainVerifier(chain, { head });
    for await (const row of store.audit({ chain })) verifier.take(row);
    expect(verifier.report()).toMatchObject({ records: seq, broken: null });
  }
}
