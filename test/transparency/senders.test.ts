import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { capture } from "../support/calls.js";

/** A receiver that asks a unix socket for its sender (SO_PASSCRED) sees the program, although HERMES sends on its behalf. */

let folder: string;
let policy: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-senders-"));
  policy = join(folder, "sends.yaml");
  writeFileSync(policy, "name: sends\nrules:\n  - { id: sends, watch: [connect, send] }\n");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PROGRAM = `
import ctypes, os, socket, struct
S = socket
rights = [(S.SOL_SOCKET, S.SCM_RIGHTS, struct.pack("i", 1))]
for kind in (S.SOCK_STREAM, S.SOCK_DGRAM, S.SOCK_SEQPACKET):
    a, b = S.socketpair(S.AF_UNIX, kind)
    a.settimeout(20)
    a.setsockopt(S.SOL_SOCKET, S.SO_PASSCRED, 1)
    named = S.socket(S.AF_UNIX, S.SOCK_DGRAM)
    named.bind("")
    filed = S.socket(S.AF_UNIX, S.SOCK_DGRAM)
    filed.bind("%s/s%d" % (os.environ["WHERE"], kind))
    filed.setsockopt(S.SOL_SOCKET, S.SO_PASSCRED, 1)
    named.setsockopt(S.SOL_SOCKET, S.SO_PASSCRED, 1)
    pid = os.fork()
    if pid == 0:
        b.send(b"send  "); b.sendmsg([b"msg   "]); b.sendmsg([b"rights"], rights)
        b.sendmsg([b"own   "], [(S.SOL_SOCKET, S.SCM_CREDENTIALS, struct.pack("iii", os.getpid(), os.getuid(), os.getgid()))])
        S.socket(S.AF_UNIX, S.SOCK_DGRAM).sendto(b"to    ", named.getsockname())
        S.socket(S.AF_UNIX, S.SOCK_DGRAM).sendto(b"filed ", filed.getsockname())
        ctypes.CDLL(None).prctl(24, 21)
        if os.getuid() == 0: os.setuid(65534)
        b.sendmsg([b"nobody"])
        os._exit(0)
    os.waitpid(pid, 0)
    os.unlink(filed.getsockname())
    for who in (a, a, a, a, named, filed, a):
        data, control, flags, address = who.recvmsg(6, 200)
        told = [struct.unpack("iii", bytes) for level, number, bytes in control if number == S.SCM_CREDENTIALS]
        print(kind, data, flags, len(control), [(who == pid, uid, gid) for who, uid, gid in told])
`;

describe.each([
  ["by root", []],
  ["by another user", ["setpriv", "--reuid", "1234", "--regid", "1234", "--clear-groups"]],
])("messages sent %s", (_, prefix) => {
  it("name their sender", async () => {
    const command = [...prefix, "/usr/bin/python3", "-c", PROGRAM];
    const env = { ...process.env, WHERE: mkdtempSync(join(tmpdir(), "hermes-senders-")) };
    chmodSync(env.WHERE, 0o777);
    const where = { fence: "none", env, cwd: env.WHERE } as const; // the checkout may be closed to others
    const bare = await capture(command, where);
    const { output, session } = await capture(command, { ...where, policy });
    rmSync(env.WHERE, { recursive: true });
    expect(bare.output).toContain("(True, ");
    expect(output).toBe(bare.output);
    expect(session.summary.byCall.sendmsg).toBeGreaterThanOrEqual(12);
  });
});

const SERVER = `
import os, socket, struct
path = "peer"
server = socket.socket(socket.AF_UNIX); server.bind(path); server.listen(); os.chmod(path, 0o777)
for user, mode in ((0, 0o777), (1234, 0o777), (1234, 0o700)):
    os.chmod(path, mode)
    pid = os.fork()
    if pid == 0:
        os.setgroups([]); os.setgid(user); os.setuid(user)
        client = socket.socket(socket.AF_UNIX)
        try: client.connect(path)
        except OSError as error: print(user, error.errno, flush=True); os._exit(0)
        client.recv(1); os._exit(0)
    if mode == 0o777:
        peer = server.accept()[0]
        print(user, struct.unpack("iii", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1:], flush=True)
        peer.close()
    os.waitpid(pid, 0)
`;

it("a server learns the user of its peer, and no user reaches it who may not", async () => {
  const where = mkdtempSync(join(tmpdir(), "hermes-peer-"));
  chmodSync(where, 0o777);
  const { output } = await capture(["/usr/bin/python3", "-c", SERVER], { policy, fence: "none", cwd: where });
  rmSync(where, { recursive: true });
  expect(output).toBe("0 (0, 0)\n1234 (1234, 1234)\n1234 13\n");
});

const SIGNALS = `
import os, signal, sys, threading, time
threads = int(sys.argv[1])
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
for _ in range(threads): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
pid = os.fork()
if pid == 0:
    info = signal.sigwaitinfo([signal.SIGUSR1])
    print(info.si_signo, info.si_pid == os.getppid(), info.si_uid, flush=True)
    os._exit(0)
for fd in (os.pidfd_open(pid), os.open("/proc/%d" % pid, os.O_RDONLY)):
    signal.pidfd_send_signal(fd, 0)
signal.pidfd_send_signal(fd, signal.SIGUSR1)
os.waitpid(pid, 0)
try: signal.pidfd_send_signal(fd, signal.SIGUSR1)
except OSError as error: print(error.errno)
try: signal.pidfd_send_signal(0, signal.SIGUSR1)
except OSError as error: print(error.errno)
`;

it.each([0, 2])("signals by pidfd name their sender, with %i other threads", async (threads) => {
  const command = ["/usr/bin/python3", "-c", SIGNALS, String(threads)];
  const bare = spawnSync(command[0]!, command.slice(1), { encoding: "latin1" }).stdout;
  expect(bare).toMatch(/^10 True \d+\n3\n9\n$/);
  for (const door of ["auto", "trace"] as const)
    expect((await capture(command, { policy, fence: "none", door })).output, door).toBe(bare);
});

it("chromium finds its own processes, and shows a page", async () => {
  const page = "data:text/html,<p id=x></p><script>x.textContent = 6 * 7</script>";
  const flags = "--headless --no-sandbox --disable-gpu --user-data-dir=profile --dump-dom";
  const { output, session } = await capture(["sh", "-c", `exec chromium ${flags} "$0" 2>/dev/null`, page], {
    policy: "policies/agent.yaml",
    cwd: folder,
  });
  expect(output).toContain('<p id="x">42</p>');
  expect(session.exitCode).toBe(0);
});
