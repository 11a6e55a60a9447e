import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { program, root } from "../support/programs.js";

/** A program can take from the supervisor neither its memory nor its time. */

let folder: string;
let looks: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-exhaustion-"));
  looks = join(folder, "looks.yaml");
  writeFileSync(
    looks,
    `name: looks
rules:
  - { id: files, deny: [read, write], path: "/nowhere/**", reason: Nothing is there. }
  - { id: sockets, deny: connect, address: "unix:/nowhere", reason: Nothing is there. }
`,
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const MAIN = join(root, "dist/cli/main.cjs");

function number(pid: number, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((done) => setTimeout(done, 20));
}

describe.each(["notify", "trace"])("through the %s door", (door) => {
  it("sixty large sends that nobody receives cost the supervisor little memory, and arrive whole", {
    timeout: 120_000,
  }, async () => {
    const run = spawn(process.execPath, [MAIN, "run", "-q", "-p", looks, "--door", door, "--", program("senders")], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const lines = createInterface({ input: run.stdout });
    await once(lines, "line");
    // Each that waits has a thread of the supervisor's.
    await until(() => number(run.pid!, "Threads") >= 60);
    let before = 0;
    await until(() => {
      const now = number(run.pid!, "VmRSS");
      const same = now === before;
      before = now;
      return same;
    });
    expect(number(run.pid!, "VmHWM")).toBeLessThan(256 * 1024);
    run.stdin.write("read\n");
    expect((await once(lines, "line"))[0]).toBe("60 whole");
    await once(run, "exit");
  });
});
