import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { enroll } from "../../src/fleet/hosts.js";
import { verifyAll } from "../../src/record/audit/verify.js";
import { openStore } from "../../src/record/store/open.js";
import type { AuditRow } from "../../src/record/store/store.js";
import { PostgresServer } from "../record/store/postgres-server.js";
import { root } from "../support/root.js";
import { until } from "../support/until.js";
import { as, type Place, place, TestHost } from "./support.js";
import { Wire } from "./wire.js";

/** The whole of it (100 kills, five minutes away) by HERMES_FAULTS=long; CI has a little of each. */
const LONG = process.env.HERMES_FAULTS === "long";
const KILLS = LONG ? 100 : 5;
const AWAY_MS = LONG ? 300_000 : 1_000;
const options = { timeout: 900_000 };

let server: PostgresServer;
let here: Place;
let script: string;
const folders: string[] = [];
const mounts: string[] = [];

beforeAll(async () => {
  server = await PostgresServer.start("wal_level=replica", "max_wal_senders=4");
  process.env.HERMES_HOME = join(server.folder, "home");
  here = await place(server);
  script = join(root, `build/fleet-host-${process.pid}.mjs`);
  await build({
    entryPoints: [join(root, "test/fleet/faults-host.ts")],
    outfile: script,
    bundle: true,
    platform: "node",
    format: "esm",
    external: ["libsql", "pg", "re2js", "esbuild", "wasmoon", "aws4fetch"],
    banner: {
      js: 'import { createRequire as make } from "node:module"; const require = make(import.meta.url);',
    },
    logLevel: "error",
  });
});
afterAll(async () => {
  for (const mount of mounts) execFileSync("umount", ["-l", mount]);
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  rmSync(script, { force: true });
  await here.fleet.close();
  await server.stop();
});

interface Acknowledged {
  readonly seq: number;
  readonly hash: string;
}

/** A host that can be killed and started again on the same disk. */
class Victim {
  readonly url: string;
  readonly folder: string;
  readonly acknowledged: Acknowledged[] = [];
  refused = 0;
  chain = "";
  #kill: () => Promise<void> = async () => {};

  constructor(url: string, folder: string) {
    this.url = url;
    this.folder = folder;
  }

  start(): void {
    const child = spawn(process.execPath, [script, this.url, this.folder], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, HERMES_HOME: this.folder },
    });
    const lines = createInterface({ input: child.stdout });
    lines.on("line", (line) => {
      const said = JSON.parse(line) as Partial<Acknowledged & { chain: string; refused: string }>;
      if (said.chain !== undefined) this.chain = said.chain;
      else if (said.refused !== undefined) this.refused++;
      else this.acknowledged.push(said as Acknowledged);
    });
    const over = new Promise<void>((resolve) => lines.on("close", () => resolve()));
    this.#kill = async () => {
      child.kill("SIGKILL");
      await over;
    };
  }

  kill(): Promise<void> {
    return this.#kill();
  }
}

async function victim(
  id: string,
  port = server.port,
  folder = mkdtempSync(join(tmpdir(), "hermes-victim-")),
) {
  folders.push(folder);
  const enrolled = await here.fleet.write(() => enroll(id, {}, 1));
  return new Victim(as(here.url, enrolled).replace(`:${server.port}/`, `:${port}/`), folder);
}

/** Everything that was acknowledged is on the server, once and in its place, and the chain is whole. */
async function expectDelivered(one: Victim, url = here.url): Promise<void> {
  await one.kill();
  const again = await new TestHost(one.url, one.folder).open();
  const central = await openStore(url);
  try {
    again.start();
    const end = (await again.store.chainEnds())[0]!.seq;
    const there = async () => (await central.chains()).find(({ chain }) => chain === one.chain)?.seq;
    await until(async () => (await there()) === end, "the delivery");
    const rows: AuditRow[] = [];
    for await (const row of central.audit({ chain: one.chain })) rows.push(row);
    expect(rows.map(({ seq }) => seq)).toEqual(Array.from({ length: rows.length }, (_, i) => i + 1));
    const hashes = new Map(rows.map(({ seq, hash }) => [seq, hash]));
    expect(one.acknowledged.length).toBeGreaterThan(10);
    for (const { seq, hash } of one.acknowledged) expect(hashes.get(seq)).toBe(hash);
    const report = (await verifyAll(central, [])).find(({ chain }) => chain === one.chain);
    expect(report).toMatchObject({ broken: null, records: rows.length });
  } finally {
    await again.agent!.close();
    again.audit.close();
    await again.store.close();
    await central.close();
  }
}

const further = async (one: Victim, count: number) => {
  const wanted = one.acknowledged.length + count;
  await until(() => one.acknowledged.length >= wanted, "further records");
};

describe("nothing acknowledged is lost, and nothing is there twice", () => {
  it(`when a host is killed at ${KILLS} random points`, options, async () => {
    const one = await victim("killed");
    for (let i = 0; i < KILLS; i++) {
      one.start();
      await further(one, 3);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 150));
      await one.kill();
    }
    await expectDelivered(one);
  });

  it("when the server is killed in the middle of it, and is away for a while", options, async () => {
    const one = await victim("away");
    one.start();
    await further(one, 30);
    await server.crash();
    await further(one, 10);
    await new Promise((resolve) => setTimeout(resolve, AWAY_MS));
    await server.run("wal_level=replica", "max_wal_senders=4");
    await further(one, 10);
    await expectDelivered(one);
  });

  it("when a standby that lacks the last records takes over", options, async () => {
    const wire = await Wire.to(server.port);
    const standby = await PostgresServer.standby(server);
    try {
      const one = await victim("moved", wire.port);
      one.start();
      await further(one, 30);
      // The standby hears nothing more, and the old server goes on acknowledging for a moment.
      await standby.deafen();
      await further(one, 30);
      wire.cut();
      await standby.promote();
      wire.mend(standby.port);
      await further(one, 10);
      await expectDelivered(one, here.url.replace(`:${server.port}/`, `:${standby.port}/`));
    } finally {
      await wire.close();
      await standby.stop();
    }
  });

  it("when the host's disk is full, and when there is room again", options, async () => {
    const disk = mkdtempSync(join(tmpdir(), "hermes-full-"));
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=400k", "none", disk]);
    mounts.push(disk);
    const wire = await Wire.to(server.port);
    const one = await victim("full", wire.port, disk);
    one.start();
    await further(one, 5);
    wire.cut();
    await until(() => one.refused > 3, "a full disk");
    wire.mend();
    execFileSync("mount", ["-o", "remount,size=8m", disk]);
    await further(one, 20);
    await expectDelivered(one);
    await wire.close();
  });
});
