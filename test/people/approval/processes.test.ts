import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { AnswerService } from "../../../src/people/approval/answer-service.js";
import type { ApprovalOutcome } from "../../../src/people/approval/approvals.js";
import { PostgresServer } from "../../record/store/postgres-server.js";
import { until } from "../../support/until.js";
import { compiled, Talker } from "./processes.js";
import { type Desktop, desktop } from "./support.js";

let program: Awaited<ReturnType<typeof compiled>>;
beforeAll(async () => {
  program = await compiled("test/people/approval/asker.ts");
});
afterAll(() => program.remove());

let desk: Desktop;
let url: string;
let talkers: Talker[];
afterEach(async () => {
  await Promise.all(talkers.map((one) => one.kill()));
  await desk.close();
});

function start(...words: string[]): Talker {
  const talker = new Talker(program.file, url, desk.folder, ...words);
  talkers.push(talker);
  return talker;
}

/** What became of its request, past what it says on the way. */
async function outcome(agent: Talker): Promise<ApprovalOutcome> {
  for (;;) {
    const heard = await agent.hear<ApprovalOutcome | { readonly parked: string }>();
    if ("state" in heard) return heard;
  }
}

const answer = (id: string, given: "once" | "no" = "once") =>
  new AnswerService({ store: desk.store }).answer(id, { answer: given, by: "cli:alice" });

/** Says yes to everything, until it is told to stop. */
function sayYes(): { stop(): Promise<void> } {
  let going = true;
  const done = (async () => {
    while (going) {
      for (const { id } of await desk.store.approvals({ state: ["pending"] })) await answer(id);
      await sleep(3);
    }
  })();
  return {
    stop: () => {
      going = false;
      return done;
    },
  };
}

/** Everything that it was granted, until it ends or is killed. */
async function grantsOf(agent: Talker): Promise<string[]> {
  const grants: string[] = [];
  for (;;)
    try {
      const heard = await agent.hear<{ granted?: boolean; approval?: string }>();
      if (heard.granted && heard.approval) grants.push(heard.approval);
    } catch {
      return grants;
    }
}

function suite(fresh: () => Promise<string | undefined>): void {
  beforeEach(async () => {
    const given = await fresh();
    desk = await desktop(given);
    url = given ?? join(desk.folder, "hermes.db");
    talkers = [];
  });

  it("one asks, another answers", async () => {
    const agent = start("agent", "rm -rf build");
    const { parked } = await agent.hear<{ parked: string }>();
    expect((await desk.store.toolCall("agent-call"))!.status).toBe("BLOCKED");
    expect(await answer(parked)).toMatchObject({ mine: true });
    expect(await agent.hear()).toMatchObject({ granted: true, by: "cli:alice", approval: parked });
  });

  it("ten answer at once: one of them has answered, and all others are told who", async () => {
    const agent = start("agent", "rm -rf build");
    const { parked } = await agent.hear<{ parked: string }>();
    const answers = Array.from({ length: 10 }, (_, i) =>
      start(`person-${i}`, "answer", parked, i % 2 ? "no" : "once"),
    );
    for (const one of answers) await one.hear();
    for (const one of answers) one.say();
    const results = await Promise.all(answers.map((one) => one.hear<{ mine: boolean; by: string }>()));
    const [first, ...others] = results.filter(({ mine }) => mine);
    expect(others).toEqual([]);
    expect(new Set(results.map(({ by }) => by))).toEqual(new Set([first!.by]));
    const granted = Number(first!.by.at(-1)) % 2 === 0;
    expect(await agent.hear()).toMatchObject({ granted, by: first!.by });
  });

  it("ask the same at once: one question stays, and a grant for once is for one of them", async () => {
    const names = ["a", "b", "c"];
    const outcomes = names.map((name) => outcome(start(name, "rm -rf build")));
    const pending = () => desk.store.approvals({ state: ["pending"] });
    const first = await until(async () => {
      const calls = await Promise.all(names.map((name) => desk.store.toolCall(`${name}-call`)));
      const rows = await pending();
      return calls.every((call) => call?.status === "BLOCKED") && rows.length === 1 ? rows[0] : undefined;
    });
    await answer(first.id);
    expect(await Promise.race(outcomes)).toMatchObject({ granted: true, approval: first.id });
    let all: readonly ApprovalOutcome[] | undefined;
    void Promise.all(outcomes).then((every) => {
      all = every;
    });
    const results = await until(async () => {
      for (const { id } of await pending()) await answer(id, "no");
      return all;
    });
    expect(results.filter(({ granted }) => granted)).toHaveLength(1);
    expect(results.filter(({ state }) => state === "refused")).toHaveLength(2);
  });

  describe("kill -9 of the process that asked", () => {
    it("loses no question: the next that asks the same waits for the same answer", async () => {
      const agent = start("agent", "rm -rf build");
      const { parked } = await agent.hear<{ parked: string }>();
      await agent.kill();
      expect((await desk.store.approval(parked))!.state).toBe("pending");
      const next = start("next", "rm -rf build");
      expect(await next.hear()).toEqual({ parked });
      expect((await desk.store.toolCall("next-call"))!.status).toBe("BLOCKED");
      await answer(parked);
      expect(await next.hear()).toMatchObject({ granted: true, approval: parked });
    });

    it("loses no answer that came while no process waited; it is used once", async () => {
      const agent = start("agent", "rm -rf build");
      const { parked } = await agent.hear<{ parked: string }>();
      await agent.kill();
      await answer(parked);
      const next = start("next", "rm -rf build");
      expect(await next.hear()).toMatchObject({ granted: true, approval: parked, by: "cli:alice" });
      const third = start("third", "rm -rf build");
      const asked = await third.hear<{ parked: string }>();
      expect(asked.parked).toBeDefined();
      expect(asked.parked).not.toBe(parked);
    });

    it("an answer that came then is for what was asked: not for a script that has changed", async () => {
      const script = join(desk.folder, "x.sh");
      writeFileSync(script, "echo one\n");
      const agent = start("agent", "bash x.sh");
      const { parked } = await agent.hear<{ parked: string }>();
      await agent.kill();
      await answer(parked);
      writeFileSync(script, "echo two\n");
      const next = start("next", "bash x.sh");
      const asked = await next.hear<{ parked: string }>();
      expect(asked.parked).toBeDefined();
      expect(asked.parked).not.toBe(parked);
      await next.kill();
      writeFileSync(script, "echo one\n");
      expect(await start("last", "bash x.sh").hear()).toMatchObject({ granted: true, approval: parked });
    });

    it("at any point, again and again: no grant is used twice, and none is lost", async () => {
      const person = sayYes();
      const used: string[] = [];
      for (let round = 0; round < 8; round++) {
        const agents = ["x", "y"].map((name) => start(`${name}${round}`, "busy", "12"));
        const grants = agents.map(grantsOf);
        await until(async () => ((await desk.store.session(`x${round}`)) ? true : undefined));
        await sleep(Math.random() * 250);
        await Promise.all(agents.map((agent) => agent.kill()));
        used.push(...(await Promise.all(grants)).flat());
      }
      // A grant for a process that died is used by the next that asks the same.
      used.push(...(await grantsOf(start("last", "busy", "12"))));
      await person.stop();
      expect(new Set(used).size).toBe(used.length);
      const granted = await desk.store.approvals({ state: ["granted"] });
      expect(granted.filter(({ spent }) => spent === null)).toEqual([]);
      expect(used.length).toBeGreaterThan(30);
      expect(await desk.store.approvals({ state: ["pending"] })).toEqual([]);
    });

    it("an answer is not taken from a process that waits for it", async () => {
      const agent = start("agent", "rm -rf build");
      const { parked } = await agent.hear<{ parked: string }>();
      agent.process.kill("SIGSTOP");
      await answer(parked);
      const other = start("other", "rm -rf build");
      const asked = await other.hear<{ parked: string }>();
      expect(asked.parked).toBeDefined();
      expect(asked.parked).not.toBe(parked);
      agent.process.kill("SIGCONT");
      expect(await agent.hear()).toMatchObject({ granted: true, approval: parked });
    });
  });
}

describe("processes that share a SQLite file", () => suite(async () => undefined));

describe("processes that share a PostgreSQL server", () => {
  let server: PostgresServer;
  let home: string;
  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), "hermes-home-"));
    process.env.HERMES_HOME = home;
    server = await PostgresServer.start();
  });
  afterAll(async () => {
    await server.stop();
    rmSync(home, { recursive: true, force: true });
  });
  suite(() => server.fresh());
});
