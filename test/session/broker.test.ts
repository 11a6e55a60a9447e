import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { HERMES } from "../support/cli.js";
import { below, isRunning, nameOf, textOf } from "../support/processes.js";

/** The broker resolves and acts for the program: it must have what the program has, and no more. */

let folder: string;
let policy: string;
let running: ChildProcess | undefined;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-broker-"));
  policy = join(folder, "policy.yaml");
  writeFileSync(policy, `name: test\nrules:\n  - { id: secret, deny: read, path: "${folder}/secret" }\n`);
});
afterEach(() => running?.kill("SIGKILL"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const named = (pids: readonly number[], name: string) =>
  pids.filter((pid) => nameOf(`/proc/${pid}`) === name);

/** Starts `sleep` under HERMES; what stands between it and us. */
async function start(
  ...options: string[]
): Promise<{ broker: number; program: number; ended: Promise<number | null> }> {
  const words = ["run", "-q", "-p", policy, ...options, "--", "sleep", "1000"];
  running = spawn(HERMES, words, { cwd: folder, stdio: "ignore" });
  const hermes = running.pid!;
  const ended = new Promise<number | null>((done) => running!.on("exit", (code) => done(code)));
  const find = (name: string) => named(below(hermes), name)[0];
  await expect.poll(() => find("sleep")).toBeDefined();
  return { broker: find("hermes-broker")!, program: find("sleep")!, ended };
}

const NAMESPACES = ["user", "mnt", "net", "ipc", "uts", "cgroup"];
const rightsOf = (pid: number) => ({
  namespaces: NAMESPACES.map((name) => readlinkSync(`/proc/${pid}/ns/${name}`)),
  root: readlinkSync(`/proc/${pid}/root`),
  cgroup: textOf(`/proc/${pid}/cgroup`),
  credentials: textOf(`/proc/${pid}/status`)
    .split("\n")
    .filter((line) => /^(Uid|Gid|Groups|CapInh|CapPrm|CapEff|CapBnd|CapAmb|NoNewPrivs):/.test(line)),
});

/** What the descriptors of a process refer to; those that it closes meanwhile are left out. */
function heldBy(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      return [];
    }
  });
}

describe("the broker", () => {
  for (const fence of ["none", "standard", "strict"])
    it(`stands where the program stands, with the fence ${fence}`, async () => {
      const { broker, program } = await start("--fence", fence);
      expect(rightsOf(broker)).toEqual(rightsOf(program));
    });

  it("is the program's parent, has no filter of the program's, and holds none of its descriptors", async () => {
    const { broker, program } = await start();
    expect(Number(/^PPid:\t(\d+)$/m.exec(textOf(`/proc/${program}/status`))![1])).toBe(broker);
    expect(textOf(`/proc/${broker}/status`)).toMatch(/^Seccomp:\t0$/m);
    // A file that it opens on behalf of the program it holds until it has handed it over.
    await expect.poll(() => heldBy(broker)).not.toContain("/dev/null");
  });

  it("ends with its session, and its session with it: nothing runs on undecided", async () => {
    const { broker, program, ended } = await start();
    process.kill(broker, "SIGKILL");
    expect(await ended).toBe(137);
    expect(isRunning(program)).toBe(false);
  });

  it("ends the session when the launcher is killed", async () => {
    const { broker, program } = await start();
    process.kill(Number(/^PPid:\t(\d+)$/m.exec(textOf(`/proc/${broker}/status`))![1]), "SIGKILL");
    await expect.poll(() => [broker, program].filter(isRunning)).toEqual([]);
  });
});
