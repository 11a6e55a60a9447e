import { readFileSync } from "node:fs";
import { HermesError } from "../../../nouns/errors.js";
import type { RunResult } from "../backend.js";
import type { RemoteHost } from "./messages.js";

export type HostProtections = Pick<RunResult, "inForce" | "missing">;

/**
 * Checks from inside, through the kernel, that the container has its promised properties. A missing limit is reported; any
 * other missing property refuses the run.
 */
export function probeHost(wanted: RemoteHost): HostProtections {
  const { readOnly, network, memory, pids, cpuShares } = wanted;
  const must: [name: string, holds: boolean][] = [
    ["oci_capabilities", hasNoCapabilities()],
    ["oci_no_new_privileges", /^NoNewPrivs:\s*1$/m.test(read("/proc/self/status"))],
    ...(readOnly ? [["oci_read_only", rootIsReadOnly()] as [string, boolean]] : []),
    ...(network === "none" ? [["oci_no_network", hasOnlyLoopback()] as [string, boolean]] : []),
  ];
  const broken = must.find(([, holds]) => !holds);
  if (broken)
    throw new HermesError("UNAVAILABLE", { what: broken[0], why: "the container engine did not set it up" });
  const limits: [name: string, holds: boolean][] = [
    ["oci_memory", memory === undefined || limit("memory/memory.limit_in_bytes", "memory.max") <= memory],
    ["oci_pids", pids === undefined || limit("pids/pids.max", "pids.max") <= pids],
    ["oci_cpu_shares", cpuShares === undefined || hasShares(cpuShares)],
  ];
  return {
    inForce: [...must, ...limits].filter(([, holds]) => holds).map(([name]) => name),
    missing: limits
      .filter(([, holds]) => !holds)
      .map(([name]) => ({
        name,
        why: "the container's cgroup has no such limit, because no cgroup is delegated to this user",
      })),
  };
}

function hasNoCapabilities(): boolean {
  const status = read("/proc/self/status");
  return ["CapPrm", "CapEff", "CapBnd", "CapAmb"].every((set) =>
    new RegExp(`^${set}:\\s*0+$`, "m").test(status),
  );
}

/** proc(5): the sixth field of a line has the mount's own options. The last mount on / is the visible one. */
function rootIsReadOnly(): boolean {
  const roots = [...read("/proc/self/mountinfo").matchAll(/^\S+ \S+ \S+ \S+ \/ (\S+)/gm)];
  return roots.at(-1)?.[1]?.split(",").includes("ro") ?? false;
}

function hasOnlyLoopback(): boolean {
  const names = [...read("/proc/net/dev").matchAll(/^\s*(\S+):/gm)].map(([, name]) => name);
  return names.every((name) => name === "lo");
}

/** cgroup v1 or v2; infinite without a limit. */
function limit(v1: string, v2: string): number {
  const text = read(`/sys/fs/cgroup/${v1}`) || read(`/sys/fs/cgroup/${v2}`);
  return /^\d+$/.test(text.trim()) ? Number(text) : Number.POSITIVE_INFINITY;
}

/** cgroup v2 has weights, 100 by default. Runtimes differ in how they convert shares (1024 by default) to a weight. */
function hasShares(wanted: number): boolean {
  const shares =
    read("/sys/fs/cgroup/cpu/cpu.shares").trim() || read("/sys/fs/cgroup/cpu,cpuacct/cpu.shares").trim();
  if (shares !== "") return Number(shares) === wanted;
  const weight = read("/sys/fs/cgroup/cpu.weight").trim();
  return weight !== "" && (wanted === 1024 || Number(weight) < 100 === wanted < 1024);
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
