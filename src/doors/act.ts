import type { Syscall } from "../abi/index.js";
import type { DecodedCall } from "../decode/call.js";
import { shapeOf } from "../decode/shape.js";
import { ANSWER } from "../kernel/layout.js";
import type { Answer } from "../kernel/stop.js";

/**
 * Calls that are made in the program's place when they are allowed: native/act.c has each of them. What they reach was
 * pinned when it was decided on, so that nothing the program does meanwhile can lead them elsewhere. The others go on as
 * the program made them.
 */
const ON_FILES = [
  "open openat openat2 creat",
  "stat lstat newfstatat statx statfs access faccessat faccessat2 readlink readlinkat",
  "mkdir mkdirat mknod mknodat unlink unlinkat rmdir",
  "rename renameat renameat2 link linkat symlink symlinkat",
  "chmod fchmodat fchmodat2 chown lchown fchownat truncate utime utimes futimesat utimensat",
  "setxattr lsetxattr getxattr lgetxattr listxattr llistxattr removexattr lremovexattr",
  "name_to_handle_at inotify_add_watch",
];
const ON_SOCKETS = "connect bind sendto sendmsg sendmmsg";
const ACTS = new Set([...ON_FILES, ON_SOCKETS].flatMap((names) => names.split(" ")));

export function hasAct(call: Syscall): boolean {
  return ACTS.has(call.name) || shapeOf(call).changesDescriptor;
}

/** Which calls can be made in the program's place. */
export type Acting = (call: Syscall) => boolean;

export const BY_LISTENER: Acting = hasAct;
/** Without a listener: none that gives a descriptor, and none that may wait. */
const MAY_WAIT = new Set([...ON_SOCKETS.split(" "), "fallocate", "truncate"]);
export const ALONE: Acting = (call) => hasAct(call) && call.returns !== "fd" && !MAY_WAIT.has(call.name);

/** The call may happen: with what was decided on, or, where nobody looked, as the program made it. */
export function letHappen(event: DecodedCall, answer: Answer, acting: Acting = BY_LISTENER): void {
  const inItsPlace =
    event.looked && acting(event.call) && (event.changesDescriptor || isOnWhatItNames(event));
  if (inItsPlace) makeInItsPlace(event, answer, event.names);
  else answer.begin(ANSWER.continue);
}

function isOnWhatItNames(event: DecodedCall): boolean {
  return !event.shape.changesDescriptor && !pointsNowhere(event) && !onlyNames(event);
}

export function makeInItsPlace(
  event: DecodedCall,
  answer: Answer,
  names: readonly (Uint8Array | undefined)[],
): void {
  answer.begin(ANSWER.act, event.pinAll());
  if (event.how) answer.how(event.how);
  if (names.length > 0) answer.addresses(names);
}

/** A NULL in a register cannot become an address or a path afterwards. */
function pointsNowhere({ shape, stop }: DecodedCall): boolean {
  const [path] = shape.paths;
  const pointer = path ?? (shape.address >= 0 ? shape.address : undefined);
  return pointer !== undefined && stop.isNull(pointer);
}

/**
 * A descriptor of O_PATH cannot be handed to another process, and need not be: it gives access to nothing, and whatever
 * is done with it later is judged by what it refers to. But the flags of an openat2 lie in memory that may change.
 */
function onlyNames(event: DecodedCall): boolean {
  return event.call.returns === "fd" && event.shape.how < 0 && event.flags.includes("O_PATH");
}
