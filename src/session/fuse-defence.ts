import { syscallByName } from "../abi/index.js";
import type { CallEvent, HeldFile } from "../nouns/event.js";
import { deny, type Verdict } from "../nouns/verdict.js";

/**
 * A FUSE file system served by a program of the session answers only while that program runs. If the
 * supervisor resolves a path in it, the supervisor waits for the program, and the program for the supervisor:
 * a deadlock. So sessions refuse FUSE mounts.
 */

export const NO_FUSE: Verdict = {
  ...deny(
    "HERMES resolves paths. In a file system that a program of this session serves (FUSE), it would wait for that program, which waits for HERMES. Mount it outside, before the run.",
    "EPERM",
  ),
  rule: "self-defence",
};

const MISC = 10;
const FUSE = 229;
const CUSE = 203;
const TYPES = /^fuse(blk)?(\.|$)/;
const MOUNT = syscallByName("mount").nr;
const FSOPEN = syscallByName("fsopen").nr;
const OPENS = new Set(["open", "openat", "openat2", "creat"].map((name) => syscallByName(name)!.nr));

/** Calls that mount a file system of a named type. */
export const MOUNTS: readonly number[] = [MOUNT, FSOPEN];

export function mountsFuse(event: CallEvent): boolean {
  if (event.nr !== MOUNT && event.nr !== FSOPEN) return false;
  const args = event.args as Readonly<Record<string, unknown>>;
  const type = event.nr === MOUNT ? args.type : args.fs_name;
  return typeof type === "string" && TYPES.test(type);
}

/** True when it opens the FUSE device, under any name. */
export function opensFuse(event: CallEvent & { readonly pinnedFile?: HeldFile }): boolean {
  const device = OPENS.has(event.nr) ? event.pinnedFile?.device : undefined;
  return device !== undefined && major(device) === MISC && [FUSE, CUSE].includes(minor(device));
}

function major(device: number): number {
  return (device >> 8) & 0xfff;
}

function minor(device: number): number {
  return (device & 0xff) | ((device >> 12) & 0xfff00);
}
