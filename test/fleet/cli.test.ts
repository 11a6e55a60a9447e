import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PostgresServer } from "../record/store/postgres-server.js";
import { HERMES, hermes } from "../support/cli.js";
import { until } from "../support/until.js";

let server: PostgresServer;
let url: string;
let folder: string;
let host: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  server = await PostgresServer.start();
  url = await server.fresh();
  folder = mkdtempSync(join(tmpdir(), "hermes-fleet-"));
  host = join(folder, "host");
});
afterAll(async () => {
  for (const child of children)
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const control = (...words: string[]) =>
  hermes(["fleet", ...words], {
    env: { ...process.env, HERMES_HOME: join(folder, "control"), HERMES_STORE: url },
  });
const json = (...words: string[]) => {
  const { stdout, stderr, status } = control(...words, "--json");
  if (status !== 0) throw new Error(`${words.join(" ")}: ${status} ${stderr}`);
  return JSON.parse(stdout);
};
function begin(words: string[], home: string, env: Record<string, string> = {}) {
  const child = spawn(HERMES, words, {
    env: { ...process.env, HERMES_HOME: home, HOME: home, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    cwd: folder,
  });
  children.push(child);
  const said: string[] = [];
  for (const stream of [child.stdout!, child.stderr!])
    createInterface({ input: stream }).on("line", (line) => said.push(line));
  return { child, said };
}
const policy = (name: string, path: string) => {
  const file = join(folder, `${name}.yaml`);
  writeFileSync(
    file,
    `name: ${name}\nrules:\n  - id: pushed\n    deny: read\n    path: ${path}\n    reason: pushed\n`,
  );
  return file;
};

describe("a fleet by its commands", () => {
  it("enrolls a host, whose agent tells what it is", async () => {
    const file = join(folder, "server");
    expect(json("enroll", "real-1", "--label", "role=build", "-o", file)).toMatchObject({
      host: "real-1",
      file,
    });
    expect(readFileSync(file, "utf8")).toMatch(/^postgres:\/\/hermes_host_\w+:[\w-]{32}@127\.0\.0\.1:\d+\//);
    chmodSync(file, 0o644);
    expect(hermes(["agent", "--store-file", file]).stderr).toMatch(/is readable by other users/);
    chmodSync(file, 0o600);
    begin(["agent", "--store-file", file], host);
    await until(() => json("hosts")[0].state === "online", "the agent");
    const [found] = json("hosts");
    expect(found).toMatchObject({ id: "real-1", labels: { role: "build" }, trouble: null, wanted: null });
    expect(found.protections).toContainEqual({ name: "notify door", state: "yes" });
    expect(control("hosts").stdout).toMatch(/real-1 {2}online {2}role=build {2}\d.* {2}no policy/);
  });

  it("gives a policy to a program that runs already, and takes it back", async () => {
    const script = `while :; do cat ${folder}/secret 2>&1; sleep 0.05; done`;
    writeFileSync(join(folder, "secret"), "open\n");
    const { child, said } = begin(["run", "-q", "--", "sh", "-c", script], host);
    await until(() => said.includes("open"), "the program");
    // Other runs of this machine may be told too.
    const isOurs = ({ command }: { command: string }) => command.includes(folder);
    await until(() => json("hosts")[0].sessions.some(isOurs), "the session");
    const pushed = json("push", policy("strict", join(folder, "secret")), "--to", "role=build");
    expect(pushed).toMatchObject({ name: "strict", hosts: ["real-1"] });
    await until(
      () => said.at(-1)?.includes("denied") || said.at(-1)?.includes("not permitted"),
      "the policy",
    );
    await until(() => json("hosts")[0].applied === pushed.serial, "the report");
    expect(control("policies").stdout).toBe(`strict  role=build  in force: ${pushed.serial}\n`);
    // Who starts now is held to it too.
    const env = { ...process.env, HERMES_HOME: host };
    expect(hermes(["run", "-q", "--", "cat", join(folder, "secret")], { env }).status).toBe(1);
    const free = json("push", policy("strict", join(folder, "other")), "--to", "role=build");
    await until(() => said.at(-1) === "open", "the next policy");
    expect(json("diff", "strict", join(folder, "strict.yaml"))).toMatchObject({
      release: free.serial,
      diff: "",
    });
    expect(control("diff", "strict", policy("strict", "/etc/**")).stdout).toMatch(/^-.*other\n\+.*\/etc/m);
    child.kill("SIGTERM");
    await once(child, "exit");
  });

  it("refuses what the hosts could not use", () => {
    const lua = join(folder, "a.lua");
    writeFileSync(lua, "");
    expect(control("push", lua).stderr).toMatch(/must be a YAML file/);
    const included = join(folder, "including.yaml");
    writeFileSync(
      included,
      "name: x\ninclude: [strict.yaml]\nrules:\n  - id: x\n    deny: read\n    path: /x\n",
    );
    expect(control("push", included).stderr).toMatch(/needs other files/);
    expect(control("push", policy("bad", "[")).status).toBe(125);
    expect(hermes(["fleet", "hosts", "--store", join(folder, "x.db")]).stderr).toMatch(/needs PostgreSQL/);
    expect(control("rollout", "strict", "50").stderr).toMatch(/no rollout is in progress/);
    expect(control("label", "real-1", "a b").stderr).toMatch(/a label looks like/);
    expect(control("pin", "nobody", "none").stderr).toMatch(/the host nobody does not exist/);
  });

  it("serves all hosts, and delivers their records", async () => {
    const { said } = begin(["serve", "--json", "--listen", "127.0.0.1:0"], join(folder, "control"), {
      HERMES_STORE: url,
    });
    await until(() => said.length > 0, "the server");
    expect(JSON.parse(said[0]!).links[0].role).toBe("admin");
    const { stdout } = hermes(["audit", "verify", "--json"], {
      env: { ...process.env, HERMES_HOME: join(folder, "control"), HERMES_STORE: url },
    });
    const whole = JSON.parse(stdout).chains;
    expect(whole.length).toBeGreaterThan(0);
    for (const { broken } of whole) expect(broken).toBeNull();
    expect(json("revoke", "real-1")).toEqual({ host: "real-1", state: "revoked" });
    expect(existsSync(join(host, "fleet/policy.yaml"))).toBe(true);
  });
});
