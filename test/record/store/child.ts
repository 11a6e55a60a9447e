import { randomUUID } from "node:crypto";
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { Audit } from "../../../src/record/audit/audit.js";
import { openStore } from "../../../src/record/store/open.js";
import { call, question, seal } from "./rows.js";

/** A process that uses a store: it does what the lines of its stdin say and answers each with a line of JSON. */

const [url] = process.argv.slice(2);
const tell = (value: unknown) => writeSync(1, `${JSON.stringify(value)}\n`);
const me = `process:${process.pid}`;

const store = await openStore(url).catch((error) => {
  tell({ failed: error.code, message: error.message });
  process.exit(1);
});
const audit = Audit.open(store);
tell("ready");

const orders: Record<string, (id: string) => Promise<unknown>> = {
  answer: async (id) => (await store.answer(id, { state: "granted", by: me, time: 2 })).mine,
  spend: (id) => store.spend(id, 3),
  append: async (count) => {
    const one = (_: unknown, i: number) =>
      store.appendAudit("host", { time: i, session: me, kind: "deed", body: me }, seal);
    return (await Promise.all(Array.from({ length: Number(count) }, one))).map(({ seq }) => seq);
  },
  /** Writes until it is killed, and says what was acknowledged. */
  write: async (loops) => {
    await Promise.all(Array.from({ length: Number(loops) }, work));
  },
};

async function work(): Promise<void> {
  for (;;) {
    const id = randomUUID();
    try {
      await store.addToolCall(call(id));
      tell({ call: id });
      await store.park(question(id, { toolCall: id }));
      tell({ parked: id });
      await store.answer(id, { state: "granted", by: me, time: 2 });
      tell({ answered: id });
      await store.spend(id, Date.now());
      tell({ spent: id });
      const { seq, hash } = await audit.record("outcome", { id, status: "DONE" });
      tell({ seq, hash });
    } catch (error) {
      // The server is away: this step is not acknowledged.
      tell({ lost: id, code: (error as { code?: string }).code });
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const [what = "", argument = ""] = line.split(" ");
  tell(await orders[what]!(argument));
}
await store.close();
