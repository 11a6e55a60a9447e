import { closeSync, openSync, readSync } from "node:fs";
import { readLink, readStat, readText } from "./proc.js";

/** A process to attach to, as /proc describes it. */
export interface AttachTarget {
  readonly pid: number;
  /** The process that this thread belongs to. */
  readonly process: number;
  readonly name: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly state: string;
  readonly start: number;
  readonly isKernelThread: boolean;
  readonly is32Bit: boolean;
  /** The pid of its tracer, 0 for none. */
  readonly tracer: number;
  /** Real, effective and saved user. */
  readonly users: readonly number[];
  readonly noNewPrivs: boolean;
  /** It has CAP_SYS_ADMIN in its own user namespace. */
  readonly isAdministrator: boolean;
  /** 0: none, 1: strict, 2: filters. */
  readonly seccomp: number;
  /** The kernel's error when we try to read its memory; undefined when we may. */
  readonly closed?: string;
}

const PF_KTHREAD = 0x0020_0000;
const CAP_SYS_ADMIN = 1n << 21n;

export function readTarget(pid: number): AttachTarget | undefined {
  const status = readText(`/proc/${pid}/status`);
  const stat = readStat(pid);
  if (status === "" || !stat) return undefined;
  const field = (name: string) => new RegExp(`^${name}:\\s*(.*)$`, "m").exec(status)?.[1] ?? "";
  const isKernelThread = (stat.flags & PF_KTHREAD) !== 0;
  const closed = isKernelThread ? undefined : refusedMemory(pid);
  return {
    pid,
    process: Number(field("Tgid")),
    name: field("Name"),
    argv: readText(`/proc/${pid}/cmdline`).split("\0").slice(0, -1),
    cwd: readLink(`/proc/${pid}/cwd`),
    state: stat.state,
    start: stat.start,
    isKernelThread,
    is32Bit: elfClass(`/proc/${pid}/exe`) === 1,
    tracer: Number(field("TracerPid")),
    users: field("Uid").split("\t").slice(0, 3).map(Number),
    noNewPrivs: field("NoNewPrivs") === "1",
    isAdministrator: (BigInt(`0x${field("CapEff") || "0"}`) & CAP_SYS_ADMIN) !== 0n,
    seccomp: Number(field("Seccomp")),
    ...(closed !== undefined && { closed }),
  };
}

/** Opening a process's memory needs the same permission as tracing it. */
function refusedMemory(pid: number): string | undefined {
  try {
    closeSync(openSync(`/proc/${pid}/mem`, "r"));
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
}

/** 1: 32 bits, 2: 64; undefined when it cannot be read. */
function elfClass(file: string): number | undefined {
  const head = Buffer.alloc(5);
  try {
    const fd = openSync(file, "r");
    try {
      readSync(fd, head, 0, head.length, 0);
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
  return head.subarray(0, 4).equals(Buffer.from("\x7fELF", "latin1")) ? head[4] : undefined;
}
