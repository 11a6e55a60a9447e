import type { CallEvent } from "../event.js";
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

// O_PATH gives a handle that can neither be read nor written, and ignores the other flags (open(2)).
export const reads = (flags: number) => (flags & O_PATH) === 0 && (flags & ACCESS_MODE) !== 1;
export const writes = (flags: number) => (flags & O_PATH) === 0 && (flags & ACCESS_MODE) !== 0;
export const creates = (flags: number) => (flags & O_PATH) === 0 && (flags & (O_CREAT | TMPFILE)) !== 0;
export const truncates = (flags: number) => (flags & O_PATH) === 0 && (flags & O_TRUNC) !== 0;
export const isFolder = (flags: number) => (flags & O_DIRECTORY) !== 0 && (flags & TMPFILE) === 0;
export const replaces = (flags: number) => (flags & RENAME_NOREPLACE) === 0;
export const swaps = (flags: number) => (flags & RENAME_EXCHANGE) !== 0;
export const clones = (flags: number) => (flags & OPEN_TREE_CLONE) !== 0;
export const hasAddress = (_: number, event: CallEvent) => event.address !== undefined;

export const equals = (arg: number, value: number): ConstantTest => ({
  arg,
  width: 32,
  op: "eq",
  value: BigInt(value),
});
export const notEqual = (arg: number, value: number): ConstantTest => ({ ...equals(arg, value), op: "ne" });
export const hasBits = (arg: number, bits: bigint): ConstantTest => ({
  arg,
  width: 64,
  op: "masked",
  mask: bits,
  value: bits,
});
export const isExecutable = (_: number, event: CallEvent) => (event.argument(2) & PROT_EXEC) !== 0n;

/** A limit above nothing: from then on the kernel writes core dumps, into whatever folder the program is in. */
export function raisesCoreLimit(limit: string) {
  return (_: number, event: CallEvent): boolean => {
    if (argumentOf(event, "resource") !== RLIMIT_CORE) return false;
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
