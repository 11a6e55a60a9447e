import { constants } from "node:fs";
import { errnoNumber } from "../abi/index.js";
import type { Right } from "./landlock.js";
import { inSameFolder, isReadOnly, onDifferentMounts, type Place, statOf } from "./place.js";

/** A call on files, as far as Landlock looks at it. */
export interface Asked {
  readonly name: string;
  readonly tid: number;
  /** Flags of the open, the rename or the removal. */
  readonly flags: number;
  /** What mknod makes; how long truncate makes it. */
  readonly mode: number;
  readonly places: readonly Place[];
}

/** Rights that are needed at a place: on the object itself, or on the folder that has its entry. */
export interface Demand {
  readonly place: Place;
  readonly on: "object" | "folder";
  readonly rights: readonly Right[];
}

/** One row per call: what it needs, and what the kernel says before it asks Landlock (0: nothing). */
export interface Row {
  readonly needs: (asked: Asked) => readonly Demand[];
  readonly earlier: (asked: Asked) => number;
  /** It puts an object into another folder: Landlock compares both (landlock(7), LANDLOCK_ACCESS_FS_REFER). */
  readonly refers?: "link" | "rename";
}

const { O_ACCMODE, O_CREAT, O_EXCL, O_TRUNC, O_DIRECTORY, O_WRONLY, O_RDWR, S_IFMT } = {
  ...constants,
  O_ACCMODE: 3,
};
const O_TMPFILE = 0o20200000;
const O_PATH = 0o10000000;
const AT_REMOVEDIR = 0x200;
const RENAME_NOREPLACE = 1;
export const RENAME_EXCHANGE = 2;

const [EEXIST, EISDIR, ENOTDIR, ELOOP, EROFS, ENOENT, EXDEV, EINVAL, ENOTEMPTY, EADDRINUSE] = [
  "EEXIST",
  "EISDIR",
  "ENOTDIR",
  "ELOOP",
  "EROFS",
  "ENOENT",
  "EXDEV",
  "EINVAL",
  "ENOTEMPTY",
  "EADDRINUSE",
].map((name) => errnoNumber(name)!) as [
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
];

const MAKES: ReadonlyMap<number, Right> = new Map([
  [0, "makeFile"],
  [constants.S_IFREG, "makeFile"],
  [constants.S_IFDIR, "makeFolder"],
  [constants.S_IFLNK, "makeLink"],
  [constants.S_IFCHR, "makeCharacterDevice"],
  [constants.S_IFBLK, "makeBlockDevice"],
  [constants.S_IFIFO, "makeFifo"],
  [constants.S_IFSOCK, "makeSocket"],
]);

/** The right to make an entry of that type. */
export function toMake(mode: number): readonly Right[] {
  const right = MAKES.get(mode & S_IFMT);
  return right === undefined ? [] : [right];
}

/** The right to remove what is there; none when nothing is. */
export function toRemove(place: Place): readonly Right[] {
  if (place.object === undefined) return [];
  return statOf(place)?.isDirectory() ? ["removeFolder"] : ["removeFile"];
}

// ---------------------------------------------------------------- opening

const reads = (flags: number) => (flags & O_ACCMODE) === 0 || (flags & O_ACCMODE) === O_RDWR;
const writes = (flags: number) => (flags & O_ACCMODE) === O_WRONLY || (flags & O_ACCMODE) === O_RDWR;

/**
 * Landlock notes in an open file whether its opener may truncate it and control its device, and asks that note when
 * the program does. We are the opener: what the program may not do with the descriptor, it must not get from us.
 */
function carried(place: Place, flags: number): readonly Right[] {
  const info = statOf(place);
  if (info?.isCharacterDevice() || info?.isBlockDevice()) return ["deviceControl"];
  return (!info || info.isFile()) && writes(flags) ? ["truncate"] : [];
}

function toOpen({ flags, places }: Asked): readonly Demand[] {
  const place = places[0]!;
  if (flags & O_PATH || (place.object === undefined && !(flags & O_CREAT))) return [];
  const info = statOf(place);
  const unnamed = (flags & O_TMPFILE) === O_TMPFILE;
  const rights: Right[] = [];
  if (reads(flags)) rights.push(info?.isDirectory() && !unnamed ? "readFolder" : "readFile");
  if (writes(flags)) rights.push("writeFile");
  if (flags & O_TRUNC && info?.isFile()) rights.push("truncate");
  const opens: Demand = { place, on: "object", rights: [...rights, ...carried(place, flags)] };
  return place.object === undefined ? [{ place, on: "folder", rights: ["makeFile"] }, opens] : [opens];
}

function beforeOpen({ flags, places, tid }: Asked): number {
  const place = places[0]!;
  const info = statOf(place);
  if (flags & O_CREAT && place.slash) return EISDIR;
  if (!info) return isReadOnly(place, tid) ? EROFS : 0;
  if (flags & O_CREAT && flags & O_EXCL) return EEXIST;
  if (info.isSymbolicLink()) return ELOOP;
  if (info.isDirectory())
    return (flags & O_TMPFILE) !== O_TMPFILE && (writes(flags) || flags & O_TRUNC) ? EISDIR : 0;
  if (flags & O_DIRECTORY) return ENOTDIR;
  return info.isFile() && (writes(flags) || flags & O_TRUNC) && isReadOnly(place, tid) ? EROFS : 0;
}

// ---------------------------------------------------------------- entries of folders

const inFolder =
  (rights: (asked: Asked) => readonly Right[]) =>
  (asked: Asked): readonly Demand[] => [{ place: asked.places[0]!, on: "folder", rights: rights(asked) }];

const beforeMaking =
  (exists: number, slashAllowed: boolean) =>
  ({ places, tid }: Asked): number => {
    const place = places.at(-1)!;
    if (place.object !== undefined) return exists;
    if (place.slash && !slashAllowed) return ENOENT;
    return isReadOnly(place, tid) ? EROFS : 0;
  };

function beforeRemoving({ name, flags, places, tid }: Asked): number {
  const place = places[0]!;
  if (isReadOnly(place, tid)) return EROFS;
  if (place.object === undefined) return ENOENT;
  const folder = name === "rmdir" || (name === "unlinkat" && flags & AT_REMOVEDIR);
  if (folder || !place.slash) return 0;
  return statOf(place)?.isDirectory() ? EISDIR : ENOTDIR;
}

function beforeLinking(asked: Asked): number {
  const [from, to] = asked.places as [Place, Place];
  if (from.object === undefined) return ENOENT;
  if (from.slash && !statOf(from)?.isDirectory()) return ENOTDIR;
  return beforeMaking(EEXIST, false)(asked) || (onDifferentMounts(from, to) ? EXDEV : 0);
}

function beforeMoving({ flags, places, tid }: Asked): number {
  const [from, to] = places as [Place, Place];
  const exchange = flags & RENAME_EXCHANGE;
  if (onDifferentMounts(from, to)) return EXDEV;
  if (isReadOnly(from, tid)) return EROFS;
  if (from.object === undefined) return ENOENT;
  if (flags & RENAME_NOREPLACE && to.object !== undefined) return EEXIST;
  if (exchange && to.object === undefined) return ENOENT;
  if (exchange && to.slash && !statOf(to)?.isDirectory()) return ENOTDIR;
  if (!statOf(from)?.isDirectory() && (from.slash || (to.slash && !exchange))) return ENOTDIR;
  if (to.path.startsWith(`${from.path}/`)) return EINVAL;
  return from.path.startsWith(`${to.path}/`) ? (exchange ? EINVAL : ENOTEMPTY) : 0;
}

const truncating = ({ object }: Place): readonly Right[] => (object === undefined ? [] : ["truncate"]);

function beforeTruncating({ mode: length, places, tid }: Asked): number {
  const info = statOf(places[0]!);
  if (length < 0) return EINVAL;
  if (info?.isDirectory()) return EISDIR;
  if (info && !info.isFile()) return EINVAL;
  return isReadOnly(places[0]!, tid) ? EROFS : 0;
}

/** In one folder it needs what it makes and removes there. Between two folders, `refers` says. */
function toMove({ flags, places }: Asked): readonly Demand[] {
  const [from, to] = places as [Place, Place];
  const back = flags & RENAME_EXCHANGE ? toMake(statOf(to)?.mode ?? 0) : [];
  return [
    { place: from, on: "folder", rights: [...toRemove(from), ...back] },
    { place: to, on: "folder", rights: [...toRemove(to), ...toMake(statOf(from)?.mode ?? 0)] },
  ];
}

function toLink({ places }: Asked): readonly Demand[] {
  const [from, to] = places as [Place, Place];
  return [
    { place: from, on: "folder", rights: [] },
    { place: to, on: "folder", rights: toMake(statOf(from)?.mode ?? 0) },
  ];
}

// ---------------------------------------------------------------- the table

const opening: Row = { needs: toOpen, earlier: beforeOpen };
const removing = (folder: (asked: Asked) => boolean): Row => ({
  needs: inFolder((asked) => (folder(asked) ? ["removeFolder"] : ["removeFile"])),
  earlier: beforeRemoving,
});
const making = (rights: (asked: Asked) => readonly Right[], exists = EEXIST, slash = false): Row => ({
  needs: inFolder(rights),
  earlier: beforeMaking(exists, slash),
});
const moving: Row = { needs: toMove, earlier: beforeMoving, refers: "rename" };
const linking: Row = { needs: toLink, earlier: beforeLinking, refers: "link" };
const mkdir = making(() => ["makeFolder"], EEXIST, true);
const mknod = making(({ mode }) => ((mode & S_IFMT) === constants.S_IFDIR ? [] : toMake(mode)));
const symlink = making(() => ["makeLink"]);

/**
 * Every right of Landlock that a call made in the program's place may need. Calls that are not here need none: Landlock
 * does not look at attributes, time stamps, owners or watches.
 */
export const ROWS: Readonly<Record<string, Row>> = {
  open: opening,
  openat: opening,
  openat2: opening,
  creat: opening,
  truncate: {
    needs: ({ places }) => places.map((place) => ({ place, on: "object", rights: truncating(place) })),
    earlier: beforeTruncating,
  },
  mkdir,
  mkdirat: mkdir,
  mknod,
  mknodat: mknod,
  symlink,
  symlinkat: symlink,
  bind: making(() => ["makeSocket"], EADDRINUSE),
  unlink: removing(() => false),
  rmdir: removing(() => true),
  unlinkat: removing(({ flags }) => (flags & AT_REMOVEDIR) !== 0),
  rename: moving,
  renameat: moving,
  renameat2: moving,
  link: linking,
  linkat: linking,
};

/** Whether both places of a link or a move are in one folder, where Landlock does not compare. */
export function staysInFolder({ places }: Asked): boolean {
  return inSameFolder(places[0]!, places[1]!);
}
