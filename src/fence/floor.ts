import { realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Policy, Reach } from "../policy/policy.js";
import { commonFolders, commonPorts, lies } from "./options.js";

/** What several policies permit together at most, in folders and files that are there. Absent: no limit is known. */
export interface Floor {
  readonly readable?: readonly string[];
  /** Folders whose names may be seen, but not what is in the files. */
  readonly listable?: readonly string[];
  readonly writable?: readonly string[];
  readonly connectPorts?: readonly number[];
  readonly bindPorts?: readonly number[];
}

export function floorOf(policies: readonly Policy[]): Floor {
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

/** Whether everything that `inner` permits is permitted by `outer`. */
export function within(inner: Floor, outer: Floor): boolean {
  const folders = (a: readonly string[] | undefined, b: readonly string[] | undefined) =>
    !b || a?.every((path) => b.some((folder) => lies(path, folder))) === true;
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

/** What is not there when the run starts is left out: a folder above it would be too much. */
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

/** Whose process is meant by /proc/self depends on who asks. A folder alone is listed; what is in it is not read. */
function toRead({ path, exact }: Reach): string[] {
  if (lies(path, "/proc")) return ["/proc"];
  return existing(path).filter((found) => !(exact && isFolder(found)));
}

function toList({ path, exact }: Reach): string[] {
  return exact ? existing(path).filter(isFolder) : [];
}

/** To make or remove a file is to change its folder; a device is only written to. */
function toWrite({ path, exact }: Reach): string[] {
  if (!exact || isDevice(path)) return existing(path);
  return existing(dirname(path)).filter((folder) => folder !== "/");
}

function isDevice(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isCharacterDevice() === true;
}
