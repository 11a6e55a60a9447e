import {
  type Argument,
  CHANGES_INODE,
  ON_DESCRIPTORS,
  type Reread,
  rereadOf,
  type Syscall,
} from "../abi/index.js";

/** Where the interesting arguments of a call are: worked out once per syscall. */
export interface Shape {
  readonly paths: readonly number[];
  readonly fd: number;
  readonly address: number;
  readonly message: number;
  readonly data: number;
  readonly outData: number;
  readonly flags: number;
  readonly argv: number;
  readonly env: number;
  /** The argument that bounds how much the call transfers. */
  readonly count: number;
  /** openat2: the struct that holds the flags. */
  readonly how: number;
  /** It makes an entry of a folder, or makes, removes or moves one. */
  readonly makesEntry: boolean;
  readonly changesEntry: boolean;
  /** It changes what a descriptor refers to. */
  readonly changesDescriptor: boolean;
  /** What keeps a decision on its memory true. */
  readonly reread: Reread;
}

const MAKES_ENTRIES = /^(mkdir|mknod|symlink)/;
const CHANGES_ENTRIES = /^(mkdir|mknod|unlink|rmdir|rename|link|symlink)/;
const SETS_TIMES = /^(utimensat|futimesat)$/;
const CHANGES_DESCRIPTORS: ReadonlySet<string> = new Set(ON_DESCRIPTORS.split(" "));

/** A call's arguments as they came. */
interface Registers {
  int(i: number): number;
  uint(i: number): number;
  isNull(i: number): boolean;
}

/** Instead of a descriptor: the working directory. */
export const AT_FDCWD = -100;
export const AT_EMPTY_PATH = 0x1000;
/** Where the restrictions lie in a struct open_how. */
export const HOW_RESOLVE = 16;

const shapes = new Map<number, Shape>();

const isOut = (a: Argument) => a.direction === "out" || a.direction === "inout";
const carriesBytes = (a: Argument) =>
  a.kind === "buffer" || a.kind === "iovec" || a.kind === "msghdr" || a.kind === "mmsghdr";

export function shapeOf(call: Syscall): Shape {
  const known = shapes.get(call.nr);
  if (known) return known;
  const args = call.args;
  const find = (test: (a: Argument) => boolean) => args.findIndex(test);
  const data = find((a) => carriesBytes(a) && !isOut(a));
  const outData = find((a) => isOut(a) && (carriesBytes(a) || a.kind === "struct"));
  const bytes = args[data] ?? args[outData];
  const strings = args.flatMap((a, i) => (a.kind === "argv" ? [i] : []));
  const shape: Shape = {
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

/** Whether it changes what its descriptor refers to: also by a NULL where others have a path. */
export function changesDescriptor(call: Syscall, stop: Registers): boolean {
  const { paths, fd, changesDescriptor } = shapeOf(call);
  if (call.name === "ioctl") return CHANGES_INODE.includes(stop.uint(1));
  return (
    changesDescriptor || (SETS_TIMES.test(call.name) && stop.isNull(paths[0]!) && stop.int(fd) !== AT_FDCWD)
  );
}

const parsedMasks = new Map<string, readonly [index: number, mask: number]>();

/** The N:MASK at the end of a specification: there are a few dozen, and each path asks for its own. */
function masks(spec: string): readonly [index: number, mask: number] {
  const known = parsedMasks.get(spec);
  if (known) return known;
  const [index, mask] = spec.split(":").slice(-2).map(Number);
  const parsed = [index!, mask!] as const;
  parsedMasks.set(spec, parsed);
  return parsed;
}

const O_CREAT_EXCL = 0o300;
const O_NOFOLLOW = 0o400000;

/** Whether the last component of this path argument is followed when it is a link. */
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
