import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HERMES } from "../support/cli.js";
import { root } from "../support/root.js";
import { until } from "../support/until.js";

let folder: string;
const children: ChildProcess[] = [];
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "hermes-service-")));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

const unit = readFileSync(join(root, "deploy/hermes-run@.service"), "utf8");

/** The command line of the unit, as systemd would make it. */
function execStart(command: string, policy: string): string[] {
  const [, line = ""] = /^ExecStart=\/usr\/bin\/env hermes (.*)$/m.exec(unit)!;
  const words = line.replace("$COMMAND", () => command).replace(/\$\{POLICY\}/, policy);
  return words.split(" ");
}

/** What systemd does for Type=notify: a datagram socket, and who sent to it. */
const LISTENER = `
import socket, struct, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
s.bind(sys.argv[1])
print("bound", flush=True)
while True:
    data, anc, _, _ = s.recvmsg(4096, 1024)
    pid = struct.unpack("iii", anc[0][2][:12])[0]
    print(pid, data.decode().replace("\\n", " "), flush=True)
`;

function start(command: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(command[0]!, command.slice(1), {
    cwd: folder,
    env: { ...process.env, HERMES_HOME: join(folder, "home"), ...env },
  });
  children.push(child);
  const told = { out: "", err: "", status: undefined as number | null | undefined };
  child.stdout!.on("data", (bytes) => (told.out += bytes));
  child.stderr!.on("data", (bytes) => (told.err += bytes));
  child.on("close", (status) => (told.status = status));
  return { child, told };
}

describe("the unit for a service", () => {
  it("runs redis: it says that it is ready, policies are reloaded by SIGHUP, and SIGTERM ends it cleanly", async () => {
    const notify = join(folder, "notify");
    const { told: heard } = start(["python3", "-c", LISTENER, notify]);
    await until(() => heard.out.includes("bound"), "the notify socket");
    const policy = join(folder, "p.yaml");
    const text = "name: service\nrules:\n  - { id: shell, deny: exec, path: [/bin/sh, /bin/bash] }\n";
    writeFileSync(policy, text);
    const socket = join(folder, "redis.sock");
    const redis = `redis-server --port 0 --unixsocket ${socket} --dir ${folder} --save  --supervised systemd --daemonize no`;
    const { child, told } = start([HERMES, ...execStart(redis, policy)], { NOTIFY_SOCKET: notify });
    await until(() => heard.out.includes("READY=1"), "redis to be ready");
    expect(existsSync(socket)).toBe(true);
    // NotifyAccess=all: the program itself says so, and the main process is HERMES.
    expect(Number(/^(\d+) .*READY=1/m.exec(heard.out)![1])).not.toBe(child.pid);

    writeFileSync(policy, text.replace("/bin/bash]", "/bin/bash, /bin/dash]"));
    child.kill("SIGHUP");
    await until(() => told.err.includes("policies reloaded: service"), "the reload");
    expect(told.status).toBeUndefined();

    child.kill("SIGTERM");
    await until(() => told.status !== undefined, "the end");
    expect(told.status).toBe(0);
    expect(told.out).toContain("User requested shutdown");
  });

  it("counts the end of a program that a SIGTERM ends as a success", async () => {
    const policy = join(folder, "p.yaml");
    writeFileSync(policy, "name: p\nrules: [{ id: x, deny: ptrace }]\n");
    const { child, told } = start([HERMES, ...execStart("sh", policy), "-c", "echo up; exec sleep 100"]);
    await until(() => told.out.includes("up"), "the program");
    child.kill("SIGTERM");
    await until(() => told.status !== undefined, "the end");
    expect(unit).toContain(`SuccessExitStatus=${told.status}`);
  });
});
