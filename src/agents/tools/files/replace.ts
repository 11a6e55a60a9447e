import { randomBytes } from "node:crypto";
import { type BigIntStats, constants, fstatSync, lstatSync, renameSync, unlinkSync } from "node:fs";
import { type FileHandle, link, open, rename, unlink } from "node:fs/promises";
import type { Stamp } from "../../../intent/guard/files/tracker.js";
import { escapeControl } from "../../../nouns/text.js";
import { leftover } from "../scratch.js";
import { ToolError } from "../tool.js";
import type { FileLocation } from "./file-location.js";
import { stampOf } from "./pin.js";

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY, O_RDONLY, O_DIRECTORY } = constants;

/**
 * Replaces a file atomically: a reader sees the old content or the new, also after a crash. The new file keeps permissions
 * and owner. A file that appears under the name meanwhile is not overwritten.
 */
export async function replaceFile(
  { folder, name, existing }: FileLocation,
  bytes: Uint8Array,
): Promise<Stamp> {
  const target = `${folder.way}/${name}`;
  const temporary = `.hermes-${randomBytes(8).toString("hex")}.tmp`;
  const done = await leftover(`${folder.path}/${temporary}`);
  const way = `${folder.way}/${temporary}`;
  try {
    const handle = await open(way, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, existing ? 0o600 : 0o666);
    try {
      await handle.writeFile(bytes);
      if (existing) await keepOwner(handle, existing.info);
      await handle.sync();
      if (existing) swap(way, target, existing.info);
      else await place(way, target);
      const stamp = stampOf(fstatSync(handle.fd, { bigint: true }));
      await syncFolder(folder.way);
      return stamp;
    } finally {
      await handle.close();
    }
  } finally {
    await unlink(way).catch(() => {});
    await done();
  }
}

/** A write clears the setuid bits, as the kernel does for every write. */
async function keepOwner(handle: FileHandle, { uid, gid, mode }: BigIntStats): Promise<void> {
  const own = await handle.stat({ bigint: true });
  if (own.uid !== uid || own.gid !== gid) await handle.chown(Number(uid), Number(gid));
  await handle.chmod(Number(mode) & 0o1777);
}

/** Check and rename without a pause in between: of two calls in this process that change the same version, one fails. */
function swap(way: string, target: string, before: BigIntStats): void {
  if (stampOf(lstatSync(target, { bigint: true })) !== stampOf(before)) throw changed(target);
  renameSync(way, target);
}

/** link(2) instead of rename(2): it never replaces an existing file. Some file systems have no hard links. */
async function place(way: string, target: string): Promise<void> {
  try {
    await link(way, target);
    unlinkSync(way);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") throw changed(target);
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP") throw error;
    await rename(way, target);
  }
}

function changed(target: string): ToolError {
  const name = target.slice(target.lastIndexOf("/") + 1);
  return new ToolError(
    "changed-since-read",
    `${escapeControl(name)} has changed since it was read: read it again first.`,
  );
}

/** A new name is durable once its folder is synced. A folder that cannot be opened for reading cannot be synced. */
async function syncFolder(way: string): Promise<void> {
  const handle = await open(way, O_RDONLY | O_DIRECTORY).catch(() => undefined);
  try {
    await handle?.sync();
  } finally {
    await handle?.close();
  }
}
