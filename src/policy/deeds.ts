import { syscallByName } from "../abi/index.js";
import type { Row } from "./deed-row.js";
import { ON_FILES } from "./deeds-on-files.js";
import { ON_OTHERS } from "./deeds-on-others.js";
import type { Deed } from "./effects.js";

/**
 * Which calls have an effect, which argument it falls on, and under which flags. A call may have several rows: rename
 * takes something away at one path and puts it at another, and a policy judges each on its own.
 *
 * A row may carry several words. The broad one (`write`) comes with the narrow one (`chmod`), so that a rule may name
 * either. Where one row has two unrelated words, allowing either must be harmless.
 */
const TABLE: readonly Row[] = [...ON_FILES, ...ON_OTHERS];

/** The names of these mean something else to each process, or nothing to anybody else: no answer stands for them. */
export const UNSETTLED: readonly string[] = ["/proc/**", "/memfd:*/**"];

/** Calls on one path, or on one descriptor: what they do to it depends on their flags, and on nothing else. */
export const ON_ONE_FILE: ReadonlySet<string> = new Set(
  [
    "open openat creat stat lstat access newfstatat faccessat faccessat2 statx readlink readlinkat statfs",
    "mkdir mkdirat unlink unlinkat rmdir truncate chmod fchmodat fchmodat2 chown lchown fchownat",
    "utime utimes futimesat utimensat getxattr lgetxattr listxattr llistxattr",
    "fchmod fchown ftruncate fallocate fsetxattr fremovexattr",
  ].flatMap((names) => names.split(" ")),
);

/** Every deed of the table, one call each. */
export const DEEDS: readonly Deed[] = TABLE.flatMap(({ calls, does, on, holds, when, subtree }) =>
  calls.split(" ").map((name) => {
    const call = syscallByName(name);
    if (!call) throw new Error(`effects: no system call ${name}`);
    return { call, does, on, ...(holds && { holds }), ...(when && { when }), ...(subtree && { subtree }) };
  }),
);

let byCall: Map<number, Deed[]> | undefined;

export function deedsOf(nr: number): readonly Deed[] {
  if (!byCall) {
    byCall = new Map();
    for (const deed of DEEDS) {
      const known = byCall.get(deed.call.nr);
      if (known) known.push(deed);
      else byCall.set(deed.call.nr, [deed]);
    }
  }
  return byCall.get(nr) ?? [];
}
