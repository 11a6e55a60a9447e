import { randomBytes } from "node:crypto";
import { type BigIntStats, constants, fstatSync, lstatSync, renameSync, unlinkSync } from "node:fs";
import { type FileHandle, link, open, rename, unlink } from "node:fs/promises";
import type { Stamp } from "../../guard/files/tracker.js";
import { harmless } from "../../text.js";
import { leftover } from "../scratch.js";
import { ToolError } from "../tool.js";
import { stampOf } from "./pin.js";
import type { Place } from "./place.js";

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY, O_RDONLY, O_DIRECTORY } = constants;

/**
 * Puts a whole file in place at once: whoever opens it sees the old content or the new one, also after a crash. A file
 * that is replaced keeps its permissions and its owner. What appears under the name in the meantime is not overwritten.
 */
export async function replaceFile({ folder, name, existing }: Place, bytes: Uint8Array): Promise<Stamp> {
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

/** As with every write, a program that ran as its owner does not with a new content. */
async function keepOwner(handle: FileHandle, { uid, gid, mode }: BigIntStats): Promise<void> {
  const own = await handle.stat({ bigint: true });
  if (own.uid !== uid || own.gid !== gid) await handle.chown(Number(uid), Number(gid));
  await handle.chmod(Number(mode) & 0o1777);
}

/** Both at once, as far as this process goes: of two calls that change the same state of a file, one is told. */
function swap(way: string, target: string, before: BigIntStats): void {
  if (stampOf(lstatSync(target, { bigint: true })) !== stampOf(before)) throw changed(target);
  renameSync(way, target);
}

/** A second name in place of a rename: it never replaces anything. Some file systems have no second names. */
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
  return new ToolError("changed-since-read", `${harmless(name)} was changed just now: read it again first.`);
}

/** A new name is safe when its folder is. A folder that cannot be read cannot be synced either. */
async function syncFolder(way: string): Promise<void> {
  const handle = await open(way, O_RDONLY | O_DIRECTORY).catch(() => undefined);
  try {
    await handle?.sync();
  } finally {
    await handle?.close();
  }
}
