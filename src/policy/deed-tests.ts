import { isRoute } from "../abi/index.js";
import type { CallEvent } from "../event.js";
import { holds } from "./constant-test.js";
import type { ConstantTest } from "./policy.js";

/** Under which flags and arguments a call has an effect: what the rows of deeds.ts ask. */

const ACCESS_MODE = 3;
const O_CREAT = 0x40;
const O_TRUNC = 0x200;
const O_DIRECTORY = 0x10000;
export const O_PATH = 0x200000;
const TMPFILE = 0x400000;
const RENAME_NOREPLACE = 1;
const RENAME_EXCHANGE = 2;
const MS_BIND_OR_MOVE = 0x3000;
const OPEN_TREE_CLONE = 1;
export const CLONE_THREAD = 0x10000;
export const CLONE_NEW = 0x7e020000;
export const CLONE_NEWTIME = 0x80;
export const PROT_EXEC = 4n;
export const RLIMIT_CORE = 4;
export const FAN_MARK_MOUNT_OR_FILESYSTEM = 0x110;
export const MAP_ANONYMOUS = 0x20;
const F_SETOWN = 8;
export const TIOCSIG = 0x40045436;
export const READ_IMPLIES_EXEC = 0x400000;
/** personality(2): asks, and changes nothing. */
export const QUERY_PERSONALITY = 0xffff_ffff;

// O_PATH gives a handle that can neither be read nor written, and ignores the other flags (open(2)).
export const reads = (flags: number) => (flags & O_PATH) === 0 && (flags & ACCESS_MODE) !== 1;
export const writes = (flags: number) => (flags & O_PATH) === 0 && (flags & ACCESS_MODE) !== 0;
export const creates = (flags: number) => (flags & O_PATH) === 0 && (flags & (O_CREAT | TMPFILE)) !== 0;
export const truncates = (flags: number) => (flags & O_PATH) === 0 && (flags & O_TRUNC) !== 0;
export const isFolder = (flags: number) => (flags & O_DIRECTORY) !== 0 && (flags & TMPFILE) === 0;
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

/** Where registers alone say whether a call does it: the same tests for the filter and for us. */
export const inCases = (cases: Cases) => ({
  when: cases,
  holds: (_: number, event: CallEvent) =>
    cases.some((tests) => tests.every((test) => holds(test, event.argument(test.arg)))),
});

const SOL_IP = 0;
const SOL_IPV6 = 41;
const SOL_SCTP = 132;
const option = (level: number, name: number) => [equals(1, level), equals(2, name)];
/** An empty option takes away what was set. */
const setTo = (level: number, name: number) => [...option(level, name), differs(4, 0)];

/** Options after which packets go elsewhere than to their address: routes, headers of the program's own, SCTP's connectx. */
export const ROUTING_OPTIONS: Cases = [
  setTo(SOL_IP, 4), // IP_OPTIONS
  setTo(SOL_IP, 3), // IP_HDRINCL
  setTo(SOL_IPV6, 57), // IPV6_RTHDR
  setTo(SOL_IPV6, 6), // IPV6_2292PKTOPTIONS, which may hold a routing header
  setTo(SOL_IPV6, 36), // IPV6_HDRINCL
  setTo(SOL_SCTP, 107), // SCTP_SOCKOPT_CONNECTX_OLD
  setTo(SOL_SCTP, 110), // SCTP_SOCKOPT_CONNECTX
];
/** SCTP_SOCKOPT_CONNECTX3 */
export const CONNECTING_QUERIES: Cases = [option(SOL_SCTP, 111)];

const SOCK_TYPE_MASK = 0xf;
const SOCK_RAW = 3;
const SOCK_PACKET = 10;
const IPPROTO_RAW = 255;
const rawHeaders = (family: number) => [
  equals(0, family),
  part(1, SOCK_TYPE_MASK, SOCK_RAW),
  equals(2, IPPROTO_RAW),
];

/** Sockets whose packets have headers of the program's own: AF_PACKET, its old form, AF_XDP, and raw ones of IPPROTO_RAW. */
export const PACKET_SOCKETS: Cases = [
  [equals(0, 17)],
  [equals(0, 44)],
  [equals(0, 2), part(1, SOCK_TYPE_MASK, SOCK_PACKET)],
  rawHeaders(2),
  rawHeaders(10),
];

export const hasBits = (arg: number, bits: bigint): ConstantTest => ({
  arg,
  width: 64,
  op: "masked",
  mask: bits,
  value: bits,
});
export const isExecutable = (_: number, event: CallEvent) => (event.argument(2) & PROT_EXEC) !== 0n;

const AT_EMPTY_PATH = 0x1000;
/** With AT_EMPTY_PATH an empty path means the descriptor itself. */
export function namesFile(bits: number, event: CallEvent): boolean {
  return (bits & AT_EMPTY_PATH) === 0 || event.paths[0]?.requested !== "";
}

export function readImpliesExec(_: number, event: CallEvent): boolean {
  const persona = Number(BigInt.asUintN(32, event.argument(0)));
  return persona !== QUERY_PERSONALITY && (persona & READ_IMPLIES_EXEC) !== 0;
}

/**
 * A limit above nothing: from then on the kernel writes core dumps, into whatever folder the program is in. The limit of
 * another process is not set on behalf, so nobody can say what the kernel will read there: it counts as raised.
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

export function argumentOf(event: CallEvent, name: string): number {
  return Number((event.args as Readonly<Record<string, unknown>>)[name]);
}

/** A signal to oneself is nobody's business, and signal 0 only asks whether somebody is there (kill(2)). */
export function signalsOther(pid: string) {
  return (_: number, event: CallEvent): boolean =>
    argumentOf(event, "sig") !== 0 &&
    argumentOf(event, pid) !== (event.process.innerPid ?? event.process.pid);
}

/** F_SETOWN: 0 takes the owner away, and the caller itself is nobody else. */
export const OWNER_CASES: Cases = [[equals(1, F_SETOWN), differs(2, 0)]];
export function ownsByOther(_: number, event: CallEvent): boolean {
  const owner = Number(BigInt.asIntN(32, event.argument(2)));
  return (
    argumentOf(event, "cmd") === F_SETOWN &&
    owner !== 0 &&
    owner !== (event.process.innerPid ?? event.process.pid)
  );
}

/** 0 means the caller, as its own number does. */
export function otherThanSelf(pid: string) {
  return (_: number, event: CallEvent): boolean => {
    const { threads, innerThreads = threads } = event.process;
    const number = argumentOf(event, pid);
    return number !== 0 && !innerThreads.includes(number);
  };
}

/** setpriority(2) counts kinds from 0, ioprio_set(2) from 1; a third is a user. */
export function isProcessOrGroup(event: CallEvent): boolean {
  return Number(event.argument(0)) - (event.name === "ioprio_set" ? 1 : 0) < 2;
}

export function signalsOtherThread(_: number, event: CallEvent): boolean {
  const { threads, innerThreads = threads } = event.process;
  return argumentOf(event, "sig") !== 0 && !innerThreads.includes(argumentOf(event, "pid"));
}

/** Whether one of these numbers is that of another process, or of everybody. */
export function concernsOther(...names: readonly string[]) {
  return (_: number, event: CallEvent): boolean => {
    const { pid, innerPid = pid, threads, innerThreads = threads } = event.process;
    return names.some((name) => {
      const number = argumentOf(event, name);
      return number !== 0 && number !== innerPid && !innerThreads.includes(number);
    });
  };
}

/** `mount -t tmpfs none /x`: what has no slash and is not bound is a word, not a path. */
export function mountsPath(flags: number, event: CallEvent): boolean {
  const source = event.paths.find(({ argument }) => argument === "dev_name");
  return (flags & MS_BIND_OR_MOVE) !== 0 || source?.requested.includes("/") === true;
}

/** File systems that show folders under another name, which their options give (mount(8)). */
export function isOverlay(_: number, event: CallEvent): boolean {
  const { type, fs_name } = event.args as { type?: unknown; fs_name?: unknown };
  return /^(overlay|overlayfs|aufs|unionfs|ecryptfs|fuse)/.test(String(type ?? fs_name));
}

/** Of these tests, those that look at memory which the kernel reads again. */
export const READS_MEMORY: ReadonlySet<(bits: number, event: CallEvent) => boolean> = new Set([
  mountsPath,
  isOverlay,
]);
