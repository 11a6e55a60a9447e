import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import pg from "pg";
import { root } from "../../support/root.js";
import { until } from "../../support/until.js";
import { unique } from "./unique.js";

/** PostgreSQL will not run as root: Debian's package brings a user for it. */
function identity(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (what: string) => Number(execFileSync("id", [what, "postgres"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

/** A real server of our own, on loopback, that can be killed and started again. */
export class PostgresServer {
  readonly folder = mkdtempSync(join(tmpdir(), "hermes-postgres-"));
  readonly #data = join(this.folder, "data");
  readonly #user = identity();
  port = 0;
  #process: ChildProcess | undefined;
  #log = "";

  static async start(...settings: string[]): Promise<PostgresServer> {
    const server = new PostgresServer();
    const { uid, gid } = server.#user;
    if (uid !== undefined && gid !== undefined) chownSync(server.folder, uid, gid);
    server.#initialize();
    server.port = await freePort();
    await server.run(...settings);
    return server;
  }

  /** initdb takes seconds: what it makes is kept, and copied from then on. */
  #initialize(): void {
    const [program, data] = [binary("initdb"), this.#data];
    const kept = join(root, "build", `postgres-${program.split("/").at(-3)}-${this.#user.uid ?? "own"}`);
    if (existsSync(kept)) {
      execFileSync("cp", ["-a", kept, data]);
      return;
    }
    const options = ["-U", "hermes", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"];
    execFileSync(program, ["-D", data, ...options], { ...this.#user, cwd: this.folder, stdio: "pipe" });
    mkdirSync(dirname(kept), { recursive: true });
    const draft = `${kept}.${process.pid}`;
    execFileSync("cp", ["-a", data, draft]);
    try {
      renameSync(draft, kept);
    } catch {
      rmSync(draft, { recursive: true }); // another file's server was faster
    }
  }

  /** One that follows another, and may be a moment behind. */
  static async standby(of: PostgresServer): Promise<PostgresServer> {
    const server = new PostgresServer();
    const { uid, gid } = server.#user;
    if (uid !== undefined && gid !== undefined) chownSync(server.folder, uid, gid);
    const from = ["-h", "127.0.0.1", "-p", String(of.port), "-U", "hermes", "-D", server.#data];
    execFileSync(binary("pg_basebackup"), [...from, "-R", "-X", "stream", "-c", "fast", "--no-sync"], {
      ...server.#user,
      stdio: "pipe",
    });
    server.port = await freePort();
    await server.run("hot_standby=on");
    return server;
  }

  /** It hears nothing more of the one that it follows. */
  async deafen(): Promise<void> {
    await this.query("ALTER SYSTEM SET primary_conninfo = ''");
    await this.query("SELECT pg_reload_conf()");
    await until(
      async () => (await this.query("SELECT pid FROM pg_stat_wal_receiver")).length === 0,
      "the standby to stop receiving",
    );
  }

  async promote(): Promise<void> {
    await this.query("SELECT pg_promote(true, 60)");
  }

  /** Starts it, again perhaps, and waits until it answers. */
  async run(...settings: string[]): Promise<void> {
    const own = [`port=${this.port}`, `unix_socket_directories=${this.folder}`, "listen_addresses=127.0.0.1"];
    const all = [...own, "max_connections=200", "shared_buffers=16MB", ...settings];
    this.#process = spawn(binary("postgres"), ["-D", this.#data, ...all.flatMap((one) => ["-c", one])], {
      ...this.#user,
      cwd: this.folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#process.stderr!.on("data", (text) => {
      this.#log = `${this.#log}${text}`.slice(-4000);
    });
    await until(() => {
      if (this.#process!.exitCode !== null) throw new Error(`postgres did not start: ${this.#log}`);
      return this.query("SELECT 1").catch(() => undefined);
    }, "postgres to answer");
  }

  url(database: string, parameters = ""): string {
    return `postgres://hermes@127.0.0.1:${this.port}/${database}${parameters}`;
  }

  /** A database that nothing is in yet. */
  async fresh(): Promise<string> {
    const name = `test_${unique()}`;
    await this.query(`CREATE DATABASE ${name}`);
    return this.url(name);
  }

  async query(text: string, database = "postgres"): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: this.url(database), connectionTimeoutMillis: 10_000 });
    await client.connect();
    try {
      return (await client.query(text)).rows ?? [];
    } finally {
      await client.end();
    }
  }

  /** As when the machine fails: every process of it, at once. */
  async crash(): Promise<void> {
    await this.#end("SIGKILL");
    for (let left = this.#processes(); left.length > 0; left = this.#processes())
      for (const pid of left)
        try {
          process.kill(pid, "SIGKILL");
        } catch {
          // It had noticed by itself.
        }
    rmSync(join(this.#data, "postmaster.pid"), { force: true });
  }

  /** All of them work in the folder of the data. */
  #processes(): number[] {
    const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return pids.map(Number).filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`) === this.#data;
      } catch {
        return false;
      }
    });
  }

  async stop(): Promise<void> {
    await this.#end("SIGINT");
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await ended;
  }

  /** A file that the server may read, as it wants keys to be. */
  give(name: string, content: string | Buffer): string {
    const file = join(this.folder, name);
    writeFileSync(file, content, { mode: 0o600 });
    const { uid, gid } = this.#user;
    if (uid !== undefined && gid !== undefined) chownSync(file, uid, gid);
    return file;
  }
}

function binary(name: string): string {
  const root = "/usr/lib/postgresql";
  const newest = readdirSync(root).sort((a, b) => Number(b) - Number(a))[0]!;
  return join(root, newest, "bin", name);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
