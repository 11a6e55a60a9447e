import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openStore } from "../../../src/record/store/open.js";
import { hermes } from "../../support/cli.js";
import { root } from "../../support/root.js";
import { until } from "../../support/until.js";
import { answering, execIn, makePlace, type Place, toolboxIn } from "./place.js";

/** Every record of the audit, in order: its kind and what stands in it. */
function recordsOf({ store }: Place): { kind: string; body: Record<string, unknown> }[] {
  const { stdout, stderr, status } = hermes(["audit", "show", "--json", "-n", "100000", "--store", store]);
  expect([status, stderr]).toEqual([0, ""]);
  return stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

const verified = ({ store }: Place) => hermes(["audit", "verify", "--store", store]).status;

describe("a toolbox", () => {
  it("offers its tools as functions that a model can call", async () => {
    const toolbox = await toolboxIn(makePlace());
    const names = toolbox.definitions.map((definition) => definition.function.name);
    expect(names).toEqual(
      expect.arrayContaining([
        "terminal_exec",
        "python_rpc",
        "read_file",
        "write_file",
        "patch",
        "fetch_url",
      ]),
    );
    const terminal = toolbox.definitions.find((definition) => definition.function.name === "terminal_exec")!;
    expect(terminal).toMatchObject({
      type: "function",
      function: { parameters: { type: "object", required: ["command"], additionalProperties: false } },
    });
  });

  it("has only the tools that it is told to have", async () => {
    const toolbox = await toolboxIn(makePlace(), { tools: ["read_file"] });
    expect(toolbox.definitions).toHaveLength(1);
    expect(await execIn(toolbox, "true")).toMatchObject({ status: "REFUSED", rule: "unknown-tool" });
    await expect(toolboxIn(makePlace(), { tools: ["read_flie"] })).rejects.toThrow(
      "there is no tool read_flie",
    );
  });

  it("records every call before it runs, and what came of it: also what is refused, wrong, or no tool at all", async () => {
    const place = makePlace();
    const toolbox = await toolboxIn(place);
    const calls = [
      await execIn(toolbox, "exit 3"),
      await execIn(toolbox, "rm -rf /"),
      await toolbox.call("terminal_exec", { comand: "ls" }),
      await toolbox.call("no_such_tool", {}),
      await toolbox.call("read_file", { path: "missing.txt" }),
    ];
    expect(calls.map(({ status }) => status)).toEqual(["DONE", "REFUSED", "REFUSED", "REFUSED", "FAILED"]);
    const records = recordsOf(place);
    for (const { id, status } of calls) {
      const own = records.filter(({ body }) => body.id === id);
      expect(own.map(({ kind }) => kind)).toEqual(["tool-call", "outcome"]);
      expect(own[1]!.body.status).toBe(status);
    }
    expect(records.find(({ body }) => body.id === calls[0]!.id && "exitCode" in body)?.body.exitCode).toBe(3);
    expect(verified(place)).toBe(0);
  });

  it("calls it refused when a rule ends a call that has begun: reads that only repeat, redirects inside", async () => {
    const place = makePlace();
    const server = createServer((_, answer) =>
      answer.writeHead(302, { location: "http://169.254.169.254/" }).end(),
    );
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as AddressInfo;
    place.write("home/hermes.yaml", `urls: { allow: ["127.0.0.1:${port}"] }\n`);
    place.write("workspace/a.txt", "a\n");
    const toolbox = await toolboxIn(place);
    const read = () => toolbox.call("read_file", { path: "a.txt" });
    const reads = [await read(), await read(), await read(), await read()];
    expect(reads.at(-1)).toMatchObject({ status: "REFUSED", rule: "re-read-loop" });
    const fetched = await toolbox.call("fetch_url", { url: `http://127.0.0.1:${port}/` });
    server.close();
    expect(fetched).toMatchObject({ status: "REFUSED", rule: "url-refused" });
    expect(recordsOf(place).at(-1)!.body.status).toBe("REFUSED");
  });

  it("tells the profile that is in force, and that this is its first session", async () => {
    const place = makePlace();
    const told: [string, boolean][] = [];
    const inForce = (text: string, isFirst: boolean) => void told.push([text, isFirst]);
    await toolboxIn(place, { inForce });
    place.write("home/hermes.yaml", "profile: strict\n");
    await toolboxIn(place, { inForce });
    expect(told).toEqual([
      [expect.stringMatching(/^profile standard: .*choose in .*home\/hermes\.yaml/), true],
      [expect.stringMatching(/^profile strict: /), false],
    ]);
  });

  it("writes no secret down", async () => {
    const place = makePlace();
    const toolbox = await toolboxIn(place);
    const secret = ["ghp", "_", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"].join("");
    await execIn(toolbox, `echo ${secret}`);
    await toolbox.call("write_file", { path: "a.txt", content: `token ${secret}` });
    await toolbox.close();
    for (const name of readdirSync(join(place.store, "..")))
      expect(readFileSync(join(place.store, "..", name)).includes(secret), name).toBe(false);
  });

  it("records what the kernel refused", async () => {
    const place = makePlace();
    place.write("workspace/w.txt", "open('/etc/hermes-never', 'w')");
    const { output } = await execIn(await toolboxIn(place), "python3 w.txt");
    expect(output.exitCode).toBe(1);
    expect(recordsOf(place).filter(({ kind }) => kind === "deed")).toMatchObject([
      {
        body: {
          action: "deny",
          rule: "elsewhere",
          policy: "tools",
          what: expect.stringContaining("/etc/hermes-never"),
        },
      },
    ]);
  });

  it("keeps its records from what it runs, wherever they lie", async () => {
    const place = makePlace();
    const store = join(place.workspace, "records.sqlite");
    const toolbox = await toolboxIn(place, { store });
    place.write(
      "workspace/look.txt",
      "import glob\nfor f in glob.glob('records*'):\n    for m in ('rb', 'ab'):\n        try: open(f, m); print('open')\n        except FileNotFoundError: print('not there')",
    );
    const { output } = await execIn(toolbox, "python3 look.txt");
    expect(output.stdout).toMatch(/^(not there\n)+$/);
  });

  it("remembers what decided, with its text", async () => {
    const place = makePlace();
    await execIn(await toolboxIn(place), "true");
    const named = recordsOf(place).filter(({ kind }) => kind === "policy");
    expect(named.map(({ body }) => body.name).sort()).toEqual(["deed", "tools"]);
    const store = await openStore(place.store);
    const { version } = named.find(({ body }) => body.name === "tools")!.body as { version: string };
    expect((await store.policy(version))?.text).toContain("later-code.yaml");
    await store.close();
  });

  it("judges what a shell is fed as what it is told", async () => {
    const toolbox = await toolboxIn(makePlace());
    expect(await execIn(toolbox, "bash", { stdin: "echo a; rm -rf /" })).toMatchObject({
      status: "REFUSED",
      rule: "delete-everything",
    });
    expect(await execIn(toolbox, "cat", { stdin: "echo a; rm -rf /" })).toMatchObject({ status: "DONE" });
  });

  it("does what it can for many at once", async () => {
    const toolbox = await toolboxIn(makePlace());
    const numbers = Array.from({ length: 60 }, (_, i) => i);
    const all = await Promise.all(
      numbers.map((i) => execIn(toolbox, `echo ${i}; exit ${i}`, { timeout: 120 })),
    );
    expect(all.map(({ output }) => [output.exitCode, output.stdout])).toEqual(
      numbers.map((i) => [i, `${i}\n`]),
    );
  });
});

describe("what must be approved", () => {
  const RISKY = "git reset --hard";

  it("is parked as BLOCKED with an item of kind TOOL_CALL, and runs when it is granted", async () => {
    const place = makePlace();
    const toolbox = await toolboxIn(place);
    const parked = await toolbox.call("terminal_exec", { command: RISKY }, { wait: false });
    expect(parked).toMatchObject({ status: "BLOCKED", approval: expect.any(String) });
    const store = await openStore(place.store);
    expect(await store.toolCall(parked.id)).toMatchObject({ status: "BLOCKED" });
    expect(await store.approval(parked.approval!)).toMatchObject({
      kind: "TOOL_CALL",
      state: "pending",
      what: RISKY,
    });
    await store.close();
    expect(hermes(["approvals", "approve", parked.approval!, "--store", place.store]).status).toBe(0);
    expect(await toolbox.resume(parked.id)).toMatchObject({ status: "DONE", output: { exitCode: 128 } });
  });

  it("does not run when it is refused, and the agent hears why", async () => {
    const place = makePlace();
    const toolbox = await toolboxIn(place);
    const parked = await toolbox.call("terminal_exec", { command: RISKY }, { wait: false });
    hermes(["approvals", "deny", parked.approval!, "--note", "use git stash", "--store", place.store]);
    expect(await toolbox.resume(parked.id)).toMatchObject({
      status: "REFUSED",
      reason: expect.stringContaining("use git stash"),
    });
  });

  it("does not run when a script that it names has changed since", async () => {
    const place = makePlace();
    place.write("workspace/go.sh", "echo first\ngit reset --hard\n");
    const toolbox = await toolboxIn(place);
    const parked = await toolbox.call("terminal_exec", { command: `${RISKY}; bash go.sh` }, { wait: false });
    place.write("workspace/go.sh", "echo other\n");
    hermes(["approvals", "approve", parked.approval!, "--store", place.store]);
    expect(await toolbox.resume(parked.id)).toMatchObject({ status: "REFUSED", rule: "changed" });
  });

  it("runs the script that was approved, even when the file is exchanged while it runs", async () => {
    const place = makePlace();
    place.write("workspace/go.sh", "echo the approved one\n");
    place.write("workspace/evil.txt", "echo another one\n");
    const toolbox = await toolboxIn(place, { approvers: [answering("once")] });
    const { output } = await execIn(toolbox, `${RISKY}; cp evil.txt go.sh; bash go.sh; cat evil.txt`);
    expect(output.stdout).toBe("the approved one\necho another one\n");
  });

  it("outlives the process: what was granted meanwhile runs in the next one, once", async () => {
    const place = makePlace();
    const first = await toolboxIn(place);
    const parked = await first.call("terminal_exec", { command: RISKY }, { wait: false });
    const host = spawn(
      process.execPath,
      [join(root, "test/agents/tools/host.mjs"), place.workspace, place.home, place.store, `${RISKY} HEAD`],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    const [line] = (await once(host.stdout, "data")) as [Buffer];
    const { approval, id } = JSON.parse(String(line));
    host.kill("SIGKILL");
    await once(host, "exit");
    expect(hermes(["approvals", "approve", approval, "--store", place.store]).status).toBe(0);
    const next = await toolboxIn(place);
    expect(await next.resume(id)).toMatchObject({ status: "DONE", output: { exitCode: 128 } });
    await expect(next.resume(id)).rejects.toThrow("is not parked");
    expect((await first.call("terminal_exec", { command: `${RISKY} HEAD` }, { wait: false })).status).toBe(
      "BLOCKED",
    );
    expect(parked.status).toBe("BLOCKED");
    expect(verified(place)).toBe(0);
  });

  it("is withdrawn with the call that asked for it", async () => {
    const place = makePlace();
    const toolbox = await toolboxIn(place);
    const end = new AbortController();
    const call = toolbox.call("terminal_exec", { command: RISKY }, { signal: end.signal });
    const store = await openStore(place.store);
    const [pending] = await until(async () => {
      const rows = await store.approvals({ state: ["pending"] });
      return rows.length > 0 && rows;
    }, "the question");
    end.abort();
    expect((await call).status).toBe("CANCELLED");
    expect(await store.approval(pending!.id)).toMatchObject({ state: "withdrawn" });
    await store.close();
  });

  it("ends with the session that asked, as what runs does, and all of it is written down", async () => {
    const place = makePlace();
    const toolbox = await toolboxIn(place);
    let runs = () => {};
    const started = new Promise<void>((resolve) => {
      runs = resolve;
    });
    const waiting = toolbox.call("terminal_exec", { command: RISKY });
    const parked = await toolbox.call("terminal_exec", { command: `${RISKY} HEAD` }, { wait: false });
    const running = toolbox.call("terminal_exec", { command: "echo up; sleep 60" }, { onOutput: runs });
    await started;
    const justNow = toolbox.call("terminal_exec", { command: "sleep 60" });
    await toolbox.close();
    const calls = [await waiting, parked, await running, await justNow];
    await expect(toolbox.call("terminal_exec", { command: "true" })).rejects.toThrow("session was closed");
    await expect(toolbox.resume(parked.id)).rejects.toThrow("session was closed");
    const store = await openStore(place.store);
    for (const { id } of calls) expect(["CANCELLED", "FAILED"]).toContain((await store.toolCall(id))?.status);
    expect(await store.approvals({ state: ["pending"] })).toEqual([]);
    await store.close();
    expect(verified(place)).toBe(0);
  });
});

describe("a host that was killed", () => {
  it("leaves no process and no folder, and its calls are said to have failed", async () => {
    const place = makePlace();
    const host = spawn(
      process.execPath,
      [
        join(root, "test/agents/tools/host.mjs"),
        place.workspace,
        place.home,
        place.store,
        "echo $$ > pid; sleep 1000",
      ],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    const file = join(place.workspace, "pid");
    const pid = await until(
      () => existsSync(file) && readFileSync(file, "utf8").trim(),
      "the command to run",
    );
    host.kill("SIGKILL");
    await once(host, "exit");
    await until(() => !existsSync(`/proc/${pid}`), "the end of the command");
    await toolboxIn(place);
    const records = recordsOf(place);
    expect(records.filter(({ kind }) => kind === "outcome")).toMatchObject([{ body: { status: "FAILED" } }]);
    expect(records.filter(({ kind, body }) => kind === "session" && body.what === "closed")).toHaveLength(1);
    expect(verified(place)).toBe(0);
  });
});
