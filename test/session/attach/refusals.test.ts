import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { attach, HermesError } from "hermes-runtime";
import { afterAll, describe, expect, it } from "vitest";
import { readTarget } from "../../../src/kernel/process/attach-target.js";
import { hermes } from "../../support/cli.js";
import { OrdinaryUser } from "../../support/ordinary-user.js";
import { until } from "../../support/until.js";

const folder = mkdtempSync(join(tmpdir(), "hermes-refusals-"));
const running: ChildProcess[] = [];

afterAll(() => {
  for (const { pid, exitCode } of running) if (exitCode === null) process.kill(-pid!, "SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** A process below a shell of ours, so that it is not our own child. */
async function below(script: string): Promise<number> {
  const child = spawn("sh", ["-c", `${script} & echo $!; wait`], {
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  running.push(child);
  const [pid] = (await once(child.stdout, "data")) as [Buffer];
  return Number(String(pid).trim());
}

async function refusal(pid: number): Promise<{ message: string; exitCode: number }> {
  const error = (await attach({ pid }).catch((cause: unknown) => cause)) as HermesError;
  expect(error).toBeInstanceOf(HermesError);
  return { message: error.message, exitCode: error.exitCode };
}

/** Waits until /proc says so. */
function isSaid(pid: number, holds: (target: NonNullable<ReturnType<typeof readTarget>>) => boolean) {
  return until(() => {
    const target = readTarget(pid);
    return target && holds(target);
  }, `/proc to say of ${pid} that ${holds}`);
}

/** mov eax, 29 (pause); int 0x80 */
const PAUSE_32 = Buffer.concat([
  Buffer.from("7f454c4601010100000000000000000002000300010000005480040834000000", "hex"),
  Buffer.from("00000000000000003400200001002800000000000100000000000000", "hex"),
  Buffer.from("00800408008004085b0000005b0000000500000000100000b81d000000cd80", "hex"),
]);

describe("attaching is refused, with the reason", () => {
  it("where there is no such process", async () => {
    expect(await refusal(4_194_303)).toEqual({ message: "there is no process 4194303", exitCode: 127 });
  });

  it("to HERMES itself, to what it was started by, and to a child that Node waits for", async () => {
    expect((await refusal(process.pid)).message).toMatch(/HERMES itself/);
    expect((await refusal(process.ppid)).message).toMatch(/one of its descendants/);
    const child = spawn("sleep", ["60"], { detached: true });
    running.push(child);
    expect((await refusal(child.pid!)).message).toMatch(/a child of this process/);
  });

  it("to a thread, a zombie and a thread of the kernel", async () => {
    const thread = readdirSync("/proc/self/task")
      .map(Number)
      .find((tid) => tid !== process.pid)!;
    expect((await refusal(thread)).message).toMatch(/HERMES itself/);
    const zombie = await below("sh -c 'true & exec sleep 60'");
    const tasks = `/proc/${zombie}/task/${zombie}/children`;
    const ended = Number(await until(() => readFileSync(tasks, "utf8").trim(), "a child of the shell"));
    await isSaid(ended, ({ state }) => state === "Z");
    expect((await refusal(ended)).message).toMatch(/has ended/);
    const kernel = readdirSync("/proc").find(
      (name) => /^\d+$/.test(name) && readTarget(Number(name))?.isKernelThread,
    );
    if (kernel !== undefined) expect((await refusal(Number(kernel))).message).toMatch(/of the kernel/);
  });

  it("to one that is traced, and says by whom", async () => {
    const traced = await below("sleep 60");
    await below(`strace -o /dev/null -p ${traced} 2> /dev/null`);
    await isSaid(traced, ({ tracer }) => tracer !== 0);
    expect(await refusal(traced)).toMatchObject({
      message: expect.stringMatching(/process \d+ \(strace\) traces it already/),
      exitCode: 125,
    });
  });

  it("to a 32-bit program", async () => {
    const file = join(folder, "pause32");
    writeFileSync(file, PAUSE_32);
    chmodSync(file, 0o755);
    const pid = await below(`exec ${file}`);
    await isSaid(pid, ({ name }) => name === "pause32");
    expect((await refusal(pid)).message).toMatch(/32-bit/);
  });

  it("to another user's process; one's own is attached to at every call, or given a filter if asked", async () => {
    const user = new OrdinaryUser();
    const root = await below("sleep 60");
    const { stdout, stderr } = user.run(`
      import { spawn } from "node:child_process";
      import { attach, startAttached } from "./dist/index.js";
      await attach({ pid: ${root} }).catch(({ exitCode, message }) => console.log(exitCode, message));
      const shell = spawn("sh", ["-c", "sleep 60 & echo $!; wait"], { stdio: ["ignore", "pipe", "inherit"] });
      const pid = await new Promise((found) => shell.stdout.once("data", (text) => found(Number(text))));
      for (const filter of [false, true]) {
        const session = await startAttached({ pid, filter, live: ["openat"] , door: filter ? "notify" : "auto" }, { started: () => session.end() });
        const { detached, protections } = await session.result;
        console.log(detached, protections.noNewPrivs, protections.attached);
      }
      process.kill(pid, "SIGKILL");
      process.exit(0);
    `);
    user.remove();
    const lines = stdout.trim().split("\n");
    expect(stderr).toBe("");
    expect(lines[0]).toMatch(/^126 .*belongs to another user \(0\)/);
    expect(lines[1]).toMatch(/^true false attached without a filter/);
    expect(lines[2]).toMatch(/^true true attached by a filter/);
  });

  it("with a fence, or with what is not a number, on the command line", () => {
    expect(hermes(["attach", "--fence", "strict", "1"])).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/a running program cannot be put behind a fence/),
    });
    expect(hermes(["attach", "init"])).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/attach takes a process id/),
    });
    expect(hermes(["attach", "4194303"])).toMatchObject({
      status: 127,
      stderr: "hermes: there is no process 4194303\n",
    });
  });
});
