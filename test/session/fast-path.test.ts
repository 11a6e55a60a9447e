import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { start } from "hermes-runtime";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { capture } from "../support/calls.js";
import { below, listOf, nameOf } from "../support/processes.js";
import { program } from "../support/programs.js";

/** Threads of the broker that help where many wait (native/fastpath/fast-path.c). */

let folder: string;
let policy: string;
const rules = (more = "") => `name: p
rules:
  - { id: secret, deny: [read, write], path: "**/secret*", errno: EXDEV, reason: Not that. }
  - { id: run, deny: exec, argv: [nobody], reason: No. }
${more}`;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-front-"));
  policy = join(folder, "p.yaml");
  writeFileSync(policy, rules());
  for (const name of ["plain", "secret"]) writeFileSync(join(folder, name), name);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Threads that wait at the listener, or answer. */
function fronts(): number {
  const brokers = below(process.pid).filter((pid) => nameOf(`/proc/${pid}`) === "hermes-broker");
  const threads = brokers.flatMap((pid) =>
    listOf(`/proc/${pid}/task`).map((id) => `/proc/${pid}/task/${id}`),
  );
  return threads.filter((thread) => nameOf(thread) === "hermes-fastpath").length;
}

const makers = (processes: number, threads: number, rounds: number) => [
  program("makers"),
  ...[processes, threads, rounds].map(String),
];

describe.skipIf(availableParallelism() < 2)("where many make calls at the same time", () => {
  it("each gets what it would get alone, and every call is counted", async () => {
    const [processes, threads, rounds] = [4, 3, 150];
    const all = processes * threads * rounds;
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, fronts());
    }, 5);
    const { output, session } = await capture(makers(processes, threads, rounds), { policy, cwd: folder });
    clearInterval(watch);
    expect(output).toBe(`${processes} ended\n`);
    expect(most).toBeGreaterThan(1);
    expect(fronts()).toBe(0);
    const { byCall, decisions } = session.summary;
    expect({ made: byCall.mkdir, removed: byCall.unlink, folders: byCall.rmdir }).toEqual({
      made: all + processes,
      removed: all,
      folders: all,
    });
    expect(decisions.map(({ rule, count }) => [rule, count])).toEqual([["secret", all]]);
  });

  it("another policy decides for all of them from one moment on", async () => {
    const session = await start({ command: makers(4, 2, 0), policy, cwd: folder, reload: true });
    const seen = () =>
      [0, 1, 2, 3].map((i) => {
        try {
          return readFileSync(join(folder, `p${i}/seen`), "utf8");
        } catch {
          return "";
        }
      });
    const all = (what: string) => [what, what, what, what];
    await expect.poll(seen).toEqual(all("all"));
    await expect.poll(fronts, { interval: 1 }).toBeGreaterThan(1);
    for (const round of [1, 2, 3]) {
      const rule = `  - { id: n${round}, deny: read, path: "${folder}/plain", errno: EBUSY, reason: No. }\n`;
      writeFileSync(policy, rules(rule));
      await expect.poll(seen).toEqual(all("none"));
      writeFileSync(policy, rules());
      await expect.poll(seen).toEqual(all("all"));
    }
    writeFileSync(join(folder, "stop"), "");
    expect(await session.result).toMatchObject({ exitCode: 0, reloads: 6 });
  });

  it("ends at once when it is told to, in the middle of it", async () => {
    for (let i = 0; i < 5; i++) {
      const session = await start({ command: makers(3, 4, 0), policy, cwd: folder });
      await expect.poll(fronts, { interval: 1 }).toBeGreaterThan(1);
      session.end();
      await session.result;
      expect(fronts()).toBe(0);
      for (let p = 0; p < 3; p++) rmSync(join(folder, `p${p}`), { recursive: true, force: true });
    }
  });
});
