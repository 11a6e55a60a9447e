import { readdirSync } from "node:fs";
import { type Address, decodeAddress, type InternetAddress } from "../address.js";
import { systemResolve } from "../guard/urls/reach.js";
import { childAbove, processes, readLink, readStat, readText } from "../process/proc.js";
import type { NetworkHost } from "./network.js";

/**
 * What the kernel says about processes and sockets. Every run is below a launcher of ours, which adopts whatever the run
 * leaves behind. Other children of this process are none of the agent's business.
 */

const LAUNCHER = "hermes-launch";

/** Whether a process belongs to a run of ours. */
export function isOfOurRuns(pid: number): boolean {
  const child = childAbove(pid, process.pid);
  return child !== undefined && child !== pid && readText(`/proc/${child}/comm`).trim() === LAUNCHER;
}

/** Whether every member of a process group belongs to a run of ours. */
export function isGroupOfOurRuns(group: number): boolean {
  const members = processes().filter((pid) => readStat(pid)?.group === group);
  return members.every(isOfOurRuns);
}

export const machine: NetworkHost = {
  get resolvers() {
    return [...readText("/etc/resolv.conf").matchAll(/^\s*nameserver\s+([^\s%]+)/gm)].map(
      ([, host]) => host!,
    );
  },
  lookUp: (name) => systemResolve(name).catch(() => []),
  /** All who could be reached there must be ours: an agent may listen on the same port of another address. */
  ownListener(address) {
    const reached = listenersAt(address);
    if (reached.length === 0) return false;
    const ours = new Set(processes().filter(isOfOurRuns).flatMap(socketsOf));
    return reached.every((inode) => ours.has(inode));
  },
};

/** The inodes of sockets that a connection to an address may reach. */
function listenersAt(address: Address): string[] {
  if (address.family === "unix") {
    const name = address.abstract ? `@${address.path}` : address.path;
    return rowsOf("unix")
      .filter((fields) => fields.slice(7).join(" ") === name)
      .map((fields) => fields[6]!);
  }
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

/** `0100007F:1F90`: the address in words of the machine's order, and the port, as one that a call would carry. */
function localOf(text: string): Pick<InternetAddress, "host" | "port"> {
  const [words = "", port = ""] = text.split(":");
  const host = Buffer.from(words, "hex").swap32();
  const head = [Buffer.from([host.length === 4 ? AF_INET : AF_INET6, 0]), Buffer.from(port, "hex")];
  const address = decodeAddress(
    Buffer.concat(host.length === 4 ? [...head, host] : [...head, Buffer.alloc(4), host, Buffer.alloc(4)]),
  );
  return address as InternetAddress;
}

const AF_INET = 2;
const AF_INET6 = 10;

function socketsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap(
      (fd) => /^socket:\[(\d+)\]$/.exec(readLink(`/proc/${pid}/fd/${fd}`))?.[1] ?? [],
    );
  } catch {
    return [];
  }
}
