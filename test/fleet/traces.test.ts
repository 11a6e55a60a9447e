import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import S3rver from "s3rver";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { traceStorageAt } from "../../src/fleet/trace-storage.js";
import { download, traces, UPLOAD_BLOCK } from "../../src/fleet/traces.js";
import { ask, enter, type Served } from "../people/console/support.js";
import { PostgresServer } from "../record/store/postgres-server.js";
import { HERMES, hermes } from "../support/cli.js";
import { until } from "../support/until.js";
import { host, type Place, place } from "./support.js";

let server: PostgresServer;
let here: Place;
let folder: string;
let bucket: S3rver;
let s3: string;
const env = { AWS_ACCESS_KEY_ID: "S3RVER", AWS_SECRET_ACCESS_KEY: "S3RVER" };

beforeAll(async () => {
  server = await PostgresServer.start();
  folder = mkdtempSync(join(tmpdir(), "hermes-traces-"));
  process.env.HERMES_HOME = join(folder, "home");
  here = await place(server);
  bucket = new S3rver({
    address: "127.0.0.1",
    port: 0,
    silent: true,
    directory: join(folder, "s3"),
    configureBuckets: [{ name: "traces", configs: [] }],
  });
  const at = (await bucket.run()) as AddressInfo;
  s3 = `s3://traces/fleet?endpoint=http://127.0.0.1:${at.port}`;
});
afterAll(async () => {
  await bucket.close();
  await here.fleet.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe("traces of hosts", () => {
  it("are brought to an S3 bucket in blocks while they are written, and come back as they were", async () => {
    const one = await host(here, "one");
    const own = join(one.folder, "traces");
    mkdirSync(own);
    const file = join(own, "a.jsonl");
    writeFileSync(file, Buffer.alloc(UPLOAD_BLOCK + 1000, "abcdefg"));
    one.traces = [file];
    const uploads = traceStorageAt(s3, env);
    one.start({ uploads });
    const listed = async () => (await here.fleet.read(traces)).filter((trace) => trace.host === "one");
    await until(async () => (await listed())[0]?.bytes === UPLOAD_BLOCK + 1000, "the trace");
    appendFileSync(file, Buffer.alloc(UPLOAD_BLOCK, "hijklmn"));
    // An agent that starts again goes on with what is not there yet.
    await one.agent!.close();
    one.start({ uploads });
    await until(async () => (await listed())[0]?.bytes === 2 * UPLOAD_BLOCK + 1000, "the rest");
    expect(await listed()).toMatchObject([{ name: "a.jsonl", blocks: 3, host: "one" }]);
    const back = join(folder, "back");
    await download(uploads, (await listed())[0]!, back);
    expect(readFileSync(back).equals(readFileSync(file))).toBe(true);
    await one.close();
  });

  it("are not brought with the wrong key, without TLS, or to a name that leads elsewhere", async () => {
    const wrong = traceStorageAt(s3, { ...env, AWS_ACCESS_KEY_ID: "guess" });
    await expect(wrong.put("a/b/000000", Buffer.from("x"))).rejects.toThrow(/403/);
    expect(() => traceStorageAt("s3://b?endpoint=http://s3.example.org", env)).toThrow(/needs TLS/);
    expect(() => traceStorageAt("s3://b", {})).toThrow(/AWS_ACCESS_KEY_ID/);
    for (const key of ["../x", "a/../b", "/etc/passwd", "a//b", ""])
      await expect(traceStorageAt(join(folder, "f")).get(key)).rejects.toThrow(
        /is not the name of a trace block/,
      );
  });

  it("are listed and analysed from the console, wherever they were recorded", async () => {
    const one = await host(here, "two");
    const own = join(one.folder, "traces");
    mkdirSync(own);
    const file = join(own, "run.jsonl");
    expect(hermes(["run", "-q", "-t", file, "--", "cat", "/etc/hostname"]).status).toBe(0);
    one.traces = [file];
    const where = join(folder, "uploaded");
    one.start({ uploads: traceStorageAt(where) });
    await until(async () =>
      (await here.fleet.read(traces)).some((trace) => trace.host === "two" && trace.blocks === 1),
    );
    expect(readdirSync(join(where, "two"))).toHaveLength(1);
    const words = [
      "serve",
      "--json",
      "--listen",
      "127.0.0.1:0",
      "--store",
      here.url,
      "--traces",
      where,
      "--user",
      "alice:admin",
    ];
    const child = spawn(HERMES, words, { stdio: ["ignore", "pipe", "inherit"], env: process.env });
    try {
      const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
      const { url, links } = JSON.parse(line) as { url: string; links: { name: string; link: string }[] };
      const served = {
        url,
        port: Number(new URL(url).port),
        links: { alice: links[0]!.link },
      } as unknown as Served;
      const headers = await enter(served, "alice");
      const listed = await ask(served, "GET", "/api/fleet/traces", headers);
      const found = listed.body.find((trace: { host: string }) => trace.host === "two");
      expect(found).toMatchObject({ name: "run.jsonl" });
      const hosts = await ask(served, "GET", "/api/fleet/hosts", headers);
      expect(hosts.body.map(({ id }: { id: string }) => id)).toEqual(["one", "two"]);
      const { status, body } = await ask(
        served,
        "POST",
        "/api/fleet/report",
        headers,
        JSON.stringify({ trace: found.id }),
      );
      expect([status, body.error]).toEqual([200, undefined]);
      expect((await ask(served, "GET", body.address, {})).body).toMatch(/<html/);
      const none = await ask(
        served,
        "POST",
        "/api/fleet/report",
        headers,
        JSON.stringify({ trace: "nothing" }),
      );
      expect(none.status).toBe(404);
    } finally {
      child.kill("SIGTERM");
      await once(child, "exit");
      await one.close();
    }
  });
});
