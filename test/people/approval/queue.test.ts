import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadConfig } from "../../../src/intent/guard/config/load.js";
import { AnswerService } from "../../../src/people/approval/answer-service.js";
import { type ApprovalItem, approvalOf } from "../../../src/people/approval/approval-item.js";
import type { Approver } from "../../../src/people/approval/approver.js";
import { commandDigest } from "../../../src/people/approval/digest.js";
import { MAX_OPEN, MAX_PER_MINUTE } from "../../../src/people/approval/limits.js";
import { Audit } from "../../../src/record/audit/audit.js";
import { hashOf } from "../../../src/record/audit/chain.js";
import { until } from "../../support/until.js";
import { asks, type Desktop, desktop, openSession, parked, queueOf, request, toolCall } from "./support.js";

let desk: Desktop;
beforeEach(async () => {
  desk = await desktop();
});
afterEach(() => desk.close());

const pending = async () => (await desk.store.approvals({ state: ["pending"] })).length;

describe("a request that needs an answer", () => {
  it("parks its tool call as BLOCKED, with an approval of kind TOOL_CALL, until an approver answers", async () => {
    const { queue } = queueOf(desk);
    const call = await toolCall(desk.store);
    const outcome = queue.request(request({ toolCall: call }));
    const row = await parked(desk.store);
    expect(row).toMatchObject({ kind: "TOOL_CALL", state: "pending", toolCall: call, what: "rm -rf build" });
    expect(JSON.parse(row.keys)).toEqual(["recursive delete"]);
    expect((await desk.store.toolCall(call))!.status).toBe("BLOCKED");
    await queue.answer(row.id, { answer: "once", by: "cli:alice", note: "go on" });
    expect(await outcome).toEqual({
      granted: true,
      state: "granted",
      scope: "once",
      approval: row.id,
      by: "cli:alice",
      note: "go on",
    });
    expect((await desk.store.approval(row.id))!.spent).not.toBeNull();
  });

  it("is refused with the note of the approver who refused it", async () => {
    const { queue } = queueOf(desk);
    const outcome = queue.request(request());
    const row = await parked(desk.store);
    await queue.answer(row.id, { answer: "no", by: "cli:alice", note: "use git clean" });
    expect(await outcome).toMatchObject({ granted: false, state: "refused", note: "use git clean" });
  });

  it("is shown whole, or refused without a question when it is too long to be read", async () => {
    const { queue } = queueOf(desk);
    const long = `echo ${"a".repeat(15_000)}; rm -rf build`;
    const outcome = queue.request(
      request({ what: long, detail: { diff: `${"+ line\n".repeat(20_000)}+ evil` } }),
    );
    const row = await parked(desk.store);
    expect(row.what).toBe(long);
    expect(JSON.parse(row.detail).diff).toMatch(/\n\+ evil$/);
    await queue.answer(row.id, { answer: "no", by: "cli:alice" });
    await outcome;
    for (const more of [{ what: `${long}${long}` }, { detail: { diff: "+ line\n".repeat(50_000) } }]) {
      const refusal = await queue.request(request(more));
      expect(refusal).toMatchObject({ granted: false, state: "refused", by: "hermes" });
      expect(refusal.note).toMatch(/too long to be read by a person \(\d+ letters\)/);
    }
    expect(await pending()).toBe(0);
  });

  it("silence is a no", async () => {
    const { queue } = queueOf(desk);
    expect(await queue.request(request(), { patience: 30 })).toMatchObject({
      granted: false,
      state: "expired",
      note: "No approver answered in time.",
    });
    expect(await pending()).toBe(0);
  });

  it("waits no longer than approvals.timeout, however patient its caller is", async () => {
    const { queue } = queueOf(desk, { timeout: 0.03 });
    expect(await queue.request(request(), { patience: 600_000 })).toMatchObject({ state: "expired" });
  });

  it("is withdrawn when its caller gives up", async () => {
    const { queue } = queueOf(desk);
    const stop = new AbortController();
    const outcome = queue.request(request(), { signal: stop.signal });
    const row = await parked(desk.store);
    stop.abort(new Error("the agent changed its mind"));
    expect(await outcome).toMatchObject({ state: "withdrawn", note: "the agent changed its mind" });
    expect((await desk.store.approval(row.id))!.state).toBe("withdrawn");
    const late = await queue.answer(row.id, { answer: "once", by: "cli:bob" });
    expect(late).toMatchObject({
      mine: false,
      told: expect.stringContaining("it is over: the asker does not wait any more"),
    });
  });

  it("is not even parked when its caller had given up before", async () => {
    const { queue } = queueOf(desk);
    expect(await queue.request(request(), { signal: AbortSignal.abort() })).toMatchObject({
      state: "withdrawn",
    });
    expect(await desk.store.approvals()).toEqual([]);
  });

  it("has no secrets in its row", async () => {
    const { queue } = queueOf(desk);
    const token = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;
    void queue.request(
      request({ what: `curl -H 'Authorization: Bearer ${token}' x`, digest: "d", detail: { diff: [token] } }),
      {
        patience: 50,
      },
    );
    const row = await parked(desk.store);
    expect(JSON.stringify(row)).not.toContain(token);
  });

  it("is refused when the store or the configuration fails, and that is told", async () => {
    const broken = () => {
      throw new Error("hermes.yaml:1:1: no");
    };
    const { queue, problems } = queueOf(desk, {}, { config: broken });
    expect(await queue.request(request())).toMatchObject({ granted: false, state: "refused" });
    expect(problems[0]).toContain("hermes.yaml:1:1: no");
  });

  it("is refused without asking when something in it is denied", async () => {
    const { queue } = queueOf(desk, { mode: "off" });
    const denied = { ...asks("privilege"), action: "deny" as const };
    expect(await queue.request(request({ findings: [asks("listen"), denied] }))).toMatchObject({
      granted: false,
      by: "guard",
    });
  });
});

describe("an answer", () => {
  it("for once is used once: the same request is asked again", async () => {
    const { queue } = queueOf(desk);
    for (const by of ["cli:alice", "cli:bob"]) {
      const outcome = queue.request(request());
      await queue.answer((await parked(desk.store)).id, { answer: "once", by });
      expect(await outcome).toMatchObject({ granted: true, by });
    }
    expect(await desk.store.approvals()).toHaveLength(2);
  });

  it("for the session holds for the same digest in this session, and for nothing else", async () => {
    const { queue } = queueOf(desk);
    await openSession(desk.store, "two", desk.folder);
    const outcome = queue.request(request());
    const first = await parked(desk.store);
    await queue.answer(first.id, { answer: "session", by: "cli:alice" });
    expect(await outcome).toMatchObject({ granted: true, scope: "session" });
    for (let i = 0; i < 3; i++)
      expect(await queue.request(request())).toMatchObject({ granted: true, approval: first.id });
    expect(await queue.request(request({ digest: "another" }), { patience: 10 })).toMatchObject({
      granted: false,
    });
    expect(await queue.request(request({ session: "two" }), { patience: 10 })).toMatchObject({
      granted: false,
    });
  });

  it("for always is written into the user's file and holds in every session", async () => {
    const { loadConfig } = await import("../../../src/intent/guard/config/load.js");
    const places = {
      workspace: desk.folder,
      home: desk.folder,
      env: { HERMES_HOME: `${desk.folder}/config` },
    };
    const { queue } = queueOf(desk, {}, { config: () => loadConfig(places).config.approvals });
    const outcome = queue.request(request());
    await queue.answer((await parked(desk.store)).id, { answer: "always", by: "cli:alice" });
    expect(await outcome).toMatchObject({ granted: true, scope: "always" });
    expect(readFileSync(desk.userFile, "utf8")).toMatch(
      /^approvals:\n {2}allow:\n {4}- exact:digest of rm -rf build # rm -rf build \(cli:alice, 20/,
    );
    await openSession(desk.store, "two", desk.folder);
    expect(await queue.request(request({ session: "two" }))).toMatchObject({
      granted: true,
      by: "allow:exact",
    });
    expect(await queue.request(request({ digest: "another" }), { patience: 10 })).toMatchObject({
      granted: false,
    });
    expect(await desk.store.allowances()).toMatchObject([
      { key: "exact:digest of rm -rf build", given: true, by: "cli:alice" },
    ]);
  });

  it("for always does not outlive its line in the file", async () => {
    const { queue } = queueOf(desk);
    const outcome = queue.request(request());
    await queue.answer((await parked(desk.store)).id, { answer: "always", by: "cli:alice" });
    expect(await outcome).toMatchObject({ granted: true, scope: "always" });
    // This queue's configuration has no such line.
    expect(await queue.request(request(), { patience: 10 })).toMatchObject({ granted: false });
  });

  it.each([
    [["bash", "x.sh"]],
    [["/usr/bin/env", "rm"]],
    [["python3.12", "x.py"]],
    [["find", ".", "-exec", "rm", "{}", ";"]],
  ])("for always holds only once for %j", async (argv) => {
    const { queue } = queueOf(desk);
    const outcome = queue.request(request({ argv }));
    const answered = await queue.answer((await parked(desk.store)).id, { answer: "always", by: "cli:alice" });
    expect(answered.told).toMatch(/^not for always: .* runs whatever it is told to, .*; once, then$/);
    expect(await outcome).toMatchObject({ granted: true, scope: "once" });
  });

  it("the first one counts, and the others are told whose it was", async () => {
    const { queue } = queueOf(desk);
    const outcome = queue.request(request());
    const { id } = await parked(desk.store);
    const answers = await Promise.all(
      ["alice", "bob", "carol"].map((who) =>
        queue.answer(id, { answer: who === "bob" ? "no" : "once", by: `cli:${who}` }),
      ),
    );
    const winner = answers.filter(({ mine }) => mine);
    expect(winner).toHaveLength(1);
    const { answeredBy } = winner[0]!.item;
    expect(answers.filter(({ mine }) => !mine).map(({ told }) => told)).toEqual([
      expect.stringContaining(`${answeredBy} was first`),
      expect.stringContaining(`${answeredBy} was first`),
    ]);
    expect(await outcome).toMatchObject({ by: answeredBy });
  });

  it("after its time is too late", async () => {
    const { queue } = queueOf(desk);
    expect(await queue.request(request(), { patience: 10 })).toMatchObject({ state: "expired" });
    const [row] = await desk.store.approvals();
    expect(await queue.answer(row!.id, { answer: "once", by: "cli:bob" })).toMatchObject({
      mine: false,
      told: "it is over: no approver answered in time",
    });
  });

  it("to nothing is an error", async () => {
    const { queue } = queueOf(desk);
    await expect(queue.answer("nothing", { answer: "once", by: "cli:bob" })).rejects.toThrow(
      "approval nothing: there is no such approval",
    );
  });
});

describe("a grant is bound to what was asked about", () => {
  it.each<[string, (folder: string) => Parameters<typeof commandDigest>[0]]>([
    ["a word", (cwd) => ({ command: "bash x.sh -f", cwd, env: ["PATH"] })],
    ["the folder", (cwd) => ({ command: "bash x.sh", cwd: `${cwd}/..`, env: ["PATH"] })],
    ["a variable", (cwd) => ({ command: "bash x.sh", cwd, env: ["PATH", "BASH_ENV"] })],
    [
      "the script",
      (cwd) => {
        writeFileSync(`${cwd}/x.sh`, "echo two\n");
        return { command: "bash x.sh", cwd, env: ["PATH"] };
      },
    ],
  ])("another one needs another answer: %s", async (_, change) => {
    const { queue } = queueOf(desk);
    writeFileSync(`${desk.folder}/x.sh`, "echo one\n");
    const granted = () =>
      request({ digest: commandDigest({ command: "bash x.sh", cwd: desk.folder, env: ["PATH"] }).digest });
    const outcome = queue.request(granted());
    await queue.answer((await parked(desk.store)).id, { answer: "session", by: "cli:alice" });
    expect(await outcome).toMatchObject({ granted: true });
    expect(await queue.request(granted())).toMatchObject({ granted: true, scope: "session" });
    const { digest } = commandDigest(change(desk.folder));
    expect(await queue.request(request({ digest }), { patience: 10 })).toMatchObject({ state: "expired" });
  });
});

describe("a composed command", () => {
  const [one, two] = ["rm -rf a", "git reset --hard"];
  const composed = (more = {}) =>
    request({
      what: `${one} && ${two}`,
      findings: [asks("recursive-delete"), asks("git-destructive")],
      parts: [
        { what: one!, digest: "one", findings: [asks("recursive-delete")] },
        { what: two!, digest: "two", findings: [asks("git-destructive")] },
      ],
      ...more,
    });

  it("needs no new answer when each of its parts has one", async () => {
    const { queue } = queueOf(desk, { allow: ["git destructive"] });
    expect(await queue.request(composed(), { patience: 10 })).toMatchObject({ granted: false });
    const outcome = queue.request(request({ what: one!, digest: "one" }));
    await queue.answer((await parked(desk.store)).id, { answer: "session", by: "cli:alice" });
    await outcome;
    expect(await queue.request(composed())).toMatchObject({ granted: true, by: "parts" });
  });

  it("needs one when something in it belongs to no part", async () => {
    const { queue } = queueOf(desk, { allow: ["recursive delete", "git destructive"] });
    const findings = [...composed().findings, asks("exfiltration")];
    expect(await queue.request(composed({ findings }), { patience: 10 })).toMatchObject({ granted: false });
  });

  it("is not covered by a part's grant for once", async () => {
    const { queue } = queueOf(desk, { allow: ["git destructive"] });
    const outcome = queue.request(request({ what: one!, digest: "one" }));
    await queue.answer((await parked(desk.store)).id, { answer: "once", by: "cli:alice" });
    await outcome;
    expect(await queue.request(composed(), { patience: 10 })).toMatchObject({ granted: false });
  });
});

describe("equal requests", () => {
  it("share one question; a grant for once is for one of them, and the other is asked anew", async () => {
    const { queue } = queueOf(desk);
    const [a, b] = [await toolCall(desk.store), await toolCall(desk.store)];
    const both = [queue.request(request({ toolCall: a })), queue.request(request({ toolCall: b }))];
    await until(async () => ((await desk.store.toolCall(b))!.status === "BLOCKED" ? true : undefined));
    const first = await parked(desk.store);
    await queue.answer(first.id, { answer: "once", by: "cli:alice" });
    const winner = await Promise.race(both);
    expect(winner).toMatchObject({ granted: true, approval: first.id });
    const second = await parked(desk.store);
    expect(second.id).not.toBe(first.id);
    await queue.answer(second.id, { answer: "no", by: "cli:alice" });
    const outcomes = await Promise.all(both);
    expect(outcomes.map(({ granted }) => granted).sort()).toEqual([false, true]);
  });

  it("are answered together when the answer is for the session, or a no", async () => {
    const { queue } = queueOf(desk);
    for (const [answer, granted] of [
      ["no", false],
      ["session", true],
    ] as const) {
      const all = [1, 2, 3].map(() => queue.request(request()));
      await queue.answer((await parked(desk.store)).id, { answer, by: "cli:alice" });
      expect((await Promise.all(all)).map((one) => one.granted)).toEqual([granted, granted, granted]);
    }
    expect(await desk.store.approvals()).toHaveLength(2);
  });

  it("wait as long as each wants to", async () => {
    const { queue } = queueOf(desk);
    const long = queue.request(request(), { patience: 600_000 });
    const { id } = await parked(desk.store);
    expect(await queue.request(request(), { patience: 30 })).toMatchObject({
      granted: false,
      state: "expired",
    });
    expect((await desk.store.approval(id))!.state).toBe("pending");
    await queue.answer(id, { answer: "once", by: "cli:alice" });
    expect(await long).toMatchObject({ granted: true });
    const short = queue.request(request(), { patience: 30 });
    const second = await parked(desk.store);
    const patient = queue.request(request(), { patience: 600_000 });
    expect(await short).toMatchObject({ state: "expired" });
    const third = await parked(desk.store);
    expect(third.id).not.toBe(second.id);
    await queue.answer(third.id, { answer: "once", by: "cli:alice" });
    expect(await patient).toMatchObject({ granted: true });
  });

  it("of two sessions share one, but not at a system call: that is of one program", async () => {
    const { queue } = queueOf(desk);
    await openSession(desk.store, "two", desk.folder);
    const ask = (kind: "TOOL_CALL" | "DEED", session: string) =>
      queue.request(request({ kind, session, digest: kind }));
    const tools = [ask("TOOL_CALL", "one"), ask("TOOL_CALL", "two")];
    const deeds = [ask("DEED", "one"), ask("DEED", "two")];
    await until(async () => ((await pending()) === 3 ? true : undefined));
    const [first, second] = await desk.store.approvals({ state: ["pending"], digest: "DEED" });
    await queue.answer(first!.id, { answer: "session", by: "cli:alice" });
    await queue.answer(second!.id, { answer: "no", by: "cli:alice" });
    expect((await Promise.all(deeds)).map(({ granted }) => granted)).toEqual([true, false]);
    await queue.answer((await parked(desk.store)).id, { answer: "no", by: "cli:alice" });
    expect((await Promise.all(tools)).map(({ granted }) => granted)).toEqual([false, false]);
  });

  it("go on waiting when one of them gives up", async () => {
    const { queue } = queueOf(desk);
    const stop = new AbortController();
    const both: string[] = [];
    const note = { parked: (row: string) => void both.push(row) };
    const gone = queue.request(request(), { ...note, signal: stop.signal });
    const stays = queue.request(request(), note);
    const { id } = await parked(desk.store);
    await until(() => both.length === 2, "both to wait for the same answer");
    stop.abort();
    expect(await gone).toMatchObject({ state: "withdrawn" });
    await queue.answer(id, { answer: "once", by: "cli:alice" });
    expect(await stays).toMatchObject({ granted: true, approval: id });
  });
});

describe("floods", () => {
  it(`more than ${MAX_OPEN} open questions of a session are refused`, async () => {
    const { queue } = queueOf(desk);
    const stops = Array.from({ length: MAX_OPEN + 1 }, () => new AbortController());
    const [stop, ...rest] = stops;
    const all = rest.map(({ signal }, i) => queue.request(request({ what: `rm -rf ${i}` }), { signal }));
    await until(async () => ((await pending()) === MAX_OPEN ? true : undefined));
    expect(await queue.request(request({ what: "rm -rf more" }))).toMatchObject({
      granted: false,
      state: "refused",
      note: `Too many questions wait for an answer (${MAX_OPEN}): wait for these.`,
    });
    await openSession(desk.store, "two", desk.folder);
    const other = queue.request(request({ session: "two", what: "rm -rf more" }), { signal: stop!.signal });
    await until(async () => ((await pending()) === MAX_OPEN + 1 ? true : undefined));
    for (const one of stops) one.abort();
    await Promise.all([...all, other]);
  });

  it(`more than ${MAX_PER_MINUTE} questions of a session in a minute are refused`, async () => {
    const { queue } = queueOf(desk);
    for (let i = 0; i < MAX_PER_MINUTE; i++)
      expect(await queue.request(request({ what: `rm -rf ${i}` }), { patience: 1 })).toMatchObject({
        state: "expired",
      });
    expect(await queue.request(request({ what: "rm -rf more" }))).toMatchObject({
      state: "refused",
      note: expect.stringContaining(`Too many questions in a minute (${MAX_PER_MINUTE})`),
    });
  });
});

describe("modes", () => {
  it("off grants everything, loudly", async () => {
    const { queue, problems } = queueOf(desk, { mode: "off" });
    expect(await queue.request(request())).toEqual({
      granted: true,
      state: "granted",
      scope: "once",
      by: "mode:off",
    });
    expect(problems).toEqual(["APPROVALS ARE OFF (approvals.mode): approved without asking: rm -rf build"]);
  });

  it("off tells nothing that is secret or hostile", async () => {
    const { queue, problems } = queueOf(desk, { mode: "off" });
    const token = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;
    await queue.request(request({ what: `curl -H ${token}\u001b[2J` }));
    expect(problems[0]).toContain("\\x1b[2J");
    expect(problems[0]).not.toContain(token);
  });

  it("auto approves after the delay what is safe for it", async () => {
    const { queue } = queueOf(desk, { mode: "auto", delay: 0.03 });
    const outcome = queue.request(request({ what: "jq .", findings: [asks("not-listed")] }));
    await parked(desk.store);
    expect(await outcome).toMatchObject({ granted: true, by: "auto", scope: "once" });
  });

  it("auto can be answered before", async () => {
    const { queue } = queueOf(desk, { mode: "auto", delay: 600 });
    const outcome = queue.request(request({ what: "jq .", findings: [asks("not-listed")] }));
    await queue.answer((await parked(desk.store)).id, { answer: "no", by: "cli:alice" });
    expect(await outcome).toMatchObject({ granted: false, by: "cli:alice" });
  });

  it.each(["secret-sent", "namespace", "remote-change", "recursive-delete", "kill-many", "schedule"])(
    "auto waits for a person about %s, regardless of how it is marked",
    async (rule) => {
      const { queue } = queueOf(desk, { mode: "auto", delay: 0, auto: ["not-listed"] });
      const findings = [asks("not-listed"), asks(rule)];
      expect(await queue.request(request({ findings }), { patience: 60 })).toMatchObject({
        state: "expired",
      });
    },
  );
});

describe("answers in advance", () => {
  it.each([["recursive delete"], ["rm_recursive"], ["recursive-delete"]])(
    "the key %s of the allow-list covers its rule",
    async (key) => {
      const { queue } = queueOf(desk, { allow: [key] });
      expect(await queue.request(request())).toMatchObject({
        granted: true,
        by: `allow:${key}`,
        scope: "always",
      });
    },
  );

  it("every finding must be covered", async () => {
    const { queue } = queueOf(desk, { allow: ["recursive delete"] });
    const findings = [asks("recursive-delete"), asks("exfiltration")];
    expect(await queue.request(request({ findings }), { patience: 10 })).toMatchObject({ granted: false });
    const both = queueOf(desk, { allow: ["recursive delete", "upload"] });
    expect(await both.queue.request(request({ findings }))).toMatchObject({
      by: "allow:recursive delete, allow:upload",
    });
  });

  it("a request without findings is asked about", async () => {
    const { queue } = queueOf(desk, { allow: ["recursive delete"], rules: [{ allow: "*" }] });
    expect(await queue.request(request({ findings: [] }), { patience: 10 })).toMatchObject({
      state: "expired",
    });
  });
});

describe("the audit", () => {
  it("has every question and every answer, also those in advance, and verifies", async () => {
    const audit = Audit.open(desk.store);
    const { queue } = queueOf(desk, { allow: ["upload"], rules: [{ deny: "scan" }] }, { audit });
    const outcome = queue.request(request());
    const { id } = await parked(desk.store);
    await queue.answer(id, { answer: "session", by: "cli:alice", note: "go on" });
    await outcome;
    await queue.request(request());
    await queue.request(request({ digest: "2", findings: [asks("exfiltration")] }));
    await queue.request(request({ digest: "3", findings: [asks("scan")] }));
    await queue.request(request({ digest: "4" }), { patience: 5 });
    const stop = new AbortController();
    const gone = queue.request(request({ digest: "5" }), { signal: stop.signal });
    await parked(desk.store);
    stop.abort();
    await gone;
    const rows = await until(async () => {
      const all = [];
      for await (const row of desk.store.audit()) all.push(row);
      return all.length >= 9 ? all : undefined;
    });
    audit.close();
    rows.forEach((row, i) => {
      expect(row.previous).toBe(rows[i - 1]?.hash ?? "0".repeat(64));
      expect(row.hash).toBe(hashOf(row));
    });
    const records = rows.map(({ kind, body }) => {
      const { state, by, scope } = JSON.parse(body) as Record<string, string>;
      return [kind, state, scope, by].filter(Boolean).join(" ");
    });
    expect(records).toEqual([
      "approval-asked",
      "approval-answered granted session cli:alice",
      "approval-answered granted session cli:alice",
      "approval-answered granted always allow:upload",
      "approval-answered refused rule:scan",
      "approval-asked",
      "approval-answered expired expiry",
      "approval-asked",
      "approval-answered withdrawn hermes",
    ]);
  });
});

describe("the audit of an answer", () => {
  it("is written before the answer counts", async () => {
    const order: string[] = [];
    const audit = {
      record: async (kind: string, body: object) => {
        await sleep(30);
        order.push(`${kind} ${"state" in body ? body.state : ""}`);
        return undefined as never;
      },
    };
    const { queue } = queueOf(desk, {}, { audit });
    const outcome = queue.request(request()).then(({ state }) => order.push(`goes on ${state}`));
    await queue.answer((await parked(desk.store)).id, { answer: "once", by: "cli:alice" });
    await outcome;
    expect(order.slice(1)).toEqual(["approval-answered granted", "goes on granted"]);
  });

  it("fails: nothing is answered", async () => {
    const audit = { record: () => Promise.reject(new Error("disk full")) };
    const { queue } = queueOf(desk);
    void queue.request(request());
    const { id } = await parked(desk.store);
    const failing = queueOf(desk, {}, { audit }).queue;
    await expect(failing.answer(id, { answer: "once", by: "cli:alice" })).rejects.toThrow("disk full");
    expect((await desk.store.approval(id))!.state).toBe("pending");
    expect(await failing.request(request({ digest: "2" }))).toMatchObject({
      granted: false,
      state: "refused",
    });
  });
});

describe("approvers", () => {
  const recording = (): Approver & { asked: ApprovalItem[]; gone: string[] } => ({
    name: "recording",
    asked: [],
    gone: [],
    ask(item) {
      this.asked.push(item);
    },
    withdraw(id, why) {
      this.gone.push(`${id} ${why}`);
    },
  });

  it("are all asked, and told when one has answered; a broken one keeps no request waiting", async () => {
    const broken: Approver = {
      name: "broken",
      ask: () => {
        throw new Error("no terminal");
      },
      withdraw: () => {
        throw new Error("no terminal");
      },
    };
    const silent = recording();
    const quick: Approver = {
      name: "quick",
      ask: (_, answer) => void answer({ answer: "once", by: "terminal:alice" }),
      withdraw: () => undefined,
    };
    const { queue, problems } = queueOf(desk, {}, { approvers: [broken, silent, quick] });
    const outcome = await queue.request(request());
    expect(outcome).toMatchObject({ granted: true, by: "terminal:alice" });
    expect(silent.asked).toMatchObject([
      { what: "rm -rf build", keys: ["recursive delete"], findings: [{ rule: "recursive-delete" }] },
    ]);
    expect(silent.gone).toEqual([`${outcome.approval} granted by terminal:alice`]);
    expect(problems).toEqual(["approver broken: no terminal", "approver broken: no terminal"]);
  });

  it("whose answer cannot be stored make the request fail, and it is refused", async () => {
    const full = new Error("the disk is full");
    const store = new Proxy(desk.store, {
      get: (real, key) => (key === "answer" ? async () => Promise.reject(full) : Reflect.get(real, key)),
    });
    const terminal: Approver = {
      name: "terminal",
      ask: (_, answer) => void answer({ answer: "once", by: "terminal:alice" }).catch(() => {}),
      withdraw: () => undefined,
    };
    const { queue, problems } = queueOf({ ...desk, store }, {}, { approvers: [terminal] });
    expect(await queue.request(request())).toMatchObject({
      granted: false,
      by: "hermes",
      note: "approval request failed: the disk is full",
    });
    expect(problems).toEqual(["rm -rf build: approval request failed: the disk is full"]);
  });

  it("are asked once about equal requests", async () => {
    const approver = recording();
    const { queue } = queueOf(desk, {}, { approvers: [approver] });
    const both: string[] = [];
    const all = [1, 2].map(() => queue.request(request(), { parked: (row) => void both.push(row) }));
    const { id } = await parked(desk.store);
    await until(() => both.length === 2, "both to wait for the same answer");
    await queue.answer(id, { answer: "no", by: "cli:alice" });
    await Promise.all(all);
    expect(approver.asked).toHaveLength(1);
    expect(approver.gone).toHaveLength(1);
  });
});

describe("a refusal that lasts", () => {
  it("for the session refuses the same again without asking, in this session only", async () => {
    const { queue } = queueOf(desk);
    const first = queue.request(request());
    await queue.answer((await parked(desk.store)).id, { answer: "no-session", by: "cli:alice" });
    expect(await first).toMatchObject({ granted: false, scope: "session" });
    expect(await queue.request(request())).toMatchObject({ granted: false, by: "cli:alice" });
    await openSession(desk.store, "two", desk.folder);
    const other = queue.request(request({ session: "two" }));
    await queue.answer((await parked(desk.store)).id, { answer: "no", by: "cli:alice" });
    await other;
  });

  it("for always is kept in approvals.deny until it is revoked", async () => {
    const { queue } = queueOf(desk, {}, { config: () => configOf(desk) });
    const first = queue.request(request());
    await queue.answer((await parked(desk.store)).id, { answer: "never", by: "cli:alice" });
    expect(await first).toMatchObject({ granted: false, scope: "always" });
    expect(configOf(desk).deny).toEqual([`exact:${request().digest}`]);
    expect(await queue.request(request())).toMatchObject({ granted: false, by: "deny:exact" });
    const service = new AnswerService(desk);
    expect(await service.lasting()).toMatchObject([{ grants: false, what: "rm -rf build", by: "cli:alice" }]);
    await service.revoke(`exact:${request().digest}`, "cli:bob");
    expect(await service.lasting()).toEqual([]);
    const again = queue.request(request());
    await queue.answer((await parked(desk.store)).id, { answer: "once", by: "cli:alice" });
    expect(await again).toMatchObject({ granted: true });
  });
});

describe("a question of a running program whose session has ended", () => {
  it("is withdrawn by every process that looks; a tool call waits on", async () => {
    const now = Date.now();
    for (const kind of ["TOOL_CALL", "DEED"] as const)
      await desk.store.park(approvalOf(request({ kind }), kind, now, now + 60_000));
    const service = new AnswerService(desk);
    await service.sweep();
    expect(await pending()).toBe(2);
    await desk.store.endSession("one", Date.now());
    await service.sweep();
    expect(await desk.store.approval("TOOL_CALL")).toMatchObject({ state: "pending" });
    expect(await desk.store.approval("DEED")).toMatchObject({
      state: "withdrawn",
      note: "the program that asked has ended",
    });
    expect(await service.answer("DEED", { answer: "once", by: "cli:alice" })).toMatchObject({
      mine: false,
      told: "it is over: the program that asked has ended",
    });
  });
});

function configOf({ folder }: Desktop) {
  const places = { workspace: folder, home: folder, env: { HERMES_HOME: join(folder, "config") } };
  return loadConfig(places).config.approvals;
}
