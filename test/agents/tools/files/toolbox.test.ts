import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { Toolbox } from "../../../../src/agents/tools/toolbox.js";
import type { ApprovalItem } from "../../../../src/people/approval/approval-item.js";
import { root } from "../../../support/root.js";
import { until } from "../../../support/until.js";
import { temporary } from "../world.js";

const open: Toolbox[] = [];
afterEach(async () => {
  for (const toolbox of open.splice(0)) await toolbox.close();
});

/** A toolbox whose questions go to `answer`. */
async function toolbox(workspace: string, answer: (item: ApprovalItem) => "once" | "no" = () => "once") {
  const home = temporary();
  const made = await Toolbox.open({
    workspace,
    home,
    env: { PATH: "/usr/bin:/bin" },
    store: join(home, "hermes.db"),
    approvers: [
      {
        name: "test",
        ask: (item, give) => void give({ answer: answer(item), by: "test" }),
        withdraw: () => {},
      },
    ],
  });
  open.push(made);
  return made;
}

describe("file tools in a toolbox", () => {
  it("read, change and find", async () => {
    const workspace = temporary();
    const tools = await toolbox(workspace);
    expect(await tools.call("write_file", { path: "d/a.txt", content: "one\n" })).toMatchObject({
      status: "DONE",
    });
    expect(await tools.call("patch", { path: "d/a.txt", edits: [{ old: "one", new: "two" }] })).toMatchObject(
      { status: "DONE" },
    );
    expect(await tools.call("read_file", { path: "d/a.txt" })).toMatchObject({
      output: { content: "two\n" },
    });
    expect(await tools.call("list_files", { depth: 2 })).toMatchObject({
      output: { entries: [{ path: "d" }, { path: "d/a.txt" }] },
    });
    expect(await tools.call("search_files", { pattern: "two" })).toMatchObject({
      output: { matches: [{ path: "d/a.txt", line: 1 }] },
    });
  });

  it("are refused with a reason, or fail with one", async () => {
    const workspace = temporary();
    writeFileSync(join(workspace, ".env"), "KEY=1");
    const tools = await toolbox(workspace);
    expect(await tools.call("read_file", { path: ".env" })).toMatchObject({
      status: "REFUSED",
      rule: "env-file",
    });
    expect(await tools.call("read_file", { path: "none" })).toMatchObject({
      status: "FAILED",
      rule: "not-found",
    });
    expect(await tools.call("read_file", { path: "x", lines: 3 })).toMatchObject({
      status: "REFUSED",
      rule: "bad-input",
    });
  });

  it("ask where a person must decide, show what would change, and do it after a yes", async () => {
    const workspace = temporary();
    const items: ApprovalItem[] = [];
    let answer: "once" | "no" = "no";
    const tools = await toolbox(workspace, (item) => {
      items.push(item);
      return answer;
    });
    const call = { path: join(workspace, ".github/workflows/ci.yml"), content: "on: push\n" };
    expect(await tools.call("write_file", call)).toMatchObject({ status: "REFUSED", rule: "approval" });
    expect(existsSync(call.path)).toBe(false);
    answer = "once";
    expect(await tools.call("write_file", call)).toMatchObject({ status: "DONE", approvedBy: "test" });
    expect(readFileSync(call.path, "utf8")).toBe("on: push\n");
    expect(items[0]).toMatchObject({ detail: { diff: "@@ -1 +1 @@\n+on: push" } });
  });

  it("do not do what was approved when the file has changed meanwhile", async () => {
    const workspace = temporary();
    const file = join(workspace, "CLAUDE.md");
    writeFileSync(file, "one\ntwo\n");
    const tools = await toolbox(workspace, () => {
      writeFileSync(file, "one\ntwo\nthree\n");
      return "once";
    });
    expect(await tools.call("patch", { path: "CLAUDE.md", edits: [{ old: "two", new: "2" }] })).toMatchObject(
      {
        status: "REFUSED",
        rule: "changed",
      },
    );
    expect(readFileSync(file, "utf8")).toBe("one\ntwo\nthree\n");
  });

  it("are not in a loop when something else is done between two reads", async () => {
    const workspace = temporary();
    writeFileSync(join(workspace, "a"), "x");
    const tools = await toolbox(workspace);
    for (let i = 0; i < 6; i++) {
      expect((await tools.call("read_file", { path: "a" })).status).toBe("DONE");
      expect((await tools.call("terminal_exec", { command: "ls" })).status).toBe("DONE");
    }
    for (let i = 0; i < 3; i++) expect((await tools.call("read_file", { path: "a" })).status).toBe("DONE");
    expect(await tools.call("read_file", { path: "a" })).toMatchObject({
      status: "REFUSED",
      rule: "re-read-loop",
    });
  });
});

describe("a host that is killed while a script runs", () => {
  it("leaves no process, and its folder only until the next start", async () => {
    const home = temporary();
    const program = join(home, "host.mjs");
    writeFileSync(
      program,
      `import { Toolbox } from ${JSON.stringify(join(root, "dist/agents/tools/index.js"))};
      const approvers = [{ name: "yes", ask: (item, give) => void give({ answer: "once", by: "yes" }), withdraw() {} }];
      const tools = await Toolbox.open({ workspace: ${JSON.stringify(home)}, home: ${JSON.stringify(home)}, env: { PATH: "/usr/bin:/bin" }, store: ${JSON.stringify(join(home, "hermes.db"))}, approvers });
      const code = "import os, time\\nprint(os.getcwd(), flush=True)\\nwhile True: time.sleep(0.05)";
      await tools.call("python_rpc", { code }, { onOutput: (_, bytes) => process.stdout.write(bytes) });`,
    );
    const host = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "inherit"] });
    const folder = String((await once(host.stdout, "data"))[0]).trim();
    expect(existsSync(folder)).toBe(true);
    host.kill("SIGKILL");
    await once(host, "exit");
    await until(() => !runsIn(folder), "the end of the script");
    await toolbox(temporary());
    expect(existsSync(folder)).toBe(false);
  });
});

/** Whether a process has its working directory there. */
function runsIn(folder: string): boolean {
  const found = execFileSync("sh", ["-c", "readlink /proc/[0-9]*/cwd 2>/dev/null || true"], {
    encoding: "utf8",
  });
  return found.split("\n").some((cwd) => cwd.startsWith(folder));
}
