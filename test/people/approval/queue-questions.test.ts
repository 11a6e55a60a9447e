import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ask, definePolicy, start } from "hermes-runtime";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { approvalOf } from "../../../src/people/approval/approval-item.js";
import type { ApprovalRequest, Approvals } from "../../../src/people/approval/approvals.js";
import type { Question } from "../../../src/people/approval/question.js";
import { askThroughQueue } from "../../../src/people/approval/queue-questions.js";
import { until } from "../../support/until.js";
import { type Desktop, desktop, parked, queueOf, toolCall } from "./support.js";

let desk: Desktop;
let secret: string;
beforeEach(async () => {
  desk = await desktop();
  secret = join(desk.folder, "secret");
  writeFileSync(secret, "told");
});
afterEach(() => desk.close());

const asking = definePolicy({
  name: "asking",
  actions: ["ask"],
  on: { openat: (e) => (e.path === secret ? ask("A person decides.") : undefined) },
});

/** A real program that opens the secret, held at the system call until the queue has an answer. */
async function opening(script: string, patience = 60_000) {
  const call = await toolCall(desk.store);
  await desk.store.changeToolCall(call, ["PENDING"], { status: "RUNNING" });
  const output = join(desk.folder, "output");
  const { queue } = queueOf(desk);
  const session = await start(
    { command: ["sh", "-c", `exec > ${output} 2>&1; ${script}`], policy: asking, ask: { patience } },
    askThroughQueue(queue, { session: "one", toolCall: call }),
  );
  const status = async () => (await desk.store.toolCall(call))!.status;
  return { call, queue, session, status, output: () => readFileSync(output, "utf8") };
}

describe("a question at a system call, asked through the queue", () => {
  it("waits as an approval of kind DEED, and goes on when an approver answers", async () => {
    const { call, queue, session, status, output } = await opening(`cat ${secret}`);
    const row = await parked(desk.store);
    expect(row).toMatchObject({ kind: "DEED", toolCall: call, what: `openat ${secret} (O_RDONLY)` });
    expect(JSON.parse(row.detail)).toMatchObject({
      findings: [{ rule: "openat", reason: "A person decides." }],
      who: [{ command: `cat ${secret}` }, {}],
    });
    expect(await status()).toBe("BLOCKED");
    await queue.answer(row.id, { answer: "once", by: "cli:alice" });
    await session.result;
    expect(output()).toBe("told");
    expect(await status()).toBe("RUNNING");
  });

  it("of a program counts by its file, not by what it calls itself", async () => {
    const asked: ApprovalRequest[] = [];
    const approvals: Approvals = {
      request: async (one) => {
        asked.push(one);
        return { granted: false, state: "refused", by: "test" };
      },
    };
    const question: Question = {
      id: 1,
      call: "execve",
      what: "run rm x",
      subject: { path: "/usr/bin/bash", argv: ["rm", "x"] },
      who: [],
      policy: "p",
      patience: 1000,
    };
    const asking = askThroughQueue(approvals, { session: "one" });
    await new Promise((resolve) => asking.question(question, resolve));
    expect(asked[0]!.programs).toEqual([["bash", "x"]]);
    expect(JSON.parse(approvalOf(asked[0]!, "1", 0, 1).detail).notAlways).toContain("bash runs whatever");
  });

  it("that an earlier version kept an answer for always to is not asked again", async () => {
    const question: Question = {
      id: 1,
      call: "openat",
      what: `openat ${secret} (O_RDONLY)`,
      subject: { path: secret },
      who: [],
      policy: "asking",
      rule: "file",
      patience: 1000,
    };
    const key = JSON.stringify(["asking", "file", "openat", { path: secret }]);
    const digest = createHash("sha256")
      .update(JSON.stringify(["hermes deed", 1, key, null]))
      .digest("hex");
    const { queue } = queueOf(desk, { allow: [`exact:${digest}`] });
    const asking = askThroughQueue(queue, { session: "one" });
    const reply = await new Promise((resolve) => asking.question(question, resolve));
    expect(reply).toEqual({ answer: "always", why: "approved by allow:exact (always)", kept: true });
  });

  it("is refused by a no", async () => {
    const { queue, session, output } = await opening(`cat ${secret}`);
    await queue.answer((await parked(desk.store)).id, { answer: "no", by: "cli:alice" });
    await session.result;
    expect(output()).toMatch(/Permission denied|Operation not permitted/);
  });

  it("for the session is asked once", async () => {
    const { queue, session, output } = await opening(`cat ${secret}; cat ${secret}`);
    await queue.answer((await parked(desk.store)).id, { answer: "session", by: "cli:alice" });
    await session.result;
    expect(output()).toBe("toldtold");
    expect(await desk.store.approvals()).toHaveLength(1);
  });

  it("is withdrawn when its caller no longer waits for it", async () => {
    const { session } = await opening(`cat ${secret}`);
    const row = await parked(desk.store);
    session.end();
    await session.result;
    const gone = await until(async () => {
      const now = await desk.store.approval(row.id);
      return now?.state === "pending" ? undefined : now;
    });
    expect(gone.state).toBe("withdrawn");
  });

  it("silence is a no", async () => {
    const { session, output } = await opening(`cat ${secret}`, 200);
    await session.result;
    expect(output()).toMatch(/Permission denied|Operation not permitted/);
    const [row] = await until(async () => {
      const rows = await desk.store.approvals();
      return rows[0]?.state === "pending" ? undefined : rows;
    });
    expect(["expired", "withdrawn"]).toContain(row!.state);
  });
});
