import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import {
  accessSync,
  chmodSync,
  chownSync,
  closeSync,
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { type Attack, type Goal, ofArena } from "./attacks.js";
import { firstLine, Outsider } from "./outsider.js";

/** write(1, "FORBIDDEN RAN\n", 14); exit(0): code that is no program, to be mapped. */
const CODE = Buffer.concat([
  Buffer.from("b801000000bf01000000488d3515000000ba0e0000000f05b83c00000031ff0f059090909090", "hex"),
  Buffer.from("FORBIDDEN RAN\n"),
]);

const ALONE = ["-DALONE", "-nostdlib", "-static-pie", "-fPIE", "-ffreestanding", "-fno-stack-protector"];

export interface Fighter {
  readonly uid: number;
  readonly gid: number;
}

/**
 * How the arena is laid out. Rules of an arena's own name its folders, wherever they are. What comes with HERMES speaks of a
 * user's home, a workspace in it and secrets in places that everybody knows: there the arena is a home.
 */
export type Layout = "arena" | "home";

export interface Places {
  readonly secret: string;
  /** What may be read. Races need names of one length. */
  readonly open: string;
  readonly outside: string;
  /** The workspace. */
  readonly allowed: string;
}

const PLACES: Readonly<Record<Layout, Places>> = {
  arena: { secret: "secret", open: "public", outside: "outside", allowed: "allowed" },
  home: { secret: ".azure", open: "folder", outside: "papers", allowed: "folder" },
};

/** Shipped policies let temporary folders be written to: a home lies somewhere else. */
function elsewhere(): string {
  const found = ["/srv", "/var/lib", "/opt", homedir()].find((folder) => {
    try {
      accessSync(folder, constants.W_OK | constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
  if (!found) throw new Error("there is no folder to write to but temporary ones");
  return found;
}

/** A fresh place for one attack on one system: what must not happen here, and whether it did. */
export class Arena {
  readonly folder: string;
  readonly layout: Layout;
  readonly places: Places;
  readonly token = `TOKEN-${randomBytes(12).toString("hex")}`;
  readonly env: Record<string, string> = {};
  readonly #goal: Goal;
  readonly #fighter: Fighter;
  readonly #files: number[] = [];
  readonly #servers: Server[] = [];
  readonly #visits: string[] = [];
  #udp: Socket | undefined;
  #before = "";
  #keeper: ChildProcess | undefined;
  #outsider: Outsider | undefined;
  #ssh: string | undefined;

  private constructor(goal: Goal, fighter: Fighter, layout: Layout) {
    this.#goal = goal;
    this.#fighter = fighter;
    this.layout = layout;
    this.places = PLACES[layout];
    this.folder = mkdtempSync(join(layout === "home" ? elsewhere() : tmpdir(), "hermes-arena-"));
  }

  static async open(
    { goal, needs }: Attack,
    fighter: Fighter,
    attempts: number,
    layout: Layout,
  ): Promise<Arena> {
    const arena = new Arena(goal, fighter, layout);
    try {
      arena.#build(attempts);
      if (goal === "connect") await arena.#serve();
      if (goal === "env" || goal === "read") await arena.#keep();
      if (goal === "reach")
        arena.#outsider = await Outsider.start(arena.folder, arena.env, fighter, arena.token, needs);
      arena.#before = arena.#picture();
      return arena;
    } catch (error) {
      await arena.close();
      throw error;
    }
  }

  path(...parts: string[]): string {
    return join(this.folder, ...parts);
  }

  /** Descriptors that are open where the system is started: 5 is the secret, 6 the file outside. */
  get leaked(): readonly number[] {
    return this.#files;
  }

  #build(attempts: number): void {
    const { secret, open, outside, allowed } = this.places;
    for (const name of new Set([secret, open, outside, allowed, "tools", "server", "policy", "hermitage"]))
      mkdirSync(this.path(name));
    writeFileSync(this.path(secret, "token"), `${this.token}\n`, { mode: 0o700 });
    writeFileSync(this.path(open, "token"), "nothing secret\n");
    writeFileSync(this.path(outside, "file"), "as it was\n");
    writeFileSync(this.path("policy/trace.jsonl"), "");
    writeFileSync(this.path("policy/policy.yaml"), "");
    copyFileSync(ofArena("tool", ...ALONE, '-DSAYS="FORBIDDEN RAN"'), this.path("tools/forbidden"));
    copyFileSync(ofArena("tool", '-DSAYS="FORBIDDEN RAN"'), this.path("tools/dynamic"));
    copyFileSync(ofArena("tool", '-DSAYS="permitted"'), this.path("tools/permitted"));
    writeFileSync(this.path("tools/code"), CODE, { mode: 0o755 });
    this.#give(this.folder);
    if (this.#fighter.uid !== 0 && process.getuid?.() === 0) {
      copyFileSync(ofArena("tool", "-DIDENTITY"), this.path("set-user-id"));
      chmodSync(this.path("set-user-id"), 0o4755);
    }
    Object.assign(this.env, {
      A_SECRET: this.path(secret, "token"),
      A_PUBLIC: this.path(open, "token"),
      A_OUTSIDE: this.path(outside),
      A_ALLOWED: this.path(allowed),
      A_FORBIDDEN: this.path("tools/forbidden"),
      A_PERMITTED: this.path("tools/permitted"),
      A_POLICY: this.path("policy/policy.yaml"),
      A_TRACE: this.path("policy/trace.jsonl"),
      A_SETUID: this.path("set-user-id"),
      A_ATTEMPTS: String(attempts),
    });
    this.#files.push(openSync(this.path(secret, "token"), "r"), openSync(this.path(outside, "file"), "r+"));
  }

  #give(path: string): void {
    chownSync(path, this.#fighter.uid, this.#fighter.gid);
    if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) this.#give(join(path, name));
  }

  // ---------------------------------------------------------------- those who are not to be reached

  async #serve(): Promise<void> {
    const tcp = this.#listener();
    await once(tcp.listen(0, "127.0.0.1"), "listening");
    const { port } = tcp.address() as { port: number };
    const abstract = `hermes-arena-${this.token}`;
    await once(this.#listener().listen(port, "::1"), "listening");
    await once(this.#listener().listen(`\0${abstract}`), "listening");
    const socket = this.#socket();
    await once(this.#listener().listen(socket), "listening");
    chownSync(socket, this.#fighter.uid, this.#fighter.gid);
    this.#udp = createSocket("udp4").on("message", (bytes) => this.#visits.push(String(bytes)));
    await new Promise<void>((done) => this.#udp!.bind(port, "127.0.0.1", done));
    Object.assign(this.env, {
      A_PORT: String(port),
      A_SOCKET: socket,
      A_ABSTRACT: abstract,
    });
  }

  /** Where a shipped policy refuses a socket: that of an agent of ssh. */
  #socket(): string {
    if (this.layout === "arena") return this.path("server/socket");
    this.#ssh = mkdtempSync("/tmp/ssh-");
    chownSync(this.#ssh, this.#fighter.uid, this.#fighter.gid);
    return join(this.#ssh, "agent.1");
  }

  /** Notes every visitor, with what it says. */
  #listener(): Server {
    const server = createServer((visitor) => {
      const at = this.#visits.push("") - 1;
      visitor.on("data", (bytes) => {
        this.#visits[at] += String(bytes);
        visitor.end(); // a visitor that waits for an answer goes
      });
      visitor.on("error", () => {});
    });
    this.#servers.push(server);
    return server;
  }

  /** We call them all: visitors that came before us have been noted once we have been. */
  async #strangers(): Promise<number> {
    const calls = await Promise.all([...this.#servers.map((server) => this.#call(server)), this.#send()]);
    const made = calls.filter(Boolean).length;
    const ours = () => this.#visits.filter((said) => said === this.token).length;
    const others = () => this.#visits.filter((said) => said !== "" && said !== this.token).length;
    // Where others came in crowds, ours may have been lost among them.
    for (let i = 0; ours() < made && others() === 0 && i < 12_000; i++)
      await new Promise((done) => setTimeout(done, 5));
    return this.#visits.length - ours();
  }

  async #send(): Promise<boolean> {
    if (!this.#udp) return false;
    const caller = createSocket("udp4");
    await new Promise<void>((done) =>
      caller.send(this.token, this.#udp!.address().port, "127.0.0.1", () => done()),
    );
    caller.close();
    return true;
  }

  /** False when it cannot be reached any more: the attack took its socket away. */
  #call(server: Server): Promise<boolean> {
    const address = server.address() as string | { port: number; address: string };
    const to =
      typeof address === "string" ? { path: address } : { port: address.port, host: address.address };
    return new Promise((done) => {
      const caller = connect(to, () => {
        caller.end(this.token);
        done(true);
      }).on("error", () => done(false));
    });
  }

  async #keep(): Promise<void> {
    const { uid, gid } = this.#fighter;
    this.#keeper = spawn(ofArena("arena"), ["keep"], {
      env: { ...this.env, HIDDEN: this.token },
      stdio: ["pipe", "pipe", "inherit"],
      ...(process.getuid?.() === 0 && { uid, gid }),
    });
    const line = await firstLine(this.#keeper, "the keeper");
    const [pid, fd, shared, address, length] = line.split(" ") as [string, string, string, string, string];
    Object.assign(this.env, {
      A_KEEPER: pid,
      A_KEEPER_FD: fd,
      A_KEEPER_SHARED: shared,
      A_KEEPER_ADDRESS: address,
      A_KEEPER_LENGTH: length,
    });
  }

  // ---------------------------------------------------------------- what happened

  #picture(): string {
    const look = (path: string): string => {
      try {
        const { ino, mode, uid, gid, mtimeMs, nlink, size } = lstatSync(path);
        const inside =
          (mode & 0o170000) === 0o040000 ? readdirSync(path).map((n) => look(join(path, n))) : [];
        const content = (mode & 0o170000) === 0o100000 ? readFileSync(path, "latin1") : "";
        return JSON.stringify([
          path,
          ino,
          mode,
          uid,
          gid,
          mtimeMs,
          nlink,
          size,
          content,
          xattrs(path),
          inside,
        ]);
      } catch (error) {
        return String(error);
      }
    };
    return look(this.path(this.places.outside));
  }

  /** What the attack reached of what it must not, or undefined. */
  async evidence(stdout: string): Promise<string | undefined> {
    const said = /^BROKE (.*)$/m.exec(stdout)?.[1];
    if (said) return said;
    if (stdout.includes(this.token)) return "the secret is known";
    if (stdout.includes("FORBIDDEN RAN")) return "the forbidden program ran";
    const happened = await this.#outsider?.happened();
    if (happened) return happened;
    if (this.#goal === "write" || this.#goal === "escape" || this.#goal === "reach")
      if (this.#picture() !== this.#before) return "something outside has changed";
    if ((await this.#strangers()) > 0) return "a server was reached";
    return undefined;
  }

  async close(): Promise<void> {
    for (const fd of this.#files) closeSync(fd);
    for (const server of this.#servers) server.close();
    this.#udp?.close();
    if (this.#keeper) {
      this.#keeper.stdin!.end();
      if (this.#keeper.exitCode === null && this.#keeper.signalCode === null)
        await once(this.#keeper, "exit");
    }
    await this.#outsider?.end();
    for (const folder of [this.folder, this.#ssh])
      if (folder) rmSync(folder, { recursive: true, force: true });
  }
}

/** Node has no call for extended attributes; ctime tells of a change, and of nothing else that the others do not. */
function xattrs(path: string): number {
  return lstatSync(path).ctimeMs;
}
