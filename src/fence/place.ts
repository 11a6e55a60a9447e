import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  type Stats,
  statSync,
} from "node:fs";

/** What a path of a call leads to, held open: what Landlock would look at. */
export interface Place {
  /** The canonical name. */
  readonly path: string;
  /** Undefined: nothing of that name is in its folder. */
  readonly object: number | undefined;
  /** The folder, where the call makes, removes or moves an entry. */
  readonly parent: number | undefined;
  /** The errno of a path that leads nowhere at all. */
  readonly error: number;
  /** The path ends in a slash. */
  readonly slash: boolean;
}

export function statOf({ object }: Place): Stats | undefined {
  return object === undefined ? undefined : statOfDescriptor(object);
}

function statOfDescriptor(fd: number): Stats | undefined {
  try {
    return fstatSync(fd);
  } catch {
    return undefined;
  }
}

/** Whether two places are entries of one folder. */
export function inSameFolder(a: Place, b: Place): boolean {
  if (a.parent === undefined || b.parent === undefined) return folderOf(a.path) === folderOf(b.path);
  const [one, two] = [statOfDescriptor(a.parent), statOfDescriptor(b.parent)];
  return one !== undefined && two !== undefined && one.dev === two.dev && one.ino === two.ino;
}

/** What a rule is tied to: Landlock knows folders and files by their inode, not by a name that they may lose. */
export function keyOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}

const O_PATH = 0o10000000;
const MOST_FOLDERS = 256;

/**
 * The keys of a place and of all folders above it, as the kernel would walk up from there: from what is held open, so
 * that no name which is given to something else meanwhile can lead us elsewhere.
 */
export function keysAbove(place: Place, on: "object" | "folder"): string[] {
  const info = on === "object" ? statOf(place) : undefined;
  if (info?.isDirectory()) return upFrom(place.object!);
  const own = info ? [keyOf(info)] : [];
  if (place.parent !== undefined && statOfDescriptor(place.parent)?.isDirectory())
    return [...own, ...upFrom(place.parent)];
  return [...own, ...aboveFile(place)];
}

/** The folder that a file has by its name, if it still is there by that name. */
function aboveFile(place: Place): string[] {
  let folder: number | undefined;
  try {
    folder = openSync(folderOf(place.path), O_PATH | constants.O_DIRECTORY);
    const info = statOf(place);
    const name = place.path.slice(place.path.lastIndexOf("/") + 1);
    const isThere = info && (info.nlink === 0 || isSame(info, `/proc/self/fd/${folder}/${name}`));
    return isThere ? upFrom(folder) : [];
  } catch {
    return [];
  } finally {
    if (folder !== undefined) closeSync(folder);
  }
}

function isSame(info: Stats, path: string): boolean {
  return keyOf(lstatSync(path)) === keyOf(info);
}

function upFrom(folder: number): string[] {
  const keys: string[] = [];
  let at = `/proc/self/fd/${folder}`;
  try {
    for (let i = 0; i < MOST_FOLDERS; i++, at += "/..") {
      const key = keyOf(statSync(at));
      if (key === keys.at(-1)) break; // the root is its own parent
      keys.push(key);
    }
  } catch {
    // What cannot be walked through grants nothing.
  }
  return keys;
}

export function folderOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf("/"), 1));
}

function mountOf({ parent, object }: Place): string | undefined {
  try {
    return /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${parent ?? object}`, "utf8"))?.[1];
  } catch {
    return undefined;
  }
}

/** Whether the kernel refuses to link or move between them, whatever the rights. */
export function onDifferentMounts(a: Place, b: Place): boolean {
  const [one, two] = [mountOf(a), mountOf(b)];
  return one !== undefined && two !== undefined && one !== two;
}

/** Whether the place lies on a mount, or in a file system, that the caller can only read. */
export function isReadOnly(place: Place, tid: number): boolean {
  const mount = mountOf(place);
  if (mount === undefined) return false;
  try {
    const lines = readFileSync(`/proc/${tid}/mountinfo`, "utf8").split("\n");
    const fields = lines.find((line) => line.startsWith(`${mount} `))?.split(" ") ?? [];
    return [fields[5], fields.at(-1)].some((options) => options?.split(",").includes("ro"));
  } catch {
    return false;
  }
}
