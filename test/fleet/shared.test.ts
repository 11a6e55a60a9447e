import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PostgresServer } from "../record/store/postgres-server.js";
import { HERMES, hermes } from "../support/cli.js";
import { until } from "../support/until.js";

/** Without agents: any command, on any host, that is told to use the PostgreSQL itself. */
describe("commands whose HERMES_STORE is a PostgreSQL", () => {
  let server: PostgresServer;
  let folder: string;
  let url: string;
  const env = (home: string) => ({ ...process.env, HERMES_HOME: join(folder, home), HERMES_STORE: url });
  const on = (home: string, ...words: string[]) =>
    hermes(words, { env: env(home), cwd: join(folder, "work") });

  beforeAll(async () => {
    server = await PostgresServer.start();
    url = await server.fresh();
    folder = mkdtempSync(join(tmpdir(), "hermes-shared-"));
    mkdirSync(join(folder, "work/build"), { recursive: true });
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it("ask on one host, answer on another, and record on both", async () => {
    const asking = spawn(HERMES, ["exec", "--json", "--ask", "queue", "chmod -R 777 build"], {
      env: env("one"),
      cwd: join(folder, "work"),
      stdio: ["ignore", "pipe", "inherit"],
    });
    const output = text(asking.stdout);
    const pending = () =>
      JSON.parse(on("two", "approvals", "list", "--json").stdout) as { id: string; what: string }[];
    await until(() => pending().length === 1, "the question");
    const [{ id, what }] = pending() as [{ id: string; what: string }];
    expect(what).toBe("chmod -R 777 build");
    expect(on("two", "approvals", "approve", id).stdout).toMatch(/is granted \(once\)/);
    expect(on("one", "approvals", "deny", id).stdout + on("one", "approvals", "deny", id).stderr).toMatch(
      /already/,
    );
    await once(asking, "exit");
    expect(JSON.parse(await output)).toMatchObject({ status: "DONE", output: { exitCode: 0 } });
    const shown = on("two", "audit", "show").stdout;
    expect(shown).toMatch(/chmod -R 777 build/);
    const { chains } = JSON.parse(on("two", "audit", "verify", "--json").stdout) as {
      chains: { broken: unknown }[];
    };
    expect(chains.map(({ broken }) => broken)).toEqual([null, null]);
    const exported = join(folder, "all.jsonl");
    expect(on("one", "audit", "export", "-o", exported).status).toBe(0);
    expect(on("two", "audit", "verify", "--file", exported).status).toBe(0);
  });
});
