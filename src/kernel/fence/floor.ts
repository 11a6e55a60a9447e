import { realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { commonFolders, isAtOrBelow } from "../../nouns/path.js";
import type { PathReach, Policy } from "../../policy/policy.js";
import { commonPorts } from "./options.js";

/**
 * What several policies together permit at most, as existing folders and files. Absent: no limit is known.
 */
export interface Floor {
  readonly readable?: readonly string[];
  /** Folders whose entries may be listed, but not read. */
  readonly listable?: readonly string[];
  readonly writable?: readonly string[];
  readonly connectPorts?: readonly number[];
  readonly bindPorts?: readonly number[];
}

export function commonFloor(policies: readonly Policy[]): Floor {
  const floors = policies.flatMap(({ floor }) => floor ?? []);
  const all = <T>(
    lists: readonly (readonly T[] | undefined)[],
    common: (a: readonly T[], b: readonly T[]) => readonly T[],
  ) => {
    const known = lists.filter((list) => list !== undefined);
    return known.length === 0 ? undefined : known.reduce(common);
  };
  const readable = all(
    floors.map(({ read }) => read?.flatMap(toRead)),
    commonFolders,
  );
  const listable = all(
    floors.map(({ read }) => read?.flatMap(toList)),
    commonFolders,
  );
  const writable = all(
    floors.map(({ write }) => write?.flatMap(toWrite)),
    commonFolders,
  );
  const connectPorts = all(
    floors.map(({ connect }) => connect),
    commonPorts,
  );
  const bindPorts = all(
    floors.map(({ bind }) => bind),
    commonPorts,
  );
  return {
    ...(readable && { readable }),
    ...(listable && { listable }),
    ...(writable && { writable }),
    ...(connectPorts && { connectPorts }),
    ...(bindPorts && { bindPorts }),
  };
}

/** True when `outer` permits everything that `inner` permits. */
export function within(inner: Floor, outer: Floor): boolean {
  const folders = (a: readonly string[] | undefined, b: readonly string[] | undefined) =>
    !b || a?.every((path) => b.some((folder) => isAtOrBelow(path, folder))) === true;
  const ports = (a: readonly number[] | undefined, b: readonly number[] | undefined) =>
    !b || a?.every((port) => b.includes(port)) === true;
  return (
    folders(inner.readable, outer.readable) &&
    folders(inner.listable, outer.listable) &&
    folders(inner.writable, outer.writable) &&
    ports(inner.connectPorts, outer.connectPorts) &&
    ports(inner.bindPorts, outer.bindPorts)
  );
}

/** Leaves out paths that do not exist at the start: allowing a folder above them would permit too much. */
function existing(path: string): string[] {
  try {
    return [realpathSync.native(path)];
  } catch {
    return [];
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/**
 * /proc/self means another process for each reader. A folder rule alone permits to list it, not to read the
 * files in it.
 */
function toRead({ path, exact }: PathReach): string[] {
  if (isAtOrBelow(path, "/proc")) return ["/proc"];
  return existing(path).filter((found) => !(exact && isFolder(found)));
}

function toList({ path, exact }: PathReach): string[] {
  return exact ? existing(path).filter(isFolder) : [];
}

/** Creating or removing a file changes its folder; a device is only written to. */
function toWrite({ path, exact }: PathReach): string[] {
  if (!exact || isDevice(path)) return existing(path);
  return existing(dirname(path)).filter((folder) => folder !== "/");
}

function isDevice(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isCharacterDevice() === true;
}
