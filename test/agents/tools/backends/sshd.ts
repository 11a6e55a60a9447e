import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { homedir, tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import type { SshSection } from "../../../../src/agents/tools/ssh/backend.js";
import { backendSection } from "../../../../src/intent/guard/config/backend.js";
import { root } from "../../../support/root.js";
import { until } from "../../../support/until.js";

/** A real sshd on loopback, with keys of its own, for the user who runs the tests. */
export class Sshd {
  readonly folder = mkdtempSync(join(tmpdir(), "hermes-sshd-"));
  /** Of the user over there; not below /tmp, where a run may change anything. */
  readonly home = mkdtempSync(join(homedir(), ".hermes-test-"));
  readonly port: number;
  readonly #daemon: ChildProcess;

  static async start(): Promise<Sshd> {
    const port = await freePort();
    const sshd = new Sshd(port);
    await until(() => listens(port), "sshd to listen");
    return sshd;
  }

  private constructor(port: number) {
    this.port = port;
    for (const name of ["host", "user", "stranger"])
      execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", this.#file(name)]);
    writeFileSync(
      this.#file("known_hosts"),
      `[127.0.0.1]:${port} ${readFileSync(this.#file("host.pub"), "utf8")}`,
    );
    writeFileSync(this.#file("authorized_keys"), readFileSync(this.#file("user.pub")), { mode: 0o600 });
    writeFileSync(
      this.#file("sshd_config"),
      `ListenAddress 127.0.0.1
Port ${port}
HostKey ${this.#file("host")}
AuthorizedKeysFile ${this.#file("authorized_keys")}
StrictModes no
UsePAM no
PidFile none
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
MaxStartups 100
SetEnv PATH=${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin
`,
    );
    const start = `#!/bin/sh\nHOME=${this.home} exec ${join(root, "hermes")} "$@"\n`;
    writeFileSync(this.#file("hermes"), start, { mode: 0o755 });
    if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
    this.#daemon = spawn("/usr/sbin/sshd", ["-D", "-e", "-f", this.#file("sshd_config")], {
      stdio: "ignore",
    });
  }

  #file(name: string): string {
    return join(this.folder, name);
  }

  section(more: Partial<SshSection> = {}): SshSection {
    const section = {
      host: "127.0.0.1",
      port: this.port,
      user: userInfo().username,
      identity: this.#file("user"),
      known_hosts: this.#file("known_hosts"),
      hermes: this.#file("hermes"),
      ...more,
    };
    return backendSection.parse({ kind: "ssh", ssh: section }).ssh;
  }

  /** A key that the server does not accept. */
  get stranger(): string {
    return this.#file("stranger");
  }

  /** The processes that serve a connection, the one that answers the client last. */
  connections(): number[] {
    const children = (pid: number): number[] => {
      const own = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
      return own === "" ? [] : own.split(" ").map(Number);
    };
    const all = children(this.#daemon.pid!).flatMap((pid) => [pid, ...children(pid)]);
    return all.filter((pid) => readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("sshd"));
  }

  remove(): void {
    this.#daemon.kill("SIGKILL");
    for (const folder of [this.folder, this.home]) rmSync(folder, { recursive: true, force: true });
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.end(() => resolve(true)));
    socket.on("error", () => resolve(false));
  });
}
