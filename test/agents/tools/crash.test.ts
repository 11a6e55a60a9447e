import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, it } from "vitest";
import { openStore } from "../../../src/record/store/open.js";
import { hermes } from "../../support/cli.js";
import { isRunning, listOf, textOf } from "../../support/processes.js";
import { root } from "../../support/root.js";
import { until } from "../../support/until.js";
import { makePlace, type Place, toolboxIn } from "./place.js";

/** HERMES_FAULTS=long: at two hundred moments. */
const ROUNDS = process.env.HERMES_FAULTS === "long" ? 40 : 16;
const HOSTS = 5;

interface Heard {
  readonly pids: number[];
  readonly asked: string[];
  /** `file` is what the command of that call appends a line to. */
  readonly ended: { call: string; status: string; file?: string }[];
}

/** A busy host that is killed soon after its first `lines` lines: what it had said until then. */
async function killedHost(
  { workspace, home, store }: Place,
  name: string,
  lines: number,
  heard: Heard,
): Promise<void> {
  const host = spawn(
    process.execPath,
    [join(root, "test/agents/tools/load.mjs"), workspace, home, store, name],
    {
      stdio: ["ignore", "pipe", "ignore"],
    },
  );
  heard.pids.push(host.pid!);
  const kill = () => setTimeout(() => host.kill("SIGKILL"), Math.random() * 400);
  if (lines === 0) setTimeout(kill, Math.random() * 1000); // while it starts
  let left = lines;
  const said = createInterface({ input: host.stdout });
  said.on("line", (line) => {
    const { asked, ...ended } = JSON.parse(line);
    if (asked) heard.asked.push(asked);
    else heard.ended.push(ended);
    if (--left === 0) kill();
  });
  await Promise.all([once(host, "exit"), once(said, "close")]);
}

/** The processes that a run of such a host has started: each has this home in its environment. */
function runsOf({ home }: Place): string[] {
  return listOf("/proc").filter(
    (pid) =>
      /^\d+$/.test(pid) &&
      isRunning(Number(pid)) &&
      textOf(`/proc/${pid}/environ`).includes(`HERMES_HOME=${home}\0`),
  );
}

describe(`hosts that are killed at ${ROUNDS * HOSTS} moments or more, under load`, () => {
  it("leave nothing running and nothing behind; no answer is lost or used twice; every record is there", {
    timeout: 900_000,
  }, async () => {
    const place = makePlace();
    const heard: Heard = { pids: [], asked: [], ended: [] };
    // On a busy machine a host says less before it is killed: then more of them are.
    const heardEnough = () => heard.asked.length > ROUNDS && heard.ended.length > ROUNDS;
    for (let round = 0; round < ROUNDS || !heardEnough(); round++)
      await Promise.all(
        Array.from({ length: HOSTS }, (_, i) =>
          killedHost(place, `${round}-${i}`, Math.floor(Math.random() * 5), heard),
        ),
      );

    // Launchers end every process of a session whose supervisor is gone.
    await until(() => runsOf(place).length === 0, "the end of every run of a killed host");

    await toolboxIn(place); // the next start cleans up
    const scratch = readdirSync(tmpdir()).filter((name) =>
      heard.pids.some((pid) => name.startsWith("hermes-scratch-") && name.includes(`-${pid}-`)),
    );
    expect(scratch).toEqual([]);
    expect(readdirSync(place.workspace).filter((name) => name.startsWith(".hermes-"))).toEqual([]);
    for (const name of readdirSync(place.workspace)) {
      const content = readFileSync(join(place.workspace, name), "utf8");
      if (name.endsWith(".txt")) expect(content).toBe("x".repeat(50_000));
      // A shell that is killed between opening the file and writing the line leaves it empty.
      if (name.endsWith(".log")) expect([name, content]).toEqual([name, content && "ran\n"]);
    }
    for (const { status, file } of heard.ended)
      if (status === "DONE" && file) expect(readFileSync(join(place.workspace, file), "utf8")).toBe("ran\n");

    const store = await openStore(place.store);
    for (const id of heard.asked) expect(await store.approval(id)).toBeDefined();
    for (const { call, status } of heard.ended) expect((await store.toolCall(call))?.status).toBe(status);
    for (const row of await store.approvals({ state: ["granted"], limit: 100_000 }))
      expect(row.scope === "once" || row.spent === null).toBe(true);
    expect(await store.toolCalls({ status: ["RUNNING", "PENDING"] })).toEqual([]);
    await store.close();
    expect(hermes(["audit", "verify", "--store", place.store], { timeout: 120_000 })).toMatchObject({
      status: 0,
    });
    expect(existsSync(place.store)).toBe(true);
  });
});
