import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, readlinkSync } from "node:fs";
import { lstat, mkdtemp, readdir, readlink, rm, symlink, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { readStat } from "../../kernel/process/proc.js";

/**
 * Folders that must not outlive their process. The name identifies the owner (boot, pid namespace, process and its start
 * time), so the next process can tell which owners are dead.
 */
const PREFIX = "hermes-scratch";
const NAME = /^hermes-scratch-([0-9a-f]{8})-(\d+)-(\d+)-(\d+)-\w{6}$/;
/** Files that `leftover` may name: nothing else is removed from folders of others. */
const TEMPORARY = /^\.hermes-[0-9a-f]{16}\.tmp$/;
const LEFTOVER = "leftover";

/** A new folder that only this user can enter. */
export function scratchFolder(parent: string = tmpdir()): Promise<string> {
  return mkdtemp(
    join(parent, `${PREFIX}-${boot()}-${namespace()}-${process.pid}-${readStat("self")?.start}-`),
  );
}

/** Removes it with all its contents: folders without permissions, names of any bytes, paths of any length. */
export async function removeScratch(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true });
  } catch {
    await run("chmod", ["-R", "u+rwx", "--", folder]);
    await run("rm", ["-rf", "--one-file-system", "--", folder]);
    if (existsSync(folder)) throw new Error(`cannot remove ${folder}`);
  }
}

/** Removes folders of dead processes. Those that cannot be removed are retried the next time. */
export async function sweepScratch(parent: string = tmpdir()): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    const owner = NAME.exec(name);
    const folder = join(parent, name);
    if (!owner || !isGone(owner) || !(await isOurs(folder))) continue;
    await removeLeftover(join(folder, LEFTOVER));
    await removeScratch(folder).catch(() => {});
  }
}

/** Registers a temporary file elsewhere before it is created. Call the returned function after removing the file. */
export async function leftover(file: string): Promise<() => Promise<void>> {
  const folder = await scratchFolder();
  await symlink(file, join(folder, LEFTOVER));
  return () => removeScratch(folder);
}

async function removeLeftover(note: string): Promise<void> {
  const file = await readlink(note).catch(() => "");
  if (!TEMPORARY.test(basename(file))) return;
  const info = await lstat(file).catch(() => undefined);
  if (info?.isFile() && info.uid === process.getuid?.()) await unlink(file).catch(() => {});
}

async function isOurs(folder: string): Promise<boolean> {
  const info = await lstat(folder).catch(() => undefined);
  return info?.isDirectory() === true && info.uid === process.getuid?.();
}

/** From another boot: the owner is dead. From another pid namespace: it cannot be known from here. */
function isGone([, itsBoot, itsNamespace, pid, start]: RegExpExecArray): boolean {
  if (itsBoot !== boot()) return true;
  return itsNamespace === namespace() && String(readStat(Number(pid))?.start) !== start;
}

function boot(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "latin1").slice(0, 8);
}

function namespace(): string {
  return /\d+/.exec(readlinkSync("/proc/self/ns/pid"))![0];
}

async function run(program: string, args: readonly string[]): Promise<void> {
  await once(spawn(program, args, { stdio: "ignore" }), "exit");
}
