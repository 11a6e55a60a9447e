import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ApprovalItem } from "../../../src/people/approval/approval-item.js";
import { HERMES, hermes } from "../../support/cli.js";
import { until } from "../../support/until.js";

let home: string;
let workspace: string;
let env: NodeJS.ProcessEnv;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "hermes-exec-home-"));
  workspace = mkdtempSync(join(tmpdir(), "hermes-exec-work-"));
  mkdirSync(join(workspace, "data/old"), { recursive: true });
  env = { ...process.env, HERMES_HOME: home };
  delete env.HERMES_STORE;
});
afterEach(() => {
  for (const folder of [home, workspace]) rmSync(folder, { recursive: true, force: true });
});

const start = (command: string) =>
  spawn(HERMES, ["exec", "--json", "--ask", "queue", "-w", workspace, command], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
const approvals = (...words: string[]) => hermes(["approvals", ...words], { env });
const waiting = () => until(() => (JSON.parse(approvals("list", "--json").stdout) as ApprovalItem[])[0]);

describe("a command of an agent", () => {
  it("waits for an answer, outlives kill -9 of its process, and runs once", async () => {
    const killed = start("rm -rf data");
    const item = await waiting();
    expect(item).toMatchObject({ kind: "TOOL_CALL", what: "rm -rf data", keys: ["recursive delete"] });
    killed.kill("SIGKILL");
    await once(killed, "exit");
    expect(approvals("approve", item.id).status).toBe(0);
    expect(existsSync(join(workspace, "data"))).toBe(true);

    const again = start("rm -rf data");
    expect(await once(again, "exit")).toEqual([0, null]);
    expect(existsSync(join(workspace, "data"))).toBe(false);

    mkdirSync(join(workspace, "data"));
    const third = start("rm -rf data");
    const next = await waiting();
    expect(next.id).not.toBe(item.id);
    approvals("deny", next.id, "--note", "it is needed");
    expect((await once(third, "exit"))[0]).not.toBe(0);
    expect(existsSync(join(workspace, "data"))).toBe(true);
    expect(hermes(["audit", "verify"], { env }).status).toBe(0);
  });

  it("that was approved does not run when its script was changed meanwhile", async () => {
    const script = join(workspace, "x.sh");
    writeFileSync(script, "echo one\n");
    const running = start("rm -rf data; bash x.sh > out");
    const { id } = await waiting();
    writeFileSync(script, "echo two\n");
    approvals("approve", id);
    expect((await once(running, "exit"))[0]).not.toBe(0);
    expect(existsSync(join(workspace, "out"))).toBe(false);
    expect(existsSync(join(workspace, "data"))).toBe(true);
  });

  it("that was approved for a session is asked about in another one", async () => {
    const first = start("rm -rf data/old");
    approvals("approve", (await waiting()).id, "--scope", "session");
    expect(await once(first, "exit")).toEqual([0, null]);
    const second = start("rm -rf data/old");
    approvals("deny", (await waiting()).id);
    expect((await once(second, "exit"))[0]).not.toBe(0);
  });
});
