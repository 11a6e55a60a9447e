import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "../../bench/options.mjs";
import { SCENARIOS } from "../../bench/scenarios.mjs";
import { CALLER, isOpen, usersHere } from "../../bench/users.mjs";
import { WORKS } from "../../bench/works.mjs";
import { root } from "../support/root.js";

const isRoot = process.getuid!() === 0;
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-bench-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What was measured, once and small, and what could not be. */
function measured(...words: string[]) {
  const file = join(folder, "results.json");
  const all = ["bench/run.mjs", ...words, "--quick", "--rounds", "1", "--json", file];
  const { status, stderr, stdout } = spawnSync(process.execPath, all, { cwd: root, encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
  const { scenarios, notMeasured } = JSON.parse(readFileSync(file, "utf8"));
  const tables: { work: string; rows: object }[] = scenarios[words[0]!].tables;
  return { systems: tables.map(({ work, rows }) => [work, Object.keys(rows)]), notMeasured, stdout };
}

describe("workloads", () => {
  // In a tmpfs, which root can mount, they take less time.
  const writing = isRoot ? ["untar-tmpfs", "create-tmpfs"] : ["untar", "create"];
  const names = [...writing, "programs", "day"];
  for (const name of names)
    it(`${name} has the right results, bare and under agent.yaml`, () => {
      const { systems, notMeasured } = measured("workloads", "--only", name, "--systems", "HERMES enforce");
      expect(notMeasured).toEqual([]);
      expect(systems).toEqual([[name, ["bare", "HERMES enforce"]]]);
    });

  for (const name of ["untar", "create", "programs", "day"])
    it(`${name} is not taken for done when nothing was made`, () => {
      const place = { folder, workspace: join(folder, name), home: folder, user: CALLER };
      mkdirSync(place.workspace);
      const work = WORKS.find((one) => one.name === name) as { check(place: object, size: string): void };
      expect(() => work.check(place, "quick")).toThrow();
    });
});

describe("the overview", () => {
  it("has one table for each user", () => {
    const { systems, notMeasured, stdout } = measured(
      ...["overview", "--only", "programs", "--systems", "HERMES free", "--user", "both"],
    );
    const users = isRoot && isOpen(root) && isOpen(process.execPath) ? ["ordinary", "root"] : [CALLER.name];
    expect(systems).toEqual(users.map((user) => [`programs, ${user}`, ["bare", "HERMES free"]]));
    expect(notMeasured).toHaveLength(2 - users.length);
    for (const user of users) expect(stdout).toContain(`as the user ${user}: × bare`);
  });

  it("is no part of a sitting, and takes workloads by name", () => {
    expect(parse([], SCENARIOS).names).not.toContain("overview");
    expect(parse(["overview", "--only", "day"], SCENARIOS)).toMatchObject({
      names: ["overview"],
      options: { works: ["day"] },
    });
  });
});

describe("the users", () => {
  it("are the one who runs the bench, unless others are asked for", () =>
    expect(usersHere(undefined, () => {})).toEqual([CALLER]));
  it("are not guessed", () =>
    expect(() => parse(["--user", "nobody"], SCENARIOS)).toThrow(
      '--user: "nobody" is none of ordinary, root, both',
    ));
});
