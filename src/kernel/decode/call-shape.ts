import {
  type Argument,
  CHANGES_INODE,
  ON_DESCRIPTORS,
  type Reread,
  rereadOf,
  type Syscall,
} from "../../abi/index.js";
import { AT_FDCWD, flagsValue } from "../../abi/named.js";

/** The indexes of a call's interesting arguments, computed once per syscall. */
export interface CallShape {
  readonly paths: readonly number[];
  readonly fd: number;
  readonly address: number;
  readonly message: number;
  readonly data: number;
  readonly outData: number;
  readonly flags: number;
  readonly argv: number;
  readonly env: number;
  /** The argument that limits how many bytes the call transfers. */
  readonly count: number;
  /** openat2: the struct that holds the flags. */
  readonly how: number;
  /** It creates, removes or moves a directory entry. */
  readonly makesEntry: boolean;
  readonly changesEntry: boolean;
  /** It changes the object behind a descriptor. */
  readonly changesDescriptor: boolean;
  /** How a decision on its memory is protected from later changes. */
  readonly reread: Reread;
}

const MAKES_ENTRIES = /^(mkdir|mknod|symlink)/;
const CHANGES_ENTRIES = /^(mkdir|mknod|unlink|rmdir|rename|link|symlink)/;
const SETS_TIMES = /^(utimensat|futimesat)$/;
const CHANGES_DESCRIPTORS: ReadonlySet<string> = new Set(ON_DESCRIPTORS.split(" "));

/** A call's argument registers. */
interface Registers {
  int(i: number): number;
  uint(i: number): number;
  isNull(i: number): boolean;
}

export const AT_EMPTY_PATH = flagsValue("at", "AT_EMPTY_PATH");
/** Offset of `resolve` in struct open_how. */
export const HOW_RESOLVE = 16;

const shapes = new Map<number, CallShape>();

const isOut = (a: Argument) => a.direction === "out" || a.direction === "inout";
const carriesBytes = (a: Argument) =>
  a.kind === "buffer" || a.kind === "iovec" || a.kind === "msghdr" || a.kind === "mmsghdr";

export function callShape(call: Syscall): CallShape {
  const known = shapes.get(call.nr);
  if (known) return known;
  const args = call.args;
  const find = (test: (a: Argument) => boolean) => args.findIndex(test);
  const data = find((a) => carriesBytes(a) && !isOut(a));
  const outData = find((a) => isOut(a) && (carriesBytes(a) || a.kind === "struct"));
  const bytes = args[data] ?? args[outData];
  const strings = args.flatMap((a, i) => (a.kind === "argv" ? [i] : []));
  const shape: CallShape = {
    paths: args.flatMap((a, i) => (a.kind === "path" ? [i] : [])),
    fd: find((a) => a.kind === "fd" || a.kind === "dirfd"),
    address: find((a) => a.kind === "sockaddr"),
    message: find((a) => a.kind === "msghdr" || a.kind === "mmsghdr"),
    data:
      data >= 0 ? data : find((a) => (a.kind === "mmsghdr" || a.kind === "iovec") && a.direction === "inout"),
    outData,
    flags: Math.max(
      find((a) => a.kind === "flags" && a.name.startsWith("flag")),
      find((a) => a.kind === "flags"),
    ),
    argv: strings[0] ?? -1,
    env: strings[1] ?? -1,
    count: bytes?.kind === "buffer" && !bytes.lengthIsPointer ? (bytes.length ?? -1) : -1,
    how: find((a) => a.struct === "open_how"),
    makesEntry: MAKES_ENTRIES.test(call.name),
    changesEntry: CHANGES_ENTRIES.test(call.name),
    changesDescriptor: CHANGES_DESCRIPTORS.has(call.name),
    reread: rereadOf(call),
  };
  shapes.set(call.nr, shape);
  return shape;
}

/** True when the call changes the object behind its descriptor, also by a NULL in place of a path. */
export function changesDescriptor(call: Syscall, stop: Registers): boolean {
  const { paths, fd, changesDescriptor } = callShape(call);
  if (call.name === "ioctl") return CHANGES_INODE.includes(stop.uint(1));
  return (
    changesDescriptor || (SETS_TIMES.test(call.name) && stop.isNull(paths[0]!) && stop.int(fd) !== AT_FDCWD)
  );
}

const parsedMasks = new Map<string, readonly [index: number, mask: number]>();

/**
 * Parses the N:MASK at the end of a specification. Cached: there are a few dozen, and each path asks for its
 * own.
 */
function masks(spec: string): readonly [index: number, mask: number] {
  const known = parsedMasks.get(spec);
  if (known) return known;
  const [index, mask] = spec.split(":").slice(-2).map(Number);
  const parsed = [index!, mask!] as const;
  parsedMasks.set(spec, parsed);
  return parsed;
}

const O_CREAT_EXCL = flagsValue("open", "O_CREAT|O_EXCL");
const O_NOFOLLOW = flagsValue("open", "O_NOFOLLOW");

/** True when the kernel follows a link in the last component of this path argument. */
export function follows(argument: Argument, uint: (i: number) => number, howFlags: () => number): boolean {
  if (argument.how !== undefined) {
    const flags = howFlags();
    return (flags & O_NOFOLLOW) === 0 && (flags & O_CREAT_EXCL) !== O_CREAT_EXCL;
  }
  if (argument.noFollowAll) {
    const [index, mask] = masks(argument.noFollowAll);
    if ((uint(index) & mask) === mask) return false;
  }
  const follow = argument.follow ?? "always";
  if (follow === "always") return true;
  if (follow === "never") return false;
  const [index, mask] = masks(follow);
  return follow.startsWith("unless") === ((uint(index) & mask) === 0);
}

/** True when the call writes to the argument: its content is known after the return. Sends write only the sent length. */
export function isFilledByCall({ args, classes }: Syscall, i: number): boolean {
  const { direction = "in", kind } = args[i] ?? {};
  const sends = (kind === "mmsghdr" || kind === "iovec") && !classes.includes("read");
  return direction !== "in" && !sends;
}

/** A 32-bit word of a struct open_how; 0 where the struct is shorter. */
export function howWord(how: Uint8Array | undefined, at: number): number {
  return how && how.length >= at + 4 ? Buffer.from(how.buffer, how.byteOffset).readUInt32LE(at) : 0;
}
