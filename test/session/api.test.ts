import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { definePolicy, deny, HermesError, run, start } from "hermes-runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { capture } from "../support/calls.js";
import { isRunning } from "../support/processes.js";
import { isThere, until } from "../support/until.js";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-api-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("run()", () => {
  it("tells how the program ended, what was decided, and what was in force", async () => {
    const policy = definePolicy({ name: "p", actions: ["deny"], on: { mkdir: () => deny("no") } });
    const result = await run({ command: ["sh", "-c", "mkdir /tmp/never 2>/dev/null; exit 5"], policy });
    expect(result).toMatchObject({
      exitCode: 5,
      summary: { byAction: { deny: 1 }, byCall: { mkdir: 1 } },
      protections: { doors: ["notify"], noNewPrivs: true },
      policies: [{ name: "p" }],
      problems: [],
    });
  });

  it("gives back what the program wrote, all of it, on request", async () => {
    const script = "echo out; echo err >&2; head -c 300000 /dev/zero | tr '\\0' x; exit 3";
    const { stdout, stderr, exitCode } = await run({ command: ["sh", "-c", script], capture: true });
    expect(exitCode).toBe(3);
    expect(stderr).toBe("err\n");
    expect(stdout).toBe(`out\n${"x".repeat(300_000)}`);
    await expect(run({ command: ["/no/such/program"], capture: true })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });

  it("rejects with a code when the program cannot be started", async () => {
    const refused = run({ command: ["/no/such/program"] });
    await expect(refused).rejects.toBeInstanceOf(HermesError);
    await expect(refused).rejects.toMatchObject({ code: "NOT_FOUND", exitCode: 127 });
    await expect(run({ command: [] })).rejects.toMatchObject({ code: "USAGE" });
  });

  it("runs many sessions at once, each with its own policies", async () => {
    const one = (i: number) =>
      capture(["sh", "-c", "cat /etc/hostname >/dev/null 2>&1; echo $?"], {
        policy: definePolicy({
          name: `p${i}`,
          actions: ["deny"],
          on: { openat: (e) => (i % 2 && e.path === "/etc/hostname" ? deny() : undefined) },
        }),
      });
    const outputs = await Promise.all(Array.from({ length: 12 }, (_, i) => one(i)));
    expect(outputs.map(({ output }) => output.trim())).toEqual(
      Array.from({ length: 12 }, (_, i) => String(i % 2)),
    );
  });

  it("ends every process when it is aborted", async () => {
    const abort = new AbortController();
    const pids = join(folder, "sleepers");
    const script = `sleep 100 & echo $! > ${pids}.new; mv ${pids}.new ${pids}; sleep 100`;
    const running = run({ command: ["sh", "-c", script], signal: abort.signal });
    await until(isThere(pids), "the program and its child to run");
    abort.abort();
    expect((await running).signal).toBe("SIGKILL");
    expect(isRunning(Number(readFileSync(pids, "utf8")))).toBe(false);
  });

  it("is over as well when it is aborted before the program has started", async () => {
    const abort = new AbortController();
    setImmediate(() => abort.abort());
    const result = await run({ command: ["sleep", "100"], signal: abort.signal });
    expect(result.signal).toBe("SIGKILL");
  });

  it("gives the program the environment, folder, limits and descriptors that it is told to", async () => {
    const { output } = await capture(["sh", "-c", "pwd; echo $A; ulimit -n; ulimit -c"], {
      cwd: "/usr",
      env: { A: "b", PATH: process.env.PATH },
      limits: { nofile: [111n, 222n], core: [0n, 0n] },
    });
    expect(output).toBe("/usr\nb\n111\n0\n");
  });
});

describe("start()", () => {
  it("gives the session: its pid, a reload on demand, its end", async () => {
    const file = join(folder, "p.ts");
    const text = (verdict: string) =>
      `import { definePolicy, deny } from "hermes-runtime"; export default definePolicy({ name: "p", actions: ["deny"], on: { mkdir: () => ${verdict} } });`;
    writeFileSync(file, text("undefined"));
    const versions: string[] = [];
    const log = join(folder, "log");
    const script = `while :; do mkdir ${folder}/d 2>/dev/null && { rmdir ${folder}/d; echo yes; } || echo no; sleep 0.05; done > ${log}`;
    const session = await start(
      { command: ["sh", "-c", script], policy: file, reload: false },
      { policies: (list) => versions.push(list[0]!.version) },
    );
    await expect.poll(() => readLog(log)).toMatch(/yes\n$/);
    expect(session.pid).toBeGreaterThan(1);
    writeFileSync(file, text("deny()"));
    session.reload();
    await expect.poll(() => readLog(log)).toMatch(/no\n$/);
    expect(new Set(versions).size).toBe(2);
    session.end();
    expect(await session.result).toMatchObject({ signal: "SIGKILL", reloads: 1 });
  });
});

function readLog(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
