import { isRoute, type Syscall } from "../abi/index.js";
import { flagsValue } from "../abi/named.js";
import type { CallEvent } from "../nouns/event.js";
import { constantTestHolds } from "./constant-test.js";
import type { ConstantTest } from "./policy.js";

/** The flags and arguments under which a call has an effect: used by the rows of call-effects.ts. */

const ACCESS_MODE = flagsValue("open", "O_WRONLY|O_RDWR");
const O_CREAT = flagsValue("open", "O_CREAT");
const O_TRUNC = flagsValue("open", "O_TRUNC");
const O_DIRECTORY = flagsValue("open", "O_DIRECTORY");
const O_PATH = flagsValue("open", "O_PATH");
const TMPFILE = 0x400000;
const RENAME_NOREPLACE = flagsValue("rename", "RENAME_NOREPLACE");
const RENAME_EXCHANGE = flagsValue("rename", "RENAME_EXCHANGE");
const MS_BIND_OR_MOVE = flagsValue("mount", "MS_BIND|MS_MOVE");
const OPEN_TREE_CLONE = flagsValue("open_tree", "OPEN_TREE_CLONE");
export const CLONE_THREAD = flagsValue("clone", "CLONE_THREAD");
export const CLONE_NEW = flagsValue(
  "clone",
  "CLONE_NEWNS|CLONE_NEWCGROUP|CLONE_NEWUTS|CLONE_NEWIPC|CLONE_NEWUSER|CLONE_NEWPID|CLONE_NEWNET",
);
export const CLONE_NEWTIME = flagsValue("unshare", "CLONE_NEWTIME");
export const PROT_EXEC = BigInt(flagsValue("mmap_prot", "PROT_EXEC"));
export const RLIMIT_CORE = flagsValue("rlimit", "RLIMIT_CORE");
export const FAN_MARK_MOUNT_OR_FILESYSTEM = flagsValue("fanotify_mark", "FAN_MARK_MOUNT|FAN_MARK_FILESYSTEM");
export const MAP_ANONYMOUS = flagsValue("mmap_flags", "MAP_ANONYMOUS");
const F_SETOWN = flagsValue("fcntl", "F_SETOWN");
export const TIOCSIG = flagsValue("ioctl", "TIOCSIG");
export const READ_IMPLIES_EXEC = flagsValue("personality", "READ_IMPLIES_EXEC");
/** personality(2) with this value only queries. */
export const QUERY_PERSONALITY = 0xffff_ffff;

// O_PATH gives a descriptor that can be neither read nor written, and ignores the other flags (open(2)).
export const opensForReading = (flags: number) => (flags & O_PATH) === 0 && (flags & ACCESS_MODE) !== 1;
export const opensForWriting = (flags: number) => (flags & O_PATH) === 0 && (flags & ACCESS_MODE) !== 0;
export const creates = (flags: number) => (flags & O_PATH) === 0 && (flags & (O_CREAT | TMPFILE)) !== 0;
export const truncates = (flags: number) => (flags & O_PATH) === 0 && (flags & O_TRUNC) !== 0;
const isFolder = (flags: number) => (flags & O_DIRECTORY) !== 0 && (flags & TMPFILE) === 0;
export const opensFile = (flags: number) => opensForReading(flags) && !isFolder(flags);
export const opensFolder = (flags: number) => opensForReading(flags) && isFolder(flags);
export const onlyWrites = (flags: number) => opensForWriting(flags) && !creates(flags) && !truncates(flags);
export const onlyNames = (flags: number) => (flags & O_PATH) !== 0;
export const replaces = (flags: number) => (flags & RENAME_NOREPLACE) === 0;
export const swaps = (flags: number) => (flags & RENAME_EXCHANGE) !== 0;
export const clones = (flags: number) => (flags & OPEN_TREE_CLONE) !== 0;
export const hasRoute = (_: number, event: CallEvent) => event.controls.some(isRoute);
export const hasAddress = (_: number, event: CallEvent) => event.address !== undefined;

export const equals = (arg: number, value: number): ConstantTest => ({
  arg,
  width: 32,
  op: "eq",
  value: BigInt(value),
});
export const differs = (arg: number, value: number): ConstantTest => ({ ...equals(arg, value), op: "ne" });
export const hasBits32 = (arg: number, bits: number): ConstantTest => ({
  arg,
  width: 32,
  op: "masked",
  mask: BigInt(bits),
  value: BigInt(bits),
});
const part = (arg: number, mask: number, value: number): ConstantTest => ({
  arg,
  width: 32,
  op: "masked",
  mask: BigInt(mask),
  value: BigInt(value),
});

type Cases = readonly (readonly ConstantTest[])[];

/** Of an open with its flags in a register: those that could change something. */
export function writingOpens({ args }: Syscall): Cases {
  const flags = args.findIndex(({ name, kind }) => name === "flags" && kind === "flags");
  const writing = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"].map((name) => flagsValue("open", name));
  return [...writing, TMPFILE].map((bit) => [hasBits32(flags, bit)]);
}

/** For effects that depend on registers alone: the same tests for the filter and for us. */
export const inCases = (cases: Cases) => ({
  when: cases,
  holds: (_: number, event: CallEvent) =>
    cases.some((tests) => tests.every((test) => constantTestHolds(test, event.argument(test.arg)))),
});

/** utimensat and futimesat: without a path, the second argument, they are about their descriptor. */
const PATH_AT = 1;
export const hasNoPath = (_: number, event: CallEvent) => event.argument(PATH_AT) === 0n;
export const hasPath = (_: number, event: CallEvent) => event.argument(PATH_AT) !== 0n;
export const WITH_PATH: Cases = [[{ arg: PATH_AT, width: 64, op: "ne", value: 0n }]];

const SOL_IP = flagsValue("sockopt_level", "SOL_IP");
const SOL_IPV6 = flagsValue("sockopt_level", "SOL_IPV6");
const SOL_SCTP = flagsValue("sockopt_level", "SOL_SCTP");
const option = (level: number, name: number) => [equals(1, level), equals(2, name)];
/** An empty option removes the previous setting. */
const setTo = (level: number, name: number) => [...option(level, name), differs(4, 0)];

/**
 * Options that send packets elsewhere than to their address: routes, headers written by the program, SCTP's
 * connectx.
 */
export const ROUTING_OPTIONS: Cases = [
  setTo(SOL_IP, flagsValue("sockopt_ip", "IP_OPTIONS")),
  setTo(SOL_IP, flagsValue("sockopt_ip", "IP_HDRINCL")),
  setTo(SOL_IPV6, flagsValue("sockopt_ipv6", "IPV6_RTHDR")),
  setTo(SOL_IPV6, flagsValue("sockopt_ipv6", "IPV6_2292PKTOPTIONS")), // may hold a routing header
  setTo(SOL_IPV6, flagsValue("sockopt_ipv6", "IPV6_HDRINCL")),
  setTo(SOL_SCTP, 107), // SCTP_SOCKOPT_CONNECTX_OLD
  setTo(SOL_SCTP, 110), // SCTP_SOCKOPT_CONNECTX
];
/** SCTP_SOCKOPT_CONNECTX3 */
export const CONNECTING_QUERIES: Cases = [option(SOL_SCTP, 111)];

const SOCK_TYPE_MASK = 0xf;
const SOCK_RAW = flagsValue("socket_type", "SOCK_RAW");
const SOCK_PACKET = flagsValue("socket_type", "SOCK_PACKET");
const IPPROTO_RAW = flagsValue("ipproto", "IPPROTO_RAW");
const family = (name: string) => flagsValue("socket_family", name);
const rawHeaders = (of: number) => [equals(0, of), part(1, SOCK_TYPE_MASK, SOCK_RAW), equals(2, IPPROTO_RAW)];

/**
 * Sockets whose packets have headers written by the program: AF_PACKET, its old form, AF_XDP, and raw sockets
 * with IPPROTO_RAW.
 */
export const PACKET_SOCKETS: Cases = [
  [equals(0, family("AF_PACKET"))],
  [equals(0, family("AF_XDP"))],
  [equals(0, family("AF_INET")), part(1, SOCK_TYPE_MASK, SOCK_PACKET)],
  rawHeaders(family("AF_INET")),
  rawHeaders(family("AF_INET6")),
];

export const hasBits = (arg: number, bits: bigint): ConstantTest => ({
  arg,
  width: 64,
  op: "masked",
  mask: bits,
  value: bits,
});
export const mapsCode = (_: number, event: CallEvent) => (event.argument(2) & PROT_EXEC) !== 0n;

const AT_EMPTY_PATH = flagsValue("at", "AT_EMPTY_PATH");
/** With AT_EMPTY_PATH an empty path means the descriptor itself. */
export function namesFile(bits: number, event: CallEvent): boolean {
  return (bits & AT_EMPTY_PATH) === 0 || event.paths[0]?.requested !== "";
}

export function readImpliesExec(_: number, event: CallEvent): boolean {
  const persona = Number(BigInt.asUintN(32, event.argument(0)));
  return persona !== QUERY_PERSONALITY && (persona & READ_IMPLIES_EXEC) !== 0;
}

/**
 * A limit above zero: from then on the kernel writes core dumps to the program's current folder. A limit of
 * another process is not set on behalf, so the kernel may read another value than we checked: it counts as
 * raised.
 */
export function raisesCoreLimit(limit: string) {
  return (_: number, event: CallEvent): boolean => {
    if (argumentOf(event, "resource") !== RLIMIT_CORE) return false;
    const { pid: whose = 0 } = event.args as { pid?: number };
    if (whose !== 0 && whose !== (event.process.innerPid ?? event.process.pid))
      return event.argument(2) !== 0n;
    const bytes = (event.args as Readonly<Record<string, unknown>>)[limit];
    return bytes instanceof Uint8Array && bytes.length >= 8
      ? bytes.subarray(0, 8).some((byte) => byte !== 0)
      : false;
  };
}

function argumentOf(event: CallEvent, name: string): number {
  return Number((event.args as Readonly<Record<string, unknown>>)[name]);
}

/** True for a signal to another process. Signal 0 only checks whether the process exists (kill(2)). */
export function signalsOther(pid: string) {
  return (_: number, event: CallEvent): boolean =>
    argumentOf(event, "sig") !== 0 &&
    argumentOf(event, pid) !== (event.process.innerPid ?? event.process.pid);
}

/** F_SETOWN: 0 removes the owner, and the caller itself is no other process. */
export const OWNER_CASES: Cases = [[equals(1, F_SETOWN), differs(2, 0)]];
export function ownsByOther(_: number, event: CallEvent): boolean {
  const owner = Number(BigInt.asIntN(32, event.argument(2)));
  return (
    argumentOf(event, "cmd") === F_SETOWN &&
    owner !== 0 &&
    owner !== (event.process.innerPid ?? event.process.pid)
  );
}

/** 0 means the caller, like its own pid. */
export function otherThanSelf(pid: string) {
  return (_: number, event: CallEvent): boolean => {
    const { threads, innerThreads = threads } = event.process;
    const number = argumentOf(event, pid);
    return number !== 0 && !innerThreads.includes(number);
  };
}

/** setpriority(2) counts kinds from 0, ioprio_set(2) from 1; the third kind is a user. */
export function isProcessOrGroup(event: CallEvent): boolean {
  return Number(event.argument(0)) - (event.name === "ioprio_set" ? 1 : 0) < 2;
}

export function signalsOtherThread(_: number, event: CallEvent): boolean {
  const { threads, innerThreads = threads } = event.process;
  return argumentOf(event, "sig") !== 0 && !innerThreads.includes(argumentOf(event, "pid"));
}

/** True when one of these numbers names another process, or all processes. */
export function concernsOther(...names: readonly string[]) {
  return (_: number, event: CallEvent): boolean => {
    const { pid, innerPid = pid, threads, innerThreads = threads } = event.process;
    return names.some((name) => {
      const number = argumentOf(event, name);
      return number !== 0 && number !== innerPid && !innerThreads.includes(number);
    });
  };
}

/** `mount -t tmpfs none /x`: a source without a slash that is not a bind mount is a word, not a path. */
export function mountsPath(flags: number, event: CallEvent): boolean {
  const source = event.paths.find(({ argument }) => argument === "dev_name");
  return (flags & MS_BIND_OR_MOVE) !== 0 || source?.requested.includes("/") === true;
}

/** File systems that show other folders under a new name, given in their options (mount(8)). */
export function isOverlay(_: number, event: CallEvent): boolean {
  const { type, fs_name } = event.args as { type?: unknown; fs_name?: unknown };
  return /^(overlay|overlayfs|aufs|unionfs|ecryptfs|fuse)/.test(String(type ?? fs_name));
}

/** Those of these tests that read memory which the kernel reads again. */
export const READS_MEMORY: ReadonlySet<(bits: number, event: CallEvent) => boolean> = new Set([
  mountsPath,
  isOverlay,
]);
