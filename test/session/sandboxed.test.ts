import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { syscallByName } from "../../src/abi/index.js";
import { HERMES } from "../support/cli.js";
import { program } from "../support/programs.js";

/** HERMES inside another sandbox, such as the one that Codex puts around its commands. */

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-sandboxed-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What Codex's filter refuses, of what HERMES uses. */
const AS_CODEX = ["sendto", "sendmmsg", "setsockopt", "getsockopt", "shutdown", "ptrace"];

function inside(refused: readonly string[], ...words: string[]) {
  const numbers = refused.map((name) => syscallByName(name)!.nr).join(",");
  const env = { ...process.env, HERMES_HOME: join(folder, "state") };
  return spawnSync(program("refusing"), [numbers, HERMES, ...words], {
    cwd: folder,
    env,
    encoding: "utf8",
    timeout: 60_000,
    killSignal: "SIGKILL",
  });
}

it.each([
  ["run", "--", "touch", "made"],
  ["run", "-p", "agent", "--", "touch", "made"],
  ["exec", "touch made"],
])("hermes %s says at once that it cannot hold anything there, and runs nothing", (...words) => {
  const { status, stderr } = inside(AS_CODEX, ...words);
  expect([status, stderr]).toEqual([
    125,
    expect.stringMatching(/inside a sandbox that refuses sendto, setsockopt, shutdown.*hermes agents/),
  ]);
  expect(spawnSync("ls", [folder], { encoding: "utf8" }).stdout).not.toContain("made");
});

it.each(["sendto", "shutdown", "setsockopt"])("one call that is refused is enough: %s", (name) => {
  const { status, stderr } = inside([name], "run", "-p", "secrets", "--", "true");
  expect([status, stderr]).toEqual([125, expect.stringContaining(`refuses ${name},`)]);
});

it("without ptrace, rules that need none hold as ever; those on programs are not begun with", () => {
  const held = inside(["ptrace"], "run", "-q", "-p", "secrets", "--", "sh", "-c", "cat /etc/shadow; echo on");
  expect([held.status, held.stdout]).toEqual([0, "on\n"]);
  const { status, stderr } = inside(["ptrace"], "run", "-p", "agent", "--", "true");
  expect([status, stderr]).toEqual([125, expect.stringContaining("refuses ptrace,")]);
});
