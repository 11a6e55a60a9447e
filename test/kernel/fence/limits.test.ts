import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunOptions } from "hermes-runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cgroups } from "../../../src/kernel/fence/cgroup.js";
import { capture } from "../../support/calls.js";
import { hermes } from "../../support/cli.js";
import { OrdinaryUser } from "../../support/ordinary-user.js";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-fence-"));
  for (const name of ["in", "out"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "in/data"), "data\n");
  writeFileSync(join(folder, "out/old"), "old\n");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const sh = (script: string, fence: NonNullable<RunOptions["fence"]>, more: Partial<RunOptions> = {}) =>
  capture(["sh", "-c", script], { fence, cwd: folder, ...more });

describe("what may be changed", () => {
  const writes = [
    "echo new > out/new && cat out/new",
    "mv out/new out/newer && mkdir out/d && mv out/newer out/d && rm -r out/d && echo moved",
    "(echo x > in/x) 2>/dev/null || echo refused",
    "(: > in/data) 2>/dev/null || echo refused; cat in/data",
    "rm -f in/data 2>/dev/null || echo refused",
    "mv in/data out 2>/dev/null || echo refused",
    "ln -s a in/link 2>/dev/null || echo refused",
    "echo null > /dev/null && echo device",
    "echo again >> /dev/stdout",
  ].join("\n");
  const expected = "new\nmoved\nrefused\nrefused\ndata\nrefused\nrefused\nrefused\ndevice\nagain\n";

  for (const level of ["none", "standard", "strict"] as const)
    it(`is what is writable, and nothing else, at the level ${level}`, async () => {
      const { output, session } = await sh(writes, { level, writable: ["out"] });
      expect(output).toBe(expected);
      expect(session.protections.inForce).toContain("landlock");
    });

  it("is nothing when the list is empty", async () => {
    const { output } = await sh("(echo x > out/x) 2>/dev/null || echo refused", { writable: [] });
    expect(output).toBe("refused\n");
  });

  it("is what all policies and the command line have in common", async () => {
    const policy = join(folder, "both.yaml");
    writeFileSync(policy, "name: both\nfence: { writable: [in, out/inner] }\n");
    mkdirSync(join(folder, "out/inner"), { recursive: true });
    const tries = ["in/x", "out/x", "out/inner/x"].map((f) => `(echo x > ${f}) 2>/dev/null && echo ${f}`);
    const { output } = await sh(tries.join("\n"), { writable: ["out"] }, { policy });
    expect(output).toBe("out/inner/x\n");
  });
});

describe("what may be read", () => {
  it("is what is readable, and the system", async () => {
    const script =
      "cat in/data; cat out/old 2>/dev/null || echo refused; ls out 2>/dev/null || echo refused; ls / >/dev/null 2>&1 || echo refused";
    expect((await sh(script, { readable: ["in"] })).output).toBe("data\nrefused\nrefused\nrefused\n");
  });
});

describe("TCP ports", () => {
  let server: Server;
  let port: number;
  beforeAll(async () => {
    server = createServer((socket) => socket.end("hello\n"));
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    port = (server.address() as { port: number }).port;
  });
  afterAll(() => server.close());
  const talk = (script: string, fence: NonNullable<RunOptions["fence"]>) =>
    capture(["python3", "-c", `import socket\n${script}`], { fence });
  const connect = () => `print(socket.create_connection(("127.0.0.1", ${port})).recv(9).decode(), end="")`;
  const attempt = (what: string) => `try:\n  ${what}\nexcept PermissionError: print("refused")`;

  it("can be connected to when they are named", async () => {
    expect((await talk(attempt(connect()), { connectPorts: [port] })).output).toBe("hello\n");
    expect((await talk(attempt(connect()), { level: "strict", connectPorts: [port] })).output).toBe(
      "hello\n",
    );
  });
  it("cannot be connected to when others are", async () => {
    expect((await talk(attempt(connect()), { connectPorts: [1] })).output).toBe("refused\n");
  });
  it("cannot be listened on when none is named", async () => {
    const listen = 'socket.create_server(("127.0.0.1", 0)); print("listens")';
    expect((await talk(attempt(listen), { bindPorts: [] })).output).toBe("refused\n");
    expect((await talk(attempt(listen), "standard")).output).toBe("listens\n");
  });
});

describe("the standard fence", () => {
  it("keeps a program from typing on the terminal in the user's name", async () => {
    const script = 'import fcntl\ntry: fcntl.ioctl(0, 0x5412, b"x")\nexcept OSError as e: print(e.strerror)';
    expect((await capture(["python3", "-c", script])).output).toBe("Operation not permitted\n");
    expect((await capture(["python3", "-c", script], { fence: "none" })).output).not.toMatch(/not permitted/);
  });
  it("has a session keyring of its own", async () => {
    const { session } = await sh("true", "standard");
    expect(session.protections).toMatchObject({ fence: "standard", inForce: ["keyring"], missing: [] });
  });
  it("is not there when the options do not ask for it", async () => {
    expect((await sh("true", "none")).session.protections).toMatchObject({ fence: "none", inForce: [] });
  });
});

describe("the environment", () => {
  it("has no variable that the options do not name", () => {
    const env = { ...process.env, AWS_SECRET: "s", GIT_A: "1", B: "2" };
    const args = ["run", "-q", "--clean-env", "--keep-env", "GIT_*", "--env", "C=3", "--", "env"];
    const names = hermes(args, { env })
      .stdout.split("\n")
      .map((line) => line.replace(/=.*/, ""));
    expect(names).toEqual(expect.arrayContaining(["PATH", "GIT_A", "C"]));
    expect(names).not.toContain("AWS_SECRET");
    expect(names).not.toContain("B");
  });
});

describe("time", () => {
  it("is over after the timeout: exit 124, and nothing runs on", () => {
    const file = join(folder, "alive");
    const script = `trap '' TERM; (while :; do echo x > ${file}; sleep 0.05; done) & wait; sleep 1000`;
    const done = hermes(["run", "--timeout", "0.2s", "--json", "--", "sh", "-c", script]);
    expect(done.status).toBe(124);
    expect(JSON.parse(done.stderr.trim().split("\n").at(-1)!)).toMatchObject({
      exitCode: 124,
      timedOut: true,
    });
    rmSync(file, { force: true });
    expect(existsSync(file)).toBe(false);
  });
  it("is no matter when the program ends before", () => {
    expect(hermes(["run", "-q", "--timeout", "1h", "--", "sh", "-c", "exit 3"]).status).toBe(3);
  });
});

/** Whether this machine lets us make cgroups at all. */
const cgroups = (() => {
  try {
    new Cgroups({ memory: 1 << 30, processes: 100, cpus: 1 }, `${process.pid}-test`).remove();
    return true;
  } catch {
    return false;
  }
})();

describe("limits of all processes together", () => {
  /** Elsewhere the last test of this group is what there is to say. */
  const whereCgroups: typeof it | (() => void) = cgroups ? it : () => {};
  const own = readFileSync("/proc/self/cgroup", "utf8");

  whereCgroups("hold for memory, and the run says so", async () => {
    const eat = 'x = bytearray(400 << 20); x[::4096] = b"x" * len(x[::4096]); print("eaten")';
    const { output, session } = await capture(["python3", "-c", eat], { fence: { memory: 100 << 20 } });
    expect(output).toBe("");
    expect(session).toMatchObject({ exitCode: 137, protections: { inForce: ["keyring", "cgroup"] } });
    expect(session.problems.join()).toMatch(/memory limit/);
  });
  whereCgroups("hold for processes", async () => {
    const script = "for i in 1 2 3 4 5 6 7 8 9; do sleep 0.5 & done 2>/dev/null; echo never";
    const { output } = await sh(script, { processes: 4 }, { signal: AbortSignal.timeout(20_000) });
    expect(output).toBe("");
  });
  whereCgroups("leave no cgroup behind", async () => {
    await sh("true", { processes: 50, memory: 1 << 30, cpus: 0.5 });
    const left = own
      .split("\n")
      .map((line) => line.split(":")[2])
      .flatMap((path) => {
        const place = join("/sys/fs/cgroup/pids", path ?? "");
        return existsSync(place)
          ? readdirSync(place).filter((name) => name.includes(`hermes-${process.pid}-`))
          : [];
      });
    expect(left).toEqual([]);
  });
  it("are refused, with the reason, where no cgroup can be made", () => {
    const user = new OrdinaryUser();
    try {
      const { stdout } = user.run(`
        import { run } from "./dist/index.js";
        await run({ command: ["true"], fence: { memory: 1 << 20 } }).then(() => console.log("ran"), (e) => console.log(e.code, e.message));
      `);
      expect(stdout).toMatch(/^ran|^UNAVAILABLE .*cgroup/);
      if (process.getuid?.() === 0) expect(stdout).toMatch(/^UNAVAILABLE/);
    } finally {
      user.remove();
    }
  });
});
