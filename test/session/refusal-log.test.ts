import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Refusal, RefusalLog } from "../../src/session/refusal-log.js";
import { event } from "../policy/lua/events.js";
import { hermes } from "../support/cli.js";

let folder: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "hermes-log-")));
  writeFileSync(join(folder, "secret"), "x");
  writeFileSync(
    join(folder, "p.yaml"),
    `name: p\nrules:\n  - { id: secret, deny: read, path: "${folder}/secret", reason: Not this one. }\n  - { id: made, deny: create, path: "${folder}/new*" }\n`,
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (options: readonly string[], script: string) =>
  hermes(["run", ...options, "-p", "p.yaml", "--", "sh", "-c", script], { cwd: folder });

describe("--log refused", () => {
  it("tells a refusal while the program runs, with rule and target", () => {
    // Both write to the same pipe, so the order is that in which it happened.
    const { stdout, stderr } = run(["-q", "--log", "refused"], "cat secret 2>&1 1>/dev/null; echo over >&2");
    expect(stdout).toBe("cat: secret: Permission denied\n");
    expect(stderr).toMatch(
      new RegExp(
        `^hermes: refused openat ${folder}/secret by p/secret: Not this one. \\(cat \\d+\\); to allow it: hermes allow read --policy p ${folder}/secret\nover\n$`,
      ),
    );
  });

  it("is JSON on request, one object a line, before the summary", () => {
    const { stderr } = run(["--json", "--log", "refused=json"], "exec 2>&1; cat secret");
    const [refusal, summary, ...none] = stderr
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(none).toEqual([]);
    expect(refusal).toMatchObject({
      hermes: "refusal",
      version: 1,
      program: "cat",
      call: "openat",
      target: join(folder, "secret"),
      action: "deny",
      policy: "p",
      rule: "secret",
      reason: "Not this one.",
    });
    expect(refusal.time).toBeGreaterThan(1.7e9);
    expect(summary.summary.decisions[0]).toMatchObject({
      count: 1,
      targets: [{ target: join(folder, "secret"), count: 1 }],
      unlisted: 0,
    });
  });

  it("accounts for every refusal, shown or not", () => {
    const { stderr } = run(
      ["-q", "--log", "refused"],
      "for i in $(seq 400); do echo > new$i; done 2>/dev/null",
    );
    const shown = stderr.match(/refused openat/g)!.length;
    const left = [...stderr.matchAll(/(\d+) refusals? not shown/g)].reduce(
      (sum, [, n]) => sum + Number(n),
      0,
    );
    expect(shown).toBeLessThan(400);
    expect(shown + left).toBe(400);
  });

  it("takes nothing else", () => {
    const { status, stderr } = run(["--log", "all"], "true");
    expect([status, stderr]).toEqual([2, 'hermes: --log takes refused or refused=json, not "all"\n']);
  });
});

describe("the log of refusals", () => {
  const denied = { action: "deny", policy: "p", version: "1", rule: "r" } as const;
  it("tells at most twenty a second, and how many it left out", () => {
    const told: Refusal[] = [];
    const log = new RefusalLog(
      (refusal) => told.push(refusal),
      "/w",
      () => false,
    );
    for (let i = 0; i < 50; i++) log.take(event("openat"), denied, 1_000_000 + i);
    expect([told.length, log.leftOut]).toEqual([20, 30]);
    log.take(event("openat"), denied, 1_001_000);
    expect(told.at(-1)).toMatchObject({ leftOut: 30, call: "openat", pid: 100, program: "app" });
    expect(log.leftOut).toBe(0);
    log.take(event("openat"), denied, 1_001_001);
    expect(told.at(-1)).not.toHaveProperty("leftOut");
  });

  it("has nothing of what is not refused", () => {
    const log = new RefusalLog(
      () => expect.unreachable(),
      "/w",
      () => false,
    );
    for (const action of ["allow", "modify", "emulate", "fault", "ask"] as const)
      log.take(event("openat"), { ...denied, action });
  });
});
