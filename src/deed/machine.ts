import { readdirSync } from "node:fs";
import type { Address } from "../address.js";
import { systemResolve } from "../guard/urls/reach.js";
import { isBelow, processes, readLink, readStat, readText } from "../process/proc.js";
import type { NetworkHost } from "./network.js";

/**
 * What the kernel says about processes and sockets. Every run is below this process: its launcher is our child, and
 * adopts whatever the run leaves behind.
 */

/** Whether a process belongs to a run of ours. */
export function isBelowUs(pid: number): boolean {
  return isBelow(pid, process.pid);
}

/** Whether every member of a process group belongs to a run of ours. */
export function isGroupBelowUs(group: number): boolean {
  const members = processes().filter((pid) => readStat(pid)?.group === group);
  return members.every(isBelowUs);
}

export const machine: NetworkHost = {
  get resolvers() {
    return [...readText("/etc/resolv.conf").matchAll(/^\s*nameserver\s+([^\s%]+)/gm)].map(
      ([, host]) => host!,
    );
  },
  lookUp: (name) => systemResolve(name).catch(() => []),
  ownListener(address) {
    const sockets = new Set(listenersAt(address));
    return sockets.size > 0 && processes().some((pid) => hasSocket(pid, sockets) && isBelowUs(pid));
  },
};

/** The inodes of sockets that listen at an address; of datagrams: that are bound to it. */
function listenersAt(address: Address): string[] {
  if (address.family === "unix") {
    const name = address.abstract ? `@${address.path}` : address.path;
    return readText("/proc/net/unix")
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => fields.slice(7).join(" ") === name)
      .map((fields) => fields[6]!);
  }
  if (address.family !== "ipv4" && address.family !== "ipv6") return [];
  const port = address.port.toString(16).toUpperCase().padStart(4, "0");
  return ["tcp", "tcp6", "udp", "udp6"].flatMap((table) =>
    readText(`/proc/net/${table}`)
      .split("\n")
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter(
        ([, local, , state]) => local?.endsWith(`:${port}`) && (table.startsWith("udp") || state === LISTEN),
      )
      .map((fields) => fields[9]!),
  );
}

const LISTEN = "0A";

function hasSocket(pid: number, inodes: ReadonlySet<string>): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => {
      const [, inode] = /^socket:\[(\d+)\]$/.exec(readLink(`/proc/${pid}/fd/${fd}`)) ?? [];
      return inode !== undefined && inodes.has(inode);
    });
  } catch {
    return false;
  }
}
