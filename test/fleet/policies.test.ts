import { generateKeyPairSync } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { enroll, hosts, setLabels } from "../../src/fleet/hosts.js";
import { isChosen } from "../../src/fleet/labels.js";
import { FleetMaintenance } from "../../src/fleet/maintenance.js";
import {
  advance,
  assignments,
  type Push,
  pinHost,
  push,
  ROLLBACK_LIMITS,
  rollBack,
  settleRelease,
  tryRelease,
} from "../../src/fleet/releases.js";
import { PostgresServer } from "../record/store/postgres-server.js";
import { until } from "../support/until.js";
import { as, databaseOf, host, type Place, place, TestHost } from "./support.js";

let server: PostgresServer;
let here: Place;
const started: TestHost[] = [];
beforeAll(async () => {
  server = await PostgresServer.start();
  process.env.HERMES_HOME = join(server.folder, "home");
});
beforeEach(async () => {
  here = await place(server);
});
afterEach(async () => {
  for (const one of started.splice(0)) await one.close();
  await here.fleet.close();
});
afterAll(() => server.stop());

const text = (path: string) => `name: p\nrules:\n  - id: r\n    deny: read\n    path: ${path}\n`;
const order = (path: string, more: Partial<Push> = {}): Push => ({
  ...{
    name: "p",
    text: text(path),
    selector: {},
    rank: 100,
    percent: 100,
    limits: ROLLBACK_LIMITS,
    by: "test",
  },
  ...more,
});
const give = (path: string, more: Partial<Push> = {}) => here.fleet.write(() => push(order(path, more)));
const found = async (id: string) => (await here.fleet.read(hosts)).find((one) => one.id === id)!;

async function begun(id: string, labels = {}): Promise<TestHost> {
  const one = await host(here, id, labels);
  started.push(one);
  one.start();
  return one;
}

describe("a policy", () => {
  it("goes to the hosts with its labels, by rank, and to those that get the labels later", async () => {
    const one = await begun("one", { role: "build" });
    const two = await begun("two", { role: "web" });
    const build = await give("/build", { name: "build", selector: { role: "build" }, rank: 1 });
    const rest = await give("/rest", { name: "rest" });
    await until(() => one.policy.serial === build && two.policy.serial === rest, "both policies");
    expect(readFileSync(one.policy.file, "utf8")).toBe(text("/build"));
    await here.fleet.write(() => setLabels("two", { role: "build" }, []));
    await here.fleet.write(settleRelease);
    await until(() => two.policy.serial === build, "the other policy");
    await until(async () => (await found("two")).applied === build, "the report");
  });

  it("comes without a notice too, where something swallows those", async () => {
    const one = await begun("one");
    const serial = await give("/a");
    await until(() => one.policy.serial === serial);
    const other = await give("/b", { name: "q", selector: { no: "host" } });
    await server.query(`UPDATE hermes.host SET wanted = ${other}`, databaseOf(here.url));
    await until(() => one.policy.serial === other, "the policy");
  });

  it("that a host cannot load is refused there, and what was in force stays", async () => {
    const one = await begun("one");
    const good = await give("/a");
    await until(() => one.policy.serial === good);
    await give("/b", { text: "name: x\nrules: 7\n" });
    await until(async () => (await found("one")).trouble?.includes("rules"), "the trouble");
    expect(one.policy.serial).toBe(good);
    const next = await give("/c");
    await until(() => one.policy.serial === next);
    await until(async () => (await found("one")).trouble === null, "the end of the trouble");
  });

  it("whose text is not what its hash says is refused", async () => {
    const one = await begun("one");
    const serial = await give("/a");
    await until(() => one.policy.serial === serial);
    const next = await give("/b", { name: "q", selector: { no: "host" } });
    await server.query(
      `UPDATE hermes.policy SET text = replace(text, '/b', '/c'); UPDATE hermes.host SET wanted = ${next}`,
      databaseOf(here.url),
    );
    await until(async () => (await found("one")).trouble?.includes("does not match its hash"), "the trouble");
    expect(one.policy.serial).toBe(serial);
  });

  it("is tried on each host's own traces before it comes", async () => {
    const one = await begun("one");
    const serial = await give("/etc/shadow");
    await until(() => one.policy.serial === serial);
    const trace = join(one.folder, "t.yaml");
    writeFileSync(trace, "- { call: openat, path: /etc/shadow }\n- { call: openat, path: /etc/passwd }\n");
    one.traces = [trace];
    const trial = await here.fleet.write(() => tryRelease(text("/etc/*"), {}, "test"));
    expect(trial.hosts).toEqual(["one"]);
    await until(async () => (await found("one")).trialResult !== null, "the result");
    expect((await found("one")).trialResult).toMatchObject({
      serial: trial.serial,
      traces: 1,
      events: 2,
      changes: 1,
      examples: [{ event: expect.stringContaining("/etc/passwd"), before: "allow", now: "deny", count: 1 }],
    });
    expect(one.policy.serial).toBe(serial);
  });

  it("can be pinned to a host", async () => {
    const one = await begun("one");
    const first = await give("/a");
    await until(() => one.policy.serial === first);
    const pinned = await here.fleet.write(() => pinHost("one", first, "test"));
    await give("/b");
    await until(() => one.policy.serial === pinned);
    expect(readFileSync(one.policy.file, "utf8")).toBe(text("/a"));
    await here.fleet.write(() => pinHost("one", null, "test"));
    await until(() => readFileSync(one.policy.file, "utf8") === text("/b"), "the next one");
  });
});

describe("a rollout", () => {
  it("reaches always the same hosts, and more of them as it grows", () => {
    const names = Array.from({ length: 1000 }, (_, i) => `host-${i}`);
    const chosen = (percent: number) => names.filter((name) => isChosen("p", name, percent));
    const [ten, fifty] = [chosen(10), chosen(50)];
    expect(ten.length).toBeGreaterThan(60);
    expect(ten.length).toBeLessThan(140);
    expect(fifty).toEqual(expect.arrayContaining(ten));
    expect(chosen(0)).toEqual([]);
    expect(chosen(100)).toEqual(names);
  });

  it("goes step by step, and is finished or taken back by hand", async () => {
    const names = Array.from({ length: 40 }, (_, i) => `h${i}`);
    for (const id of names) await here.fleet.write(() => enroll(id, {}, 1));
    const wanted = async () => (await here.fleet.read(hosts)).map((one) => one.wanted);
    const first = await give("/a");
    expect(new Set(await wanted())).toEqual(new Set([first]));
    const second = await give("/b", { percent: 25 });
    const some = (await wanted()).filter((one) => one === second).length;
    expect(some).toBe(names.filter((name) => isChosen("p", name, 25)).length);
    await expect(give("/c")).rejects.toThrow(/still rolling out/);
    await here.fleet.write(() => advance("p", 60));
    expect((await wanted()).filter((one) => one === second).length).toBeGreaterThan(some);
    await here.fleet.write(() => rollBack("p"));
    const [after] = await here.fleet.read(assignments);
    expect(after).toMatchObject({ next: null, state: "rolled back" });
    // The old text, under a number that is greater than that of what it replaces.
    expect(after!.release).toBeGreaterThan(second);
    expect(new Set(await wanted())).toEqual(new Set([after!.release]));
    const third = await give("/c", { percent: 1 });
    await here.fleet.write(() => advance("p", 100));
    expect(new Set(await wanted())).toEqual(new Set([third]));
  });

  it("is taken back by itself when calls are refused that were not before", async () => {
    const all: TestHost[] = [];
    for (const id of ["h0", "h1", "h2", "h3"]) all.push(await begun(id));
    const first = await give("/a");
    await until(() => all.every((one) => one.policy.serial === first));
    for (const one of all) one.refused = 0.01;
    await until(async () => (await here.fleet.read(hosts)).every(({ calls }) => calls >= 1000));
    const told: string[] = [];
    const warden = new FleetMaintenance({ fleet: here.fleet, log: (line) => told.push(line), tick: 50 });
    try {
      const second = await give("/b", { percent: 60 });
      const ahead = all.filter((_, i) => isChosen("p", `h${i}`, 60));
      expect(ahead.length).toBeGreaterThan(0);
      expect(ahead.length).toBeLessThan(all.length);
      await until(() => ahead.every((one) => one.policy.serial === second));
      // As before: one of a hundred.
      const tried = async () => (await here.fleet.read(hosts)).filter((one) => one.applied === second);
      await until(async () => (await tried()).length === ahead.length);
      await until(async () => (await tried()).every((one) => one.denied >= 30));
      expect((await here.fleet.read(assignments))[0]!.next).toBe(second);
      for (const one of ahead) one.refused = 0.2;
      await until(
        () => all.every((one) => readFileSync(one.policy.file, "utf8") === text("/a")),
        "the old policy",
      );
      expect((await here.fleet.read(assignments))[0]).toMatchObject({ next: null, state: "rolled back" });
      expect(told.join()).toMatch(/policy \d+ was rolled back: \d+ of [\d,]+ calls refused/);
    } finally {
      await warden.close();
    }
  });
});

describe("a host with a trusted key", () => {
  const key = generateKeyPairSync("ed25519");
  const other = generateKeyPairSync("ed25519");
  let one: TestHost;
  beforeEach(async () => {
    const enrolled = await here.fleet.write(() => enroll("one", {}, 1));
    one = await new TestHost(as(here.url, enrolled)).open([key.publicKey]);
    started.push(one);
    one.start();
  });
  const trouble = async (words: string) =>
    until(async () => (await found("one")).trouble?.includes(words), words);

  it("takes what is signed, and nothing that is not, or by another", async () => {
    await give("/a");
    await trouble("not signed by a key");
    expect(one.policy.serial).toBeNull();
    const serial = await give("/b", { key: key.privateKey });
    await until(() => one.policy.serial === serial);
    const forged = await give("/c", { key: other.privateKey });
    await trouble(`refused policy ${forged}: it is not signed`);
    expect(one.policy.serial).toBe(serial);
  });

  it("takes nothing older, though it was signed, and no number with another text", async () => {
    const first = await give("/a", { key: key.privateKey });
    const second = await give("/b", { key: key.privateKey });
    await until(() => one.policy.serial === second);
    await server.query(`UPDATE hermes.host SET wanted = ${first}`, databaseOf(here.url));
    await trouble("it is older than");
    await server.query(
      `UPDATE hermes.release SET policy = (SELECT policy FROM hermes.release WHERE serial = ${first})
         WHERE serial = ${second};
       UPDATE hermes.host SET wanted = ${second}, trouble = NULL`,
      databaseOf(here.url),
    );
    // It has that number already; on a host that has not, the signature is of another text.
    const third = await give("/c", { key: key.privateKey });
    await until(() => one.policy.serial === third);
    await server.query(
      `UPDATE hermes.release SET signature = (SELECT signature FROM hermes.release WHERE serial = ${third})`,
      databaseOf(here.url),
    );
    await server.query(`UPDATE hermes.host SET wanted = ${second}`, databaseOf(here.url));
    await trouble(`refused policy ${second}`);
    expect(readFileSync(one.policy.file, "utf8")).toBe(text("/c"));
  });

  it("takes back what was rolled out, by what was signed for that beforehand", async () => {
    const first = await give("/a", { key: key.privateKey });
    await until(() => one.policy.serial === first);
    await give("/b", { key: key.privateKey, percent: 99.99 });
    await until(() => readFileSync(one.policy.file, "utf8") === text("/b"), "the new one");
    await here.fleet.write(() => rollBack("p"));
    await until(() => readFileSync(one.policy.file, "utf8") === text("/a"), "the old one");
    expect(one.policy.serial).toBeGreaterThan(first);
  });
});
