import { type Syscall, syscallByName } from "../abi/index.js";
import type { EffectRow } from "./effect-row.js";
import type { CallEffect } from "./effects.js";
import { ON_FILES } from "./effects-on-files.js";
import { ON_OTHERS } from "./effects-on-others.js";

/**
 * Which calls have an effect, on which argument, and under which flags. A call may have several rows: rename
 * removes a name at one path and creates one at another, and a policy judges each separately.
 *
 * A row may carry several words. The broad one (`write`) comes with the narrow one (`chmod`), so that a rule
 * may use either. If one row has two unrelated words, it must be safe to allow either.
 */
const TABLE: readonly EffectRow[] = [...ON_FILES, ...ON_OTHERS];

/** These names mean another file to each process, or nothing to others: verdicts on them are never cached. */
export const NEVER_CACHED: readonly string[] = ["/proc/**", "/memfd:*/**"];

/** Calls on one path, or on one descriptor, whose effect depends only on their flags. */
export const ON_ONE_FILE: ReadonlySet<string> = new Set(
  [
    "open openat creat stat lstat access newfstatat faccessat faccessat2 statx readlink readlinkat statfs",
    "mkdir mkdirat unlink unlinkat rmdir truncate chmod fchmodat fchmodat2 chown lchown fchownat",
    "utime utimes futimesat utimensat getxattr lgetxattr listxattr llistxattr",
    "fchmod fchown ftruncate fallocate fsetxattr fremovexattr",
  ].flatMap((names) => names.split(" ")),
);

/** Every effect of the table, one call each. */
export const CALL_EFFECTS: readonly CallEffect[] = TABLE.flatMap(
  ({ calls, does, on, holds, when, subtree }) =>
    calls.split(" ").map((name) => {
      const call = syscallByName(name);
      if (!call) throw new Error(`effects: no system call ${name}`);
      return { call, does, on, ...(holds && { holds }), ...(when && { when }), ...(subtree && { subtree }) };
    }),
);

/** Calls that can change a file by a descriptor alone, and what they are besides. */
const ON_OPEN_FILES = new Set(
  CALL_EFFECTS.filter(({ does }) => does.includes("fsetattr")).map(({ call }) => call),
);
const takesPath = ({ args }: Syscall) => args.some(({ kind }) => kind === "path");
/** … always. */
export const BY_DESCRIPTOR = [...ON_OPEN_FILES].filter((call) => !takesPath(call)).map(({ nr }) => nr);
/** … where they are given no path. */
export const BY_DESCRIPTOR_OR_PATH = [...ON_OPEN_FILES].filter(takesPath).map(({ nr }) => nr);

let byCall: Map<number, CallEffect[]> | undefined;

export function callEffects(nr: number): readonly CallEffect[] {
  if (!byCall) {
    byCall = new Map();
    for (const effect of CALL_EFFECTS) {
      const known = byCall.get(effect.call.nr);
      if (known) known.push(effect);
      else byCall.set(effect.call.nr, [effect]);
    }
  }
  return byCall.get(nr) ?? [];
}
