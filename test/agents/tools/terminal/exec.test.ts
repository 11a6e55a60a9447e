import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hermes } from "../../../support/cli.js";
import { answering, execIn, makePlace, toolboxIn } from "../place.js";

describe("terminal_exec runs", () => {
  it("in the workspace, with output and exit code as they are", async () => {
    const place = makePlace();
    const toolbox = await toolboxIn(place);
    const { status, output } = await execIn(toolbox, "pwd; echo wrong >&2; exit 7");
    expect(status).toBe("DONE");
    expect(output).toMatchObject({
      exitCode: 7,
      stdout: `${place.workspace}\n`,
      stderr: "wrong\n",
      truncated: false,
    });
  });

  it("in a folder of the workspace when told so, and nowhere else", async () => {
    const place = makePlace();
    mkdirSync(join(place.workspace, "sub"));
    symlinkSync("/etc", join(place.workspace, "out"));
    const toolbox = await toolboxIn(place);
    expect((await execIn(toolbox, "pwd", { workingDirectory: "sub" })).output.stdout).toBe(
      `${place.workspace}/sub\n`,
    );
    for (const workingDirectory of [
      "..",
      "../..",
      "/etc",
      "sub/../..",
      "out",
      "/",
      "nowhere",
      "../workspace-of-others",
    ]) {
      const refused = await execIn(toolbox, "pwd", { workingDirectory });
      expect(refused, workingDirectory).toMatchObject({ status: "REFUSED", rule: "working-directory" });
    }
  });

  it("and its shell stays in the workspace: the kernel refuses to leave it", async () => {
    const place = makePlace();
    const toolbox = await toolboxIn(place);
    const { output } = await execIn(toolbox, "cd /etc; pwd; (cd ..; pwd); cd - ; mkdir x && cd x && pwd");
    expect(output.stdout).toContain(`${place.workspace}/x`);
    expect(output.stdout).not.toMatch(/^\/etc$/m);
    expect(output.refused.map(({ rule }: { rule: string }) => rule)).toContain("stay");
  });

  it("with a signal's exit code", async () => {
    const toolbox = await toolboxIn(makePlace());
    expect((await execIn(toolbox, "kill -TERM $$")).output).toMatchObject({
      exitCode: 143,
      signal: "SIGTERM",
    });
  });

  it("with what it is given on stdin, and with nothing otherwise", async () => {
    const toolbox = await toolboxIn(makePlace());
    expect((await execIn(toolbox, "cat", { stdin: "some text" })).output.stdout).toBe("some text");
    expect((await execIn(toolbox, "cat; echo end")).output.stdout).toBe("end\n");
    const large = "x".repeat(3_000_000);
    expect((await execIn(toolbox, "wc -c", { stdin: large })).output.stdout.trim()).toBe("3000000");
  });

  it("on a terminal of its own, of the size that is asked for", async () => {
    const toolbox = await toolboxIn(makePlace());
    const { output } = await execIn(toolbox, "tty; stty size; echo err >&2", {
      pty: { columns: 101, rows: 33 },
    });
    expect(output.stdout).toMatch(/^\/dev\/pts\/\d+\r\n33 101\r\nerr\r\n$/);
  });

  it("and tells what it prints while it prints it", async () => {
    const toolbox = await toolboxIn(makePlace());
    const seen: string[] = [];
    let go: (() => void) | undefined;
    const first = new Promise<void>((resolve) => {
      go = resolve;
    });
    const call = toolbox.call(
      "terminal_exec",
      { command: "echo one; until test -e go; do sleep 0.05; done; echo two" },
      {
        onOutput: (stream, bytes) => {
          seen.push(`${stream}:${bytes}`);
          go?.();
        },
      },
    );
    await first;
    expect(seen).toEqual(["stdout:one\n"]);
    await toolbox.call("write_file", { path: "go", content: "" });
    await call;
    expect(seen).toEqual(["stdout:one\n", "stdout:two\n"]);
  });
});

describe("terminal_exec is over", () => {
  it("after 30 seconds, unless told otherwise, and after 120 at most", async () => {
    const place = makePlace();
    const asked: number[] = [];
    const toolbox = await toolboxIn(place, {
      backend: {
        name: "local",
        start: async (order) => {
          asked.push(order.timeout);
          throw new Error("not in this test");
        },
        close: async () => {},
      },
    });
    for (const timeout of [undefined, 5, 119, 120, 121, 100_000])
      await execIn(toolbox, "true", timeout === undefined ? {} : { timeout });
    expect(asked).toEqual([30_000, 5_000, 119_000, 120_000, 120_000, 120_000]);
    expect(await execIn(toolbox, "true", { timeout: 0 })).toMatchObject({
      status: "REFUSED",
      rule: "bad-input",
    });
  });

  it("and says so where it was asked for more; in the strict profile also on the command line", async () => {
    const told = /timeout 500 s was lowered to 120 s/;
    const place = makePlace();
    const { output } = await execIn(await toolboxIn(place), "echo done", { timeout: 500 });
    expect((output as { stderr: string }).stderr).toMatch(told);
    const env = { ...process.env, HERMES_HOME: place.home, HERMES_WORKSPACE: place.workspace };
    const run = (...options: string[]) =>
      hermes(["exec", "--store", place.store, "--timeout", "500", ...options, "echo done"], { env });
    expect(run().stderr).not.toMatch(told);
    const strict = run("--profile", "strict", "--ask", "no");
    expect(strict.status).toBe(126);
    place.write("home/hermes.yaml", "profile: strict\n");
    expect(hermes(["exec", "--store", place.store, "--timeout", "500", "pwd"], { env }).stderr).toMatch(told);
  });

  it("with 124 and a note; SIGTERM comes first", async () => {
    const toolbox = await toolboxIn(makePlace());
    const command = "trap 'echo asked to end; exit 0' TERM; echo started; while :; do sleep 0.05; done";
    const { output } = await execIn(toolbox, command, { timeout: 1.5 });
    expect(output).toMatchObject({ exitCode: 124, timedOut: true, stdout: "started\nasked to end\n" });
    expect(output.stderr).toContain("timed out after 1.5 s");
  });

  it("for the whole tree: SIGKILL a second later for those who do not listen, wherever they went", async () => {
    const place = makePlace();
    const toolbox = await toolboxIn(place);
    const deaf = "trap '' TERM HUP; echo $BASHPID >> pids; while :; do sleep 0.1; done";
    place.write("workspace/deaf.sh", deaf);
    const command = "bash deaf.sh & setsid bash deaf.sh & (setsid bash -c 'bash deaf.sh &' &) ; bash deaf.sh";
    const attempt = async (timeout: number): Promise<number> => {
      place.write("workspace/pids", "");
      const began = Date.now();
      const { output } = await execIn(toolbox, command, { timeout });
      expect(output).toMatchObject({ exitCode: 124, timedOut: true });
      expect(Date.now() - began).toBeGreaterThanOrEqual(1000 * (timeout + 1));
      const pids = readFileSync(join(place.workspace, "pids"), "utf8").split("\n").filter(Boolean);
      expect(pids.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
      return pids.length;
    };
    // On a busy machine not all four have started within a second.
    let started = 0;
    for (const timeout of [1, 5, 20]) if (started < 4) started = await attempt(timeout);
    expect(started).toBe(4);
  });

  it("when the command itself is: what it leaves running is ended a moment later, and the agent is told", async () => {
    const place = makePlace();
    const toolbox = await toolboxIn(place);
    const { output } = await execIn(
      toolbox,
      "sleep 1000 > /dev/null 2>&1 & echo $! > pid; echo started; exit 4",
    );
    expect(output).toMatchObject({ exitCode: 4, timedOut: false, stdout: "started\n" });
    expect(output.stderr).toContain("use background");
    const pid = readFileSync(join(place.workspace, "pid"), "utf8").trim();
    expect(existsSync(`/proc/${pid}`)).toBe(false);
    expect((await execIn(toolbox, "(sleep 0.2; echo late) & echo now")).output).toMatchObject({
      stdout: "now\nlate\n",
      stderr: "",
    });
  });

  it("when the call is given up, with everything that it had started", async () => {
    const place = makePlace();
    const toolbox = await toolboxIn(place);
    const end = new AbortController();
    const call = toolbox.call(
      "terminal_exec",
      { command: "sleep 1000 & echo $! > pid; echo up; wait" },
      { signal: end.signal, onOutput: () => end.abort() },
    );
    expect((await call).status).toBe("CANCELLED");
    const pid = readFileSync(join(place.workspace, "pid"), "utf8").trim();
    expect(existsSync(`/proc/${pid}`)).toBe(false);
  });
});

describe("terminal_exec returns", () => {
  it("8 KB of each stream, beginning and end, and says when there was more", async () => {
    const toolbox = await toolboxIn(makePlace());
    const exact = (await execIn(toolbox, "printf 'x%.0s' $(seq 8192)")).output;
    expect(exact).toMatchObject({ truncated: false, stdout: "x".repeat(8192) });
    const more = (await execIn(toolbox, "printf 'x%.0s' $(seq 8193)")).output;
    expect(more.truncated).toBe(true);
    expect(Buffer.byteLength(more.stdout)).toBeLessThanOrEqual(8192);
    const both = (await execIn(toolbox, "seq 1 200000; seq 1 200000 >&2")).output;
    for (const text of [both.stdout, both.stderr]) {
      expect(text.startsWith("1\n2\n3\n")).toBe(true);
      expect(text.endsWith("199999\n200000\n")).toBe(true);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(8192);
    }
  });
});

describe("terminal_exec's environment", () => {
  it("has the mark of the runtime and none of our secrets", async () => {
    const secrets = {
      HERMES_API_KEY: "k1-value",
      OPENROUTER_API_KEY: "k2-value",
      OPENROUTER_ANYTHING: "k3-value",
      DATABASE_URL: "postgres://u:k4-value@h/d",
      DATABASE_URL_REPLICA: "postgres://u:k5-value@h/d",
      ANTHROPIC_API_KEY: "k6-value",
      OPENAI_API_KEY: "k7-value",
      GOOGLE_API_KEY: "k8-value",
      GITHUB_TOKEN: "k9-value",
      SLACK_BOT_TOKEN: "k10-value",
    };
    const toolbox = await toolboxIn(makePlace(), { env: { ...secrets, EDITOR: "vi" } });
    const script = "import os; print(sorted(os.environ.items()))";
    const { output } = await execIn(toolbox, "cat > e.py; python3 e.py", { stdin: script });
    expect(output.stdout).toContain("('AGENT_FOUNDRY_RUNTIME', '1')");
    expect(output.stdout).toContain("('EDITOR', 'vi')");
    for (const [name, value] of Object.entries(secrets)) {
      expect(output.stdout).not.toContain(`'${name}'`);
      expect(output.stdout).not.toContain(value);
    }
  });
});

describe("terminal_exec in the background", () => {
  it("goes on while the agent does other things; it is polled, written to and killed", async () => {
    const place = makePlace();
    const toolbox = await toolboxIn(place);
    const { output } = await execIn(
      toolbox,
      "echo ready; while read line; do echo got $line; done; sleep 1000",
      {
        background: true,
      },
    );
    expect(output).toMatchObject({ running: true });
    const poll = async (more: object) =>
      (await toolbox.call("terminal_process", { id: output.id, ...more })).output as Record<string, unknown>;
    let heard = "";
    while (!heard.includes("ready")) heard += (await poll({ action: "poll" })).stdout;
    await poll({ action: "write", input: "hello\n" });
    while (!heard.includes("got hello")) heard += (await poll({ action: "poll" })).stdout;
    const listed = (await toolbox.call("terminal_process", { action: "list" })).output as { jobs: object[] };
    expect(listed.jobs).toMatchObject([{ id: output.id, running: true }]);
    expect(await poll({ action: "kill" })).toMatchObject({ running: false, signal: "SIGTERM" });
    expect(execFileSync("ps", ["-eo", "args"], { encoding: "utf8" })).not.toContain("got $line");
    expect(await toolbox.call("terminal_process", { action: "poll", id: "other" })).toMatchObject({
      status: "FAILED",
      rule: "no-such-job",
    });
  });

  it("may listen, and the agent's other commands may connect to it", async () => {
    const place = makePlace();
    const toolbox = await toolboxIn(place, { approvers: [answering("once")] });
    place.write("workspace/page.txt", "from the server");
    await execIn(
      toolbox,
      'python3 -u -c \'import http.server as h; s = h.HTTPServer(("127.0.0.1", 0), h.SimpleHTTPRequestHandler); open("port", "w").write(str(s.server_port)); s.serve_forever()\'',
      { background: true },
    );
    const { output } = await execIn(
      toolbox,
      "until test -s port; do sleep 0.05; done; curl -sS --retry 20 --retry-connrefused http://127.0.0.1:$(cat port)/page.txt",
    );
    expect(output).toMatchObject({ stdout: "from the server", exitCode: 0 });
  });
});
