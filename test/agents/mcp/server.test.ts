import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ElicitRequest } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hermes } from "../../support/cli.js";
import { until } from "../../support/until.js";
import {
  alive,
  type Connected,
  type Connecting,
  connect,
  ERAS,
  type Place,
  place,
  records,
  textOf,
} from "./support.js";

let here: Place;
let open: Connected[];
beforeEach(async () => {
  here = await place({ "src/a.txt": "one\ntwo\n" });
  open = [];
});
afterEach(async () => {
  for (const { client } of open) await client.close();
  await here.close();
});

async function server(args: readonly string[] = [], options: Connecting = {}): Promise<Connected> {
  const connected = await connect(here, ["mcp", ...args], options);
  open.push(connected);
  return connected;
}

describe.each(ERAS)("hermes mcp, protocol of %s", (era) => {
  it("tells of every tool with a schema, an example that fits it, and what it may do", async () => {
    const { client } = await server([], { era });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["terminal_exec", "read_file", "write_file", "patch", "search_files"]),
    );
    for (const { name, inputSchema, annotations } of tools) {
      expect((inputSchema as { examples?: unknown[] }).examples, name).not.toHaveLength(0);
      expect(annotations?.readOnlyHint, name).toBe(
        ["read_file", "list_files", "search_files"].includes(name),
      );
    }
  });

  it("runs a task of ten steps: two are approved by the client's user, one is refused, and the audit has all", async () => {
    const asked: ElicitRequest["params"][] = [];
    const { call } = await server([], {
      era,
      elicit: (params) => {
        asked.push(params);
        return { action: "accept", content: { answer: asked.length === 1 ? "once" : "session" } };
      },
    });
    const steps: [string, object][] = [
      ["list_files", { path: "." }],
      [
        "terminal_exec",
        { command: "git init -q && git add -A && git -c user.name=a -c user.email=a@b commit -qm 1" },
      ],
      ["write_file", { path: "src/b.txt", content: "three\n" }],
      ["patch", { path: "src/a.txt", edits: [{ old: "two", new: "2" }] }],
      ["search_files", { pattern: "2|three" }],
      ["terminal_exec", { command: "git clean -fdq" }],
      ["terminal_exec", { command: "git reset --hard -q" }],
      ["terminal_exec", { command: "cat ~/.ssh/id_rsa" }],
      ["read_file", { path: "src/a.txt" }],
      ["terminal_exec", { command: "git status --short | wc -l" }],
    ];
    const results = [];
    for (const [name, input] of steps) results.push(await call(name, input));
    const statuses = results.map(({ structuredContent }) => (structuredContent as { status: string }).status);
    expect(statuses, JSON.stringify(results)).toEqual([...Array(7).fill("DONE"), "REFUSED", "DONE", "DONE"]);
    expect(results[7]).toMatchObject({ isError: true });
    expect(textOf(results[7]!)).toMatch(/^refused: .+\ninstead: /);
    expect(textOf(results[9]!)).toBe("0\n[exit status 0]");
    expect(readFileSync(join(here.workspace, "src/a.txt"), "utf8")).toBe("one\ntwo\n");
    expect(asked).toHaveLength(2);
    expect(asked[0]!.message).toContain("what: git clean -fdq");

    const calls = await records(here.store, "tool-call");
    expect(calls.map(({ tool }) => tool)).toEqual(steps.map(([name]) => name));
    expect(calls.filter(({ action }) => action === "ask")).toHaveLength(2);
    expect(calls.filter(({ action }) => action === "deny")).toHaveLength(1);
    const answers = await records(here.store, "approval-answered");
    expect(answers.map(({ by, scope }) => [by, scope])).toEqual([
      ["mcp:test-client", "once"],
      ["mcp:test-client", "session"],
    ]);
    expect((await records(here.store, "outcome")).map(({ status }) => status)).toEqual(statuses);
  });

  it("takes no for an answer, and tells the agent what its user said", async () => {
    const { call } = await server([], {
      era,
      elicit: () => ({ action: "accept", content: { answer: "no", note: "stash it instead" } }),
    });
    const refused = await call("terminal_exec", { command: "git reset --hard" });
    expect(refused).toMatchObject({ isError: true, structuredContent: { status: "REFUSED" } });
    expect(textOf(refused)).toContain("stash it instead");
    const declined = await server([], { era, elicit: () => ({ action: "decline" }) });
    expect(await declined.call("terminal_exec", { command: "git clean -fdx" })).toMatchObject({
      structuredContent: { status: "REFUSED" },
    });
  });

  it("asks the queue when the client cannot ask, says so, and runs it once when the client comes back", async () => {
    const { call } = await server([], { era });
    const input = { command: "git init -q . ; git clean -fdxq; echo done >> /tmp/../$PWD/ran" };
    const first = await call("terminal_exec", input);
    expect(first).toMatchObject({ isError: true, structuredContent: { status: "BLOCKED" } });
    const { approval } = first.structuredContent as { approval: string };
    expect(textOf(first)).toContain(`hermes approvals show ${approval}`);
    const { status, stderr } = hermes(["approvals", "approve", approval], { env: here.env });
    expect(status, stderr).toBe(0);
    const second = await call("terminal_exec", input);
    expect(second, textOf(second)).toMatchObject({ structuredContent: { status: "DONE", approval } });
    expect(readFileSync(join(here.workspace, "ran"), "utf8")).toBe("done\n");
    expect(await records(here.store, "tool-call")).toHaveLength(1);
  });

  it("does not ask a client that may belong to the agent when it is told not to", async () => {
    const { call } = await server(["--ask", "queue"], {
      era,
      elicit: () => ({ action: "accept", content: { answer: "always" } }),
    });
    expect(await call("terminal_exec", { command: "git reset --hard" })).toMatchObject({
      structuredContent: { status: "BLOCKED" },
    });
  });

  it("leaves it in the queue when the user puts the question aside", async () => {
    const { call } = await server([], { era, elicit: () => ({ action: "cancel" }) });
    const result = await call("terminal_exec", { command: "git reset --hard" });
    expect(result).toMatchObject({ structuredContent: { status: "BLOCKED" } });
    expect(await here.store.approvals({ state: ["pending"] })).toHaveLength(1);
  });

  it("shows what a command prints while it runs", async () => {
    const { client } = await server([], { era });
    const seen: string[] = [];
    const done = client.callTool(
      {
        name: "terminal_exec",
        arguments: {
          command: "for n in 1 2 3; do echo line $n; until [ -e go$n ]; do sleep 0.1; done; done",
        },
      },
      { onprogress: ({ message }) => void seen.push(message ?? "") },
    );
    for (const n of [1, 2, 3]) {
      await until(() => seen.length === n);
      await client.callTool({ name: "write_file", arguments: { path: `go${n}`, content: "" } });
    }
    await done;
    expect(seen).toEqual(["line 1", "line 2", "line 3"]);
  });

  it("ends the whole tree when the client cancels", async () => {
    const { client } = await server([], { era });
    const stop = new AbortController();
    const lines: string[] = [];
    const call = client.callTool(
      {
        name: "terminal_exec",
        arguments: { command: "(trap '' TERM; sleep 1000) & echo $!; wait" },
      },
      { signal: stop.signal, onprogress: ({ message }) => lines.push(message ?? "") },
    );
    const pid = Number(await until(() => lines[0]));
    expect(alive(pid)).toBe(true);
    stop.abort("enough");
    await expect(call).rejects.toThrow();
    await until(() => !alive(pid));
    await until(async () =>
      (await records(here.store, "outcome")).some(({ status }) => status === "CANCELLED"),
    );
  });
});

describe("hermes mcp", () => {
  it("withdraws the client's question when another approver is faster", async () => {
    let withdrawn = false;
    const asking = await server([], {
      elicit: async () => {
        const [row] = await until(async () => {
          const rows = await here.store.approvals({ state: ["pending"] });
          return rows.length > 0 ? rows : undefined;
        });
        hermes(["approvals", "deny", row!.id, "--note", "I was faster"], { env: here.env });
        await until(() => withdrawn);
        return { action: "cancel" };
      },
    });
    const result = await asking.call("terminal_exec", { command: "git reset --hard" });
    withdrawn = true;
    expect(textOf(result)).toContain("I was faster");
  });

  it("asks at a system call too, in the midst of a run", async () => {
    const asked: string[] = [];
    const { call } = await server([], {
      elicit: ({ message }) => {
        asked.push(message);
        return { action: "accept", content: { answer: "once" } };
      },
    });
    // The guard reads no JavaScript; the kernel sees what it runs.
    const script =
      'import { spawnSync } from "node:child_process"; spawnSync("git", ["re" + "set", "--hard"]);';
    await call("write_file", { path: "s.mjs", content: script });
    const result = await call("terminal_exec", { command: "git init -q; node s.mjs; echo ok" });
    expect(textOf(result)).toContain("ok");
    expect(asked).toEqual([expect.stringContaining("what: run git reset --hard")]);
  });

  it("asks about what a script calls, too", async () => {
    const asked: string[] = [];
    const { call } = await server([], {
      elicit: ({ message }) => {
        asked.push(message);
        return { action: "accept", content: { answer: "once" } };
      },
    });
    const code =
      'from hermes_tools import terminal_exec\nprint(terminal_exec("git init -q; git clean -fdq; echo clean"))';
    const result = await call("python_rpc", { code });
    expect(textOf(result)).toContain("clean");
    expect(asked).toHaveLength(2);
    expect(asked[1]).toContain("git clean -fdq");
  });

  it("refuses further calls when there were as many as it was told", async () => {
    const { call } = await server(["--calls", "1"]);
    expect(await call("list_files", {})).toMatchObject({ structuredContent: { status: "DONE" } });
    expect(await call("list_files", {})).toMatchObject({
      isError: true,
      structuredContent: { rule: "budget" },
    });
  });

  it("has only the tools that were asked for, and ends with its client", async () => {
    const { client, pid } = await server(["--tools", "read_file,list_files"]);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["read_file", "list_files"]);
    await client.close();
    open.pop();
    await until(() => !alive(pid));
    const sessions = await here.store.sessions({});
    expect(sessions.map(({ ended }) => ended !== null)).toEqual([true]);
  });

  it("takes secrets out of what it shows meanwhile", async () => {
    const { client } = await server();
    const seen: string[] = [];
    const done = client.callTool(
      {
        name: "terminal_exec",
        arguments: {
          command:
            "printf 'token: ghp_'; sleep 0.5; printf 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8\\n'; until [ -e go ]; do sleep 0.1; done",
        },
      },
      { onprogress: ({ message }) => seen.push(message ?? "") },
    );
    expect(await until(() => seen[0])).toMatch(/^token: \[redacted: .*\]$/);
    await client.callTool({ name: "write_file", arguments: { path: "go", content: "" } });
    await done;
  });
});
