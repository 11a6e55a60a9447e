import type { ReadRefusal } from "../../policy/policy.js";
import type { Mask } from "../binding/fence-plan.js";
import type { HiddenFile } from "./hidden-files.js";

/** What a mask covers. */
export interface MaskedFile {
  readonly path: string;
  /** The rule that refuses it; a raw device is refused without one. */
  readonly by?: ReadRefusal;
}

/** The launcher's orders for hidden files, and which file each of them is about. */
export function masksOf(hidden: readonly HiddenFile[]): { masks: Mask[]; files: MaskedFile[] } {
  const masks: Mask[] = [];
  const files: MaskedFile[] = [];
  for (const { path, by, files: inside } of hidden) {
    const folder = masks.length;
    masks.push({ path, ...(!inside && { target: targetOf(by) }) });
    files.push({ path, ...(by && { by }) });
    for (const below of inside ?? []) {
      masks.push({ path: below, target: targetOf(by), folder });
      files.push({ path: `${path}/${below}`, ...(by && { by }) });
    }
  }
  return { masks, files };
}

/**
 * Where the link leads that covers a file. /proc has no such name: ENOENT, also for a program that would create it. The
 * working directory of the first process is closed to every program of the run: EACCES.
 */
function targetOf(by: ReadRefusal | undefined): string {
  const { policy, rule, errno } = by ?? { policy: "hermes", rule: "raw-device", errno: "EACCES" };
  return `${errno === "ENOENT" ? "/proc" : "/proc/1/cwd"}/hidden/${policy}/${rule}`;
}
