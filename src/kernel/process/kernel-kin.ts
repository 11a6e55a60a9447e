import { readdirSync } from "node:fs";
import { errnoValue, flagsValue } from "../../abi/named.js";
import { type Address, decodeAddress, type InternetAddress, type UnixAddress } from "../../nouns/address.js";
import { native } from "../binding/native.js";
import { isLauncher } from "./hermes-processes.js";
import { childAbove, processes, processesBelow, readLink, readStat, readText } from "./proc.js";

export interface KinOptions {
  /** The process that the session attached to. */
  readonly attached?: number | undefined;
  /** The fence gave the run its own network namespace, and the run cannot create others. */
  readonly hasOwnNetwork?: boolean;
}

/**
 * Decides from /proc which processes belong to the runs of this process. Every run is below a broker, which
 * adopts the run's orphans, and every broker is the child of one of our launchers. An attached process is the
 * top of its own run. Other children of this process do not belong to a run.
 */
export class KernelKin {
  readonly #attached: number | undefined;
  readonly #hasOwnNetwork: boolean;
  readonly #sharedBefore: Readonly<Record<SharedTable, ReadonlySet<number>>>;
  /**
   * Objects created from this moment on belong to the run: milliseconds since 1970. Unknown for an attached
   * process.
   */
  readonly since: number;

  constructor({ attached, hasOwnNetwork = false }: KinOptions = {}) {
    this.#attached = attached;
    this.#hasOwnNetwork = hasOwnNetwork;
    const idsOf = (table: SharedTable) => new Set(sharedObjects(table).map(({ id }) => id));
    this.#sharedBefore = { shm: idsOf("shm"), sem: idsOf("sem"), msg: idsOf("msg") };
    this.since = attached === undefined ? Date.now() : Number.POSITIVE_INFINITY;
  }

  /** The program makes its calls itself, on the objects that exist then. */
  get isAttached(): boolean {
    return this.#attached !== undefined;
  }

  hasProcess(pid: number): boolean {
    if (this.#attached !== undefined)
      return pid === this.#attached || childAbove(pid, this.#attached) !== undefined;
    const launcher = childAbove(pid, process.pid);
    return (
      launcher !== undefined && launcher !== pid && isLauncher(launcher) && readStat(pid)?.parent !== launcher
    );
  }

  /** True when every member of a process group belongs to one of our runs. */
  hasGroup(group: number): boolean {
    const members = processes().filter((pid) => readStat(pid)?.group === group);
    return members.every((pid) => this.hasProcess(pid));
  }

  processBehind(tid: number, fd: number): number | undefined {
    const folder = /^\/proc\/(\d+)(?:\/task\/(\d+))?$/.exec(readLink(`/proc/${tid}/fd/${fd}`));
    const number =
      folder?.[2] ?? folder?.[1] ?? /^Pid:\t(\d+)$/m.exec(readText(`/proc/${tid}/fdinfo/${fd}`))?.[1];
    return number === undefined ? undefined : Number(number);
  }

  /**
   * An object that existed when the run began is foreign. So is memory whose creator is alive and not a
   * member.
   */
  hasShared(tid: number, table: SharedTable, by: "key" | "id", number: number): boolean {
    if (readLink(`/proc/${tid}/ns/ipc`) !== readLink("/proc/self/ns/ipc")) return true; // it was made for the run
    const found = sharedObjects(table).find((object) => object[by] === number);
    if (!found) return true;
    if (this.#attached !== undefined || this.#sharedBefore[table].has(found.id)) return false;
    const { maker } = found;
    return maker === undefined || readStat(maker) === undefined || this.hasProcess(maker);
  }

  members(): number[] {
    if (this.#attached !== undefined)
      return [this.#attached, ...processesBelow(this.#attached).map(({ pid }) => pid)];
    const below = processesBelow(process.pid);
    const ours = new Set<number>(below.filter(({ parent }) => parent === process.pid).map(({ pid }) => pid));
    for (const pid of ours) if (!isLauncher(pid)) ours.delete(pid);
    const launchers = new Set(ours);
    const hold = new Set(launchers);
    for (const { pid, parent } of below) {
      if (!ours.has(parent)) continue;
      ours.add(pid); // parents come before their children
      if (launchers.has(parent)) hold.add(pid); // a broker
    }
    return [...ours].filter((pid) => !hold.has(pid));
  }

  /**
   * True when every process that could be reached at an address belongs to our runs. Another process may
   * listen on the same port of another address. `file` is the socket's file.
   */
  listensAt(address: Address, tid: number, file: SocketFile | undefined): boolean {
    // A process whose parent ends during the scan is missed. A second scan finds it below its new parent.
    return this.#listensAt(address, tid, file) || this.#listensAt(address, tid, file);
  }

  #listensAt(address: Address, tid: number, file: SocketFile | undefined): boolean {
    if (address.family === "unix" && !address.abstract)
      return file !== undefined && this.#members(isBoundTo(file, tid));
    const reached = address.family === "unix" ? abstractAt(address, tid) : listenersAt(address);
    if (reached.length === 0) return false;
    if (address.family === "unix" && !this.#namesCount(tid)) return false;
    const ours = new Set(
      this.members()
        .flatMap(socketsOf)
        .map(({ inode }) => inode),
    );
    return reached.every((inode) => ours.has(inode));
  }

  #members(holds: (socket: HeldSocket) => boolean): boolean {
    return this.members().some((pid) => socketsOf(pid).some(holds));
  }

  /**
   * An abstract name belongs to the network namespace in which its socket was created. A program in a network
   * namespace of its own may hold one of our sockets there. So names count only in our namespace.
   */
  #namesCount(tid: number): boolean {
    return this.#hasOwnNetwork || readLink(`/proc/${tid}/ns/net`) === readLink("/proc/self/ns/net");
  }
}

type SharedTable = "shm" | "sem" | "msg";

/** proc(5): key and id come first; for shared memory, the fifth field is the creator's pid. */
function sharedObjects(table: SharedTable): { key: number; id: number; maker: number | undefined }[] {
  const lines = readText(`/proc/sysvipc/${table}`).split("\n").slice(1).filter(Boolean);
  return lines.map((line) => {
    const numbers = line.trim().split(/\s+/).map(Number);
    return { key: numbers[0]!, id: numbers[1]!, maker: table === "shm" ? numbers[4] : undefined };
  });
}

// ---------------------------------------------------------------- sockets of the file system

/** The file of a socket, with the identity that kernel/decode/reach-path.ts has read. */
interface SocketFile {
  readonly device: bigint;
  readonly inode: bigint;
  readonly mount: bigint;
  readonly inodeInside: bigint;
}

interface HeldSocket {
  readonly pid: number;
  readonly fd: number;
  readonly inode: string;
}

function socketsOf(pid: number): HeldSocket[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      const inode = /^socket:\[(\d+)\]$/.exec(readLink(`/proc/${pid}/fd/${fd}`))?.[1];
      return inode === undefined ? [] : [{ pid, fd: Number(fd), inode }];
    });
  } catch {
    return [];
  }
}

const EPERM = errnoValue("EPERM");

/**
 * Finds the sockets that are bound to a file. A socket's bound name does not tell, because folders can be
 * renamed. With CAP_NET_ADMIN in the socket's namespace, one socket's file can be queried. Otherwise we list
 * all sockets of our network namespace.
 */
function isBoundTo(file: SocketFile, tid: number): (socket: HeldSocket) => boolean {
  const found = new BigUint64Array(2);
  let listed: ReadonlySet<number> | undefined;
  return ({ pid, fd, inode }) => {
    const failed = native().boundFile(pid, fd, new Uint8Array(found.buffer));
    if (failed === 0) return found[0] === file.device && found[1] === file.inode;
    if (failed !== -EPERM) return false; // it is no Unix socket, or has no file
    listed ??= socketsAt(file, tid);
    return listed.has(Number(inode));
  };
}

const ROW = 3;

/** Inodes of the sockets of our network namespace that are bound to this file. */
function socketsAt(file: SocketFile, tid: number): ReadonlySet<number> {
  const wanted = kernelNumbers(file, tid);
  let rows = new Uint32Array(ROW * 1024);
  let count = native().boundSockets(new Uint8Array(rows.buffer));
  while (count * ROW > rows.length) {
    rows = new Uint32Array(2 * count * ROW);
    count = native().boundSockets(new Uint8Array(rows.buffer));
  }
  const found = new Set<number>();
  if (!wanted) return found;
  for (let i = 0; i < count * ROW; i += ROW)
    if (rows[i + 1] === wanted.inode && rows[i + 2] === wanted.device) found.add(rows[i]!);
  return found;
}

/**
 * stat(2) may report other numbers than the kernel uses for a file (btrfs, overlays). fdinfo and mountinfo
 * report the kernel's.
 */
function kernelNumbers(file: SocketFile, tid: number): { inode: number; device: number } | undefined {
  const line = new RegExp(`^${file.mount} \\d+ (\\d+):(\\d+) `, "m");
  const numbers =
    line.exec(readText(`/proc/${tid}/mountinfo`)) ?? line.exec(readText("/proc/self/mountinfo"));
  if (!numbers || file.inodeInside === 0n) return undefined;
  const device = ((Number(numbers[1]) << 20) | Number(numbers[2])) >>> 0; // the kernel's MKDEV
  return { inode: Number(BigInt.asUintN(32, file.inodeInside)), device };
}

// ---------------------------------------------------------------- names and ports

/**
 * Inodes of the sockets that have this name in a tracee's abstract namespace. The kernel prints every NUL as
 * @, so several names may look alike, never fewer: all of them must belong to us.
 */
function abstractAt({ path }: UnixAddress, tid: number): string[] {
  const shown = `@${path.replaceAll("\0", "@")}`;
  return [...readText(`/proc/${tid}/net/unix`).matchAll(UNIX_ROW)]
    .filter(([, , name]) => name === shown)
    .map(([, inode]) => inode!);
}

const UNIX_ROW =
  /^[0-9a-f]+: [0-9A-F]{8} [0-9A-F]{8} [0-9A-F]{8} [0-9A-F]{4} [0-9A-F]{2} +(\d+)(?: (.*))?$/gm;

/** Inodes of sockets that a connection to an address may reach. */
function listenersAt(address: Address): string[] {
  if (address.family !== "ipv4" && address.family !== "ipv6") return [];
  const bound = ["tcp", "tcp6", "udp", "udp6"].flatMap((table) =>
    rowsOf(table)
      .filter(([, , , state]) => table.startsWith("udp") || state === LISTEN)
      .map((fields) => ({ ...localOf(fields[1]!), inode: fields[9]! }))
      .filter(({ port }) => port === address.port),
  );
  const there = bound.filter(({ host }) => host === address.host);
  const anywhere = bound.filter(({ host }) => host === "0.0.0.0" || host === "::");
  return (there.length > 0 ? there : anywhere).map(({ inode }) => inode);
}

const LISTEN = "0A";

function rowsOf(table: string): string[][] {
  return readText(`/proc/net/${table}`)
    .split("\n")
    .slice(1)
    .filter(Boolean)
    .map((line) => line.trim().split(/\s+/));
}

/** Parses `0100007F:1F90`: the address as host-order words, and the port. */
function localOf(text: string): Pick<InternetAddress, "host" | "port"> {
  const [words = "", port = ""] = text.split(":");
  const host = Buffer.from(words, "hex").swap32();
  const head = [Buffer.from([host.length === 4 ? AF_INET : AF_INET6, 0]), Buffer.from(port, "hex")];
  const address = decodeAddress(
    Buffer.concat(host.length === 4 ? [...head, host] : [...head, Buffer.alloc(4), host, Buffer.alloc(4)]),
  );
  return address as InternetAddress;
}

const AF_INET = flagsValue("socket_family", "AF_INET");
const AF_INET6 = flagsValue("socket_family", "AF_INET6");
