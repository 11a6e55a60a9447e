import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { Backend, RunOrder } from "../../../../src/agents/tools/backend.js";
import { LocalBackend } from "../../../../src/agents/tools/local.js";
import { pythonRpc } from "../../../../src/agents/tools/python/rpc.js";
import type { ToolCall } from "../../../../src/agents/tools/tool.js";
import { Toolbox } from "../../../../src/agents/tools/toolbox.js";
import { callOf, makeWorld, perform, temporary } from "../world.js";

const backend = new LocalBackend();
afterAll(() => backend.close());

/** Folders of runs of this process. */
const scratch = () =>
  readdirSync(tmpdir()).filter(
    (name) => name.startsWith("hermes-scratch-") && name.includes(`-${process.pid}-`),
  );
afterEach(() => expect(scratch()).toEqual([]));

/** What the guard would refuse by its text is let through, to see what holds it then. */
const BLIND = Object.fromEntries(
  [
    "python-environ-dump",
    "python-socket",
    "python-network",
    "python-delete",
    "python-fork",
    "python-kill",
    "env-never",
    "process-secrets",
    "env-name",
  ].map((rule) => [rule, "allow"]),
);

interface More extends Partial<ToolCall> {
  readonly env?: Record<string, string>;
  readonly input?: object;
}

async function python(code: string, { env = {}, input = {}, ...call }: More = {}) {
  const world = await makeWorld({
    backend,
    config: { actions: BLIND },
    env: { PATH: "/usr/bin:/bin", ...env },
  });
  return perform(pythonRpc, { code, ...input }, world, { approve: true, ...call });
}

/** A host that answers every call with its own input. */
const echo = (calls: unknown[] = []): Partial<ToolCall> => ({
  callTool: async (name, input) => {
    calls.push([name, input]);
    return { status: "DONE", output: { name, input } };
  },
});

describe("python_rpc", () => {
  it("runs a script in an empty folder of its own, which is gone afterwards", async () => {
    const { exitCode, stdout } = await python(
      "import os\nprint(os.getcwd(), oct(os.stat('.').st_mode & 0o777), sorted(os.listdir('.')))\nopen('x', 'w').write('y')",
    );
    const [folder, mode, ...files] = stdout.trim().split(" ");
    expect([exitCode, mode, files.join(" ")]).toEqual([0, "0o700", "[]"]);
    expect(folder).toMatch(new RegExp(`^${tmpdir()}/hermes-scratch-`));
    expect(existsSync(folder!)).toBe(false);
  });

  it("takes a script as long as there are", async () => {
    const { stdout } = await python(
      `${"# a long comment\n".repeat(10_000)}print(len(open('/proc/self/cmdline').read()) < 4096)`,
    );
    expect(stdout).toBe("True\n");
    expect(() => pythonRpc.input.parse({ code: "#".repeat(200_001) })).toThrow();
  });

  it("needs an approval for every script, in every profile, and never one for always", async () => {
    for (const profile of ["standard", "strict"]) {
      const world = await makeWorld({ backend, config: { profile } });
      const intent = await pythonRpc.judge(pythonRpc.input.parse({ code: "print(1)" }), world);
      expect(intent.findings.map(({ rule, action }) => `${rule} ${action}`)).toEqual(["python-approval ask"]);
      expect(intent.argv![0]).toBe("python3");
      await expect(perform(pythonRpc, { code: "print(1)" }, world)).rejects.toMatchObject({
        rule: "python-approval",
      });
    }
  });

  it("runs what was approved and nothing else: code, tools and network are of one piece", async () => {
    const world = await makeWorld({ backend });
    const parse = (input: object) => pythonRpc.input.parse({ code: "print(1)", ...input });
    const intent = await pythonRpc.judge(parse({ tools: ["read_file"] }), world);
    const approved = ["python-approval", "python-network-wanted"];
    for (const other of [
      { code: "print(2)", tools: ["read_file"] },
      { tools: ["terminal_exec"] },
      {},
      { tools: ["read_file"], network: true },
    ])
      await expect(pythonRpc.run(parse(other), callOf(intent, { approved }), world)).rejects.toMatchObject({
        rule: "changed-since-judged",
      });
  });

  it("refuses what the guard refuses in scripts", async () => {
    const world = await makeWorld({ backend });
    for (const [code, rule] of [
      ["import os; os.system('id')", "python-shell"],
      ["import os; print(os.environ)", "python-environ-dump"],
      ["import subprocess; subprocess.run('x', shell=True)", "python-subprocess-shell"],
      ["import shutil; shutil.rmtree('x')", "python-delete"],
      ["open('.env')", "env-file"],
      ["exec('1')", "python-exec"],
      ["import socket; socket.socket()", "python-socket"],
      ["import urllib.request; urllib.request.urlopen('http://x')", "python-network"],
    ])
      await expect(perform(pythonRpc, { code }, world, { approve: true }), code).rejects.toMatchObject({
        rule,
      });
  });

  it("starts where the interpreter is a shim that enters its installation first, as pyenv's does", async () => {
    const manager = mkdtempSync(join(homedir(), ".hermes-test-manager-"));
    try {
      mkdirSync(join(manager, "shims"));
      mkdirSync(join(manager, "libexec"));
      const shim = `#!/bin/sh\ncd "${manager}/libexec" && cd - >/dev/null && exec /usr/bin/python3 "$@"\n`;
      writeFileSync(join(manager, "shims", "python3"), shim, { mode: 0o755 });
      const { stdout, refused } = await python("print('started')", {
        env: { PATH: `${manager}/shims:/usr/bin:/bin` },
      });
      expect([stdout, refused]).toEqual(["started\n", []]);
    } finally {
      rmSync(manager, { recursive: true, force: true });
    }
  });

  it("is refused on another machine or in a container before a person is asked", async () => {
    const elsewhere: Backend = {
      name: "ssh",
      start: () => Promise.reject(new Error("no")),
      close: async () => {},
    };
    const world = await makeWorld({ backend: elsewhere });
    await expect(pythonRpc.judge(pythonRpc.input.parse({ code: "1" }), world)).rejects.toMatchObject({
      rule: "not-here",
      message: expect.stringContaining("use terminal_exec"),
    });
  });

  it("has 300 s, by default and at most", async () => {
    const orders: RunOrder[] = [];
    const watching: Backend = {
      name: "local",
      close: async () => {},
      start: async (order) => {
        orders.push(order);
        throw new Error("enough");
      },
    };
    const world = await makeWorld({ backend: watching });
    for (const timeout of [undefined, 299, 300, 301, 5])
      await expect(
        perform(pythonRpc, { code: "1", ...(timeout && { timeout }) }, world, { approve: true }),
      ).rejects.toThrow("enough");
    expect(orders.map((order) => order.timeout)).toEqual([300_000, 299_000, 300_000, 300_000, 5000]);
    expect(orders[0]!.argv.slice(0, 3)).toEqual(["python3", "-I", "-u"]);
  });

  it("returns 50 KB of stdout and 10 KB of stderr, and says when there was more", async () => {
    const print = (out: number, err: number) =>
      python(`import sys\nsys.stdout.write('o' * ${out})\nsys.stderr.write('e' * ${err})`);
    const fits = await print(50 * 1024, 10 * 1024);
    expect([fits.stdout.length, fits.stderr.length, fits.truncated]).toEqual([51_200, 10_240, false]);
    for (const more of [await print(50 * 1024 + 1, 0), await print(0, 10 * 1024 + 1)]) {
      expect(more.truncated).toBe(true);
      expect(Buffer.byteLength(more.stdout)).toBeLessThanOrEqual(51_200);
      expect(Buffer.byteLength(more.stderr)).toBeLessThanOrEqual(10_240);
    }
  });

  it("shows errors as Python does, with the script's own lines", async () => {
    const { exitCode, stderr } = await python("def f():\n    return 1 / 0\n\nf()\n");
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /^Traceback.*\n {2}File "script.py", line 4, in <module>\n {4}f\(\)\n[\s\S]*ZeroDivisionError/,
    );
    expect(stderr).not.toContain("<string>");
    expect((await python("x = = 1")).stderr).toMatch(/script.py", line 1[\s\S]*SyntaxError/);
    expect((await python("raise SystemExit(7)")).exitCode).toBe(7);
  });
});

describe("the tools of a script", () => {
  it("are functions that wait for their answer", async () => {
    const calls: unknown[] = [];
    const { stdout, toolCalls } = await python(
      "import hermes_tools\nfrom hermes_tools import read_file, write_file\nprint(read_file('a', limit=3)['input'])\nwrite_file('b', 'c\\u00e4\\n')\nprint(hermes_tools.call('patch', path='x')['name'])",
      echo(calls),
    );
    expect(stdout).toBe("{'path': 'a', 'limit': 3}\npatch\n");
    expect(calls).toEqual([
      ["read_file", { path: "a", limit: 3 }],
      ["write_file", { path: "b", content: "cä\n" }],
      ["patch", { path: "x" }],
    ]);
    expect(toolCalls).toBe(3);
  });

  it("raise what was refused", async () => {
    const { stdout } = await python(
      "from hermes_tools import read_file, ToolError\ntry:\n    read_file('x')\nexcept ToolError as e:\n    print(e, e.rule)",
      { callTool: async () => ({ status: "REFUSED", reason: "No.", rule: "env-file" }) },
    );
    expect(stdout).toBe("No. env-file\n");
  });

  it("can be called 50 times, and not once more", async () => {
    const calls: unknown[] = [];
    const { stdout, toolCalls } = await python(
      "from hermes_tools import read_file, ToolError\nn = 0\ntry:\n    while True:\n        read_file(str(n))\n        n += 1\nexcept ToolError as e:\n    print(n, e.rule, e)",
      echo(calls),
    );
    expect(stdout).toBe("50 too-many-calls a script makes at most 50 tool calls\n");
    expect([calls.length, toolCalls]).toEqual([50, 50]);
  });

  it("are those that delegates have, and that were asked for", async () => {
    const calls: unknown[] = [];
    const tries = (names: string[]) =>
      `import hermes_tools\nfor name in ${JSON.stringify(names)}:\n    try:\n        hermes_tools.call(name)\n        print('yes')\n    except hermes_tools.ToolError as e:\n        print(e.rule)`;
    const blocked = [
      "python_rpc",
      "PythonRpc",
      "mcp__x__python-rpc",
      "delegate_task",
      "clarify",
      "memory",
      "send_message",
      "execute_code",
    ];
    expect((await python(tries([...blocked, "read_file"]), echo(calls))).stdout).toBe(
      `${"blocked-tool\n".repeat(8)}yes\n`,
    );
    expect(
      (await python(tries(["read_file", "write_file"]), { ...echo(calls), input: { tools: ["write_file"] } }))
        .stdout,
    ).toBe("blocked-tool\nyes\n");
    await expect(python("1", { input: { tools: ["memory"] } })).rejects.toMatchObject({
      rule: "blocked-tool",
    });
  });

  it("end with the script", async () => {
    let ended: unknown;
    const result = await python("from hermes_tools import read_file\nread_file('x')", {
      input: { timeout: 1 },
      callTool: (_name, _input, signal) =>
        new Promise((_, reject) => {
          signal!.addEventListener("abort", () => {
            ended = signal!.reason;
            reject(signal!.reason);
          });
        }),
    });
    expect(result).toMatchObject({ exitCode: 124, timedOut: true });
    expect(String(ended)).toMatch(/the script has ended/);
  });
});

describe("a hostile script", () => {
  it("has no network, by any family, though the guard missed it", async () => {
    const server = createServer((_, response) => response.end("reached"));
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as AddressInfo;
    const outside = join(mkdtempSync(join(tmpdir(), "hermes-outside-")), "socket");
    const messenger = createServer((_, response) => response.end("reached"));
    await new Promise<void>((done) => messenger.listen(outside, done));
    const { stdout, refused } = await python(
      `import socket\nfor family, to in [(socket.AF_INET, ('127.0.0.1', ${port})), (socket.AF_INET6, ('::1', ${port})), (socket.AF_UNIX, '${outside}')]:\n    try:\n        socket.socket(family).connect(to)\n        print('reached')\n    except OSError as e:\n        print(type(e).__name__)`,
    );
    server.close();
    messenger.close();
    rmSync(dirname(outside), { recursive: true });
    expect(stdout).not.toContain("reached");
    expect(stdout).toMatch(/^PermissionError\nPermissionError\nPermissionError\n/);
    expect(refused.length).toBeGreaterThan(0);
  });

  it("has the network that a person granted, and of the own network what the operator opened", async () => {
    const server = createServer((_, response) => response.end("reached"));
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as AddressInfo;
    const input = {
      code: `import urllib.request\nprint(urllib.request.urlopen('http://127.0.0.1:${port}/').read().decode())`,
      network: true,
    };
    const open = await makeWorld({
      backend,
      config: { urls: { allow: [`127.0.0.1:${port}`] } },
      env: { PATH: "/usr/bin:/bin" },
    });
    const intent = await pythonRpc.judge(pythonRpc.input.parse(input), open);
    expect([...new Set(intent.findings.map(({ rule, action }) => `${rule} ${action}`))].sort()).toEqual([
      "python-approval ask",
      "python-network ask",
      "python-network-wanted ask",
    ]);
    expect((await perform(pythonRpc, input, open, { approve: true })).stdout).toBe("reached\n");
    const untold =
      "import hermes_tools, urllib.request\nprint(urllib.request.urlopen(hermes_tools.read_file('url')['url']))";
    const closed = await python(untold, {
      input: { network: true },
      callTool: async () => ({ status: "DONE", output: { url: `http://127.0.0.1:${port}/` } }),
    });
    expect(closed.refused).toMatchObject([{ rule: "loopback" }]);
    expect([closed.exitCode, closed.stdout]).toEqual([1, ""]);
    server.close();
  });

  it("finds no keys in its environment, nor in its parents'", async () => {
    const env = {
      HERMES_API_KEY: "h-secret-1",
      OPENROUTER_API_KEY: "o-secret-2",
      OPENROUTER_BASE: "o-secret-3",
      DATABASE_URL: "postgres://u:p@h/d-secret-4",
      DATABASE_URL_REPLICA: "postgres://u:p@h/d-secret-5",
      GITHUB_TOKEN: "g-secret-6",
      MY_SETTING: "s-secret-7",
    };
    const { stdout } = await python(
      "import os\nprint(sorted(os.environ))\nfor pid in ['self', str(os.getppid()), '1']:\n    try:\n        print(open('/proc/' + pid + '/environ').read())\n    except OSError as e:\n        print('no')",
      { env },
    );
    expect(stdout.split("\n")[0]).toBe("['AGENT_FOUNDRY_RUNTIME', 'HOME', 'LC_CTYPE', 'PATH', 'TMPDIR']");
    expect(stdout).not.toContain("secret");
  });

  it("changes nothing outside of its folder", async () => {
    // Temporary folders are open to every run.
    const workspace = mkdtempSync(join(homedir(), ".hermes-tools-"));
    const world = await makeWorld({
      backend,
      config: { actions: BLIND },
      env: { PATH: "/usr/bin:/bin" },
      workspace,
    });
    const target = join(workspace, "written-by-script");
    const { stdout } = await perform(
      pythonRpc,
      {
        code: `path = ${JSON.stringify(target)}\ntry:\n    open(path, 'w')\nexcept OSError as e:\n    print('refused')`,
      },
      world,
      { approve: true },
    );
    expect(stdout).toBe("refused\n");
    expect(existsSync(target)).toBe(false);
    rmSync(workspace, { recursive: true });
  });

  it("cannot get into the folder of another one", async () => {
    const { stdout } = await python(
      "import os, hermes_tools\nhermes_tools.read_file(os.getcwd())\nprint(os.listdir('.'))",
      {
        callTool: async (_name, input) => {
          const { path } = input as { path: string };
          const tries = [
            `open('${path}/x', 'w')`,
            `os.rename('${path}', '${path}2')`,
            `os.symlink('/', '${path}/y')`,
          ];
          const code = tries.map(
            (one) => `try:\n    ${one}\n    print('done')\nexcept OSError:\n    print('no')`,
          );
          const other = await python(["import os", ...code].join("\n"));
          expect(other.stdout).toBe("no\nno\nno\n");
          return { status: "DONE", output: {} };
        },
      },
    );
    expect(stdout).toBe("[]\n");
  });

  it("leaves no process behind", async () => {
    const { stdout, stderr, timedOut } = await python(
      "import os, time, signal\nif os.fork() == 0:\n    os.setsid()\n    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n    while True:\n        time.sleep(0.05)\nprint(os.getpid())",
      { input: { timeout: 60 } },
    );
    expect(stdout).toMatch(/^\d+\n$/);
    expect(stderr).toMatch(/left running were killed/);
    expect(timedOut).toBe(false);
  });

  it("is ended although it ignores SIGTERM", async () => {
    const result = await python(
      "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('deaf')\nwhile True:\n    time.sleep(0.05)",
      { input: { timeout: 1 } },
    );
    expect(result).toMatchObject({ exitCode: 124, timedOut: true, stdout: "deaf\n" });
    expect(result.stderr).toMatch(/timed out after 1 s/);
  });

  it("prints a gigabyte, and is heard out", async () => {
    const { stdout, truncated, exitCode } = await python(
      "import sys\nfor i in range(1024):\n    sys.stdout.write('x' * 1048576)\nprint('end')",
    );
    expect([exitCode, truncated, stdout.endsWith("end\n")]).toEqual([0, true, true]);
    expect(Buffer.byteLength(stdout)).toBeLessThanOrEqual(51_200);
  });

  it("fills its folder with files of any kind, and all of it is removed", async () => {
    const { stdout, stderr } = await python(
      `import os, resource
try:
    with open('big', 'wb') as f:
        f.seek(300 << 20)
        f.write(b'x')
except OSError as e:
    print(e.strerror)
for i in range(300):
    open('f%d' % i, 'w').close()
open(b'\\xff\\xfe name', 'w').close()
os.mkdir('closed')
open('closed/x', 'w').close()
os.chmod('closed', 0)
for i in range(20):
    os.mkdir('d' * 100)
    os.chdir('d' * 100)
os.symlink('/etc', 'link')
print('done')`,
      {},
    );
    expect(stdout, stderr).toBe("File too large\ndone\n");
  });
});

describe("a hostile user of the channel", () => {
  /** What the script sends in the raw, and what it gets for it. */
  const raw = (sends: string, call: Partial<ToolCall> = echo()) =>
    python(
      `import hermes_tools, json
channel = hermes_tools._lines
def send(data):
    try:
        channel.write(data)
        channel.flush()
    except OSError:
        print('closed')
def answer():
    try:
        line = channel.readline()
    except OSError:
        line = b''
    print(json.loads(line).get('rule', 'ok') if line else 'end')
${sends}`,
      call,
    );

  it("sends what is no JSON, and is cut off", async () => {
    for (const bad of [
      "b'{nonsense\\n'",
      "b'[]\\n'",
      "b'{\"tool\": 7}\\n'",
      "b'null\\n'",
      "b'\\xff\\xfe\\n'",
    ])
      expect((await raw(`send(${bad})\nanswer()\nanswer()`)).stdout, bad).toBe("channel\nend\n");
  });

  it("sends calls behind what is none, and they are not made", async () => {
    const calls: unknown[] = [];
    await raw(
      `one = b'{"tool": "read_file", "input": {}}\\n'\nsend(one + b'nonsense\\n' + one * 5)\nanswer()\nanswer()`,
      echo(calls),
    );
    expect(calls).toHaveLength(1);
  });

  it("sends a message that never ends, and is cut off after 4 MB", async () => {
    const fits = `send(b'{"tool": "read_file", "input": {"path": "' + b'x' * (4 * 1048576 - 60) + b'"}}\\n')\nanswer()`;
    expect((await raw(fits, { callTool: async () => ({ status: "DONE", output: {} }) })).stdout).toBe("ok\n");
    const over =
      "import threading\nthreading.Thread(target=lambda: send(b'x' * (64 << 20)), daemon=True).start()\nanswer()\nanswer()";
    expect((await raw(over)).stdout.replace("closed\n", "")).toBe("channel\nend\n");
  });

  it("floods: no more than 50 calls are made, one at a time, and it is cut off", async () => {
    let now = 0;
    let most = 0;
    const calls: unknown[] = [];
    const { stdout } = await raw(
      "import threading\none = json.dumps({'tool': 'read_file', 'input': {}}).encode() + b'\\n'\nthreading.Thread(target=lambda: send(one * 20000), daemon=True).start()\ntry:\n    while channel.readline(): pass\nexcept OSError: pass\nprint('end')",
      {
        callTool: async (name) => {
          calls.push(name);
          most = Math.max(most, ++now);
          await new Promise((done) => setTimeout(done, 2));
          now--;
          return { status: "DONE", output: {} };
        },
      },
    );
    expect(stdout).toContain("end\n");
    expect([calls.length, most]).toEqual([50, 1]);
  });

  it("closes the channel in the middle of a call, and nothing else happens", async () => {
    const { stdout, exitCode } = await raw(
      "send(b'{\"tool\": \"read_file\", \"input\": {}}\\n')\nchannel.raw._sock.close() if hasattr(channel, 'raw') and hasattr(channel.raw, '_sock') else channel.close()\nprint('done')",
      {
        callTool: async () => {
          await new Promise((done) => setTimeout(done, 300));
          return { status: "DONE", output: {} };
        },
      },
    );
    expect([exitCode, stdout]).toEqual([0, "done\n"]);
  });

  it("cannot open a second one: it is taken, and no socket listens any more", async () => {
    const { stdout } = await python(
      "import socket\ntry:\n    s = socket.socket(socket.AF_UNIX)\n    s.connect('channel')\n    s.send(b'x\\n')\n    print(s.recv(10))\nexcept OSError as e:\n    print('refused')",
    );
    expect(stdout).toBe("refused\n");
  });
});

describe("in a toolbox", () => {
  it("a script's calls are judged, asked about and recorded as any", async () => {
    const workspace = temporary();
    const home = temporary();
    writeFileSync(join(workspace, "a.txt"), "hello");
    writeFileSync(join(workspace, ".env"), "KEY=1");
    const asked: string[] = [];
    const toolbox = await Toolbox.open({
      workspace,
      home,
      env: { PATH: "/usr/bin:/bin" },
      store: join(home, "hermes.db"),
      approvers: [
        {
          name: "test",
          ask: (item, answer) => {
            asked.push(item.what);
            void answer({ answer: "once", by: "test" });
          },
          withdraw: () => {},
        },
      ],
    });
    const code = `from hermes_tools import read_file, write_file, ToolError
text = read_file('a.txt')['content']
write_file('b.txt', text.upper())
try:
    read_file('.env')
except ToolError as e:
    print(e.rule)
print(text)`;
    const result = await toolbox.call("python_rpc", { code });
    await toolbox.close();
    expect(result).toMatchObject({
      status: "DONE",
      output: { exitCode: 0, stdout: "env-file\nhello\n", toolCalls: 3 },
    });
    expect(readFileSync(join(workspace, "b.txt"), "utf8")).toBe("HELLO");
    expect(asked).toEqual(["run a Python script of 8 lines"]);
  });
});
