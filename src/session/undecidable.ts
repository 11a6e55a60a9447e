import type { Syscall } from "../abi/index.js";
import { AT_FDCWD, errnoValue } from "../abi/named.js";
import { ANSWER, DOOR } from "../kernel/binding/layout.js";
import type { StopAnswer } from "../kernel/binding/stop.js";
import type { DecodedCall } from "../kernel/decode/call.js";
import { AT_EMPTY_PATH } from "../kernel/decode/call-shape.js";
import { isMadeOnBehalf, makeOnBehalf } from "../kernel/doors/on-behalf.js";
import { type Decision, deny } from "../nouns/verdict.js";
import { callEffects } from "../policy/call-effects.js";
import type { PolicyStack } from "../policy/stack.js";

/** Calls that no policy can decide on safely: their memory cannot be read, or the kernel will read it a second time. */

const EBADF = errnoValue("EBADF");
const EFAULT = errnoValue("EFAULT");
const ENAMETOOLONG = errnoValue("ENAMETOOLONG");
/** No user memory lies there: a pointer to it gives the kernel's own EFAULT, in the kernel's own order of checks. */
const NOWHERE = 0xffff_ffff_ffff_f000n;

/** Calls whose path cannot be NULL. For others it means a descriptor, or nothing. */
const NEVER_NULL: ReadonlySet<string> = new Set(
  [
    "open openat openat2 creat stat lstat access faccessat statfs truncate chdir chroot execve readlink readlinkat",
    "rename renameat renameat2 link unlink unlinkat symlink symlinkat mkdir mkdirat rmdir mknod mknodat pivot_root",
    "chmod fchmodat chown lchown utime utimes inotify_add_watch umount2 swapon swapoff uselib",
    "setxattr lsetxattr getxattr lgetxattr listxattr llistxattr removexattr lremovexattr",
  ].flatMap((names) => names.split(" ")),
);

/** … unless their flags say that it means the descriptor, which a newer kernel may allow. */
const UNLESS_EMPTY: ReadonlySet<string> = new Set(["linkat", "fchmodat2", "fchownat", "faccessat2"]);

/** A call of a newer kernel than our tables cover. */
export function unknownCall(nr: number): Syscall {
  const args = Array.from({ length: 6 }, (_, i) => ({
    name: `arg${i}`,
    kind: "address" as const,
    width: 64 as const,
  }));
  return { nr, name: `syscall_${nr}`, args, classes: [], returns: "value" };
}

/**
 * Answers a call whose path or address cannot be read. What the kernel would refuse, it refuses itself; what only HERMES
 * cannot read is denied.
 */
export function unreadableArgument(
  event: DecodedCall,
  answer: StopAnswer,
  alone = false,
): Decision | undefined {
  const { args } = event.call;
  for (let i = 0; i < args.length; i++) {
    const error = readError(event, i);
    if (error === 0) continue;
    if (error === EFAULT && event.stop.door === DOOR.trace)
      answer.begin(ANSWER.continue).register(i, NOWHERE);
    else if (!alone && args[i]!.kind === "path" && isMadeOnBehalf(event.call))
      makeOnBehalf(event, answer, []); // it fails, with the kernel's error that comes first
    else answer.begin(ANSWER.return).result(-error);
    const reason = `argument ${args[i]!.name} of ${event.name} cannot be read`;
    return { ...deny(reason, error), rule: "unreadable", policy: "hermes", version: "" };
  }
  return undefined;
}

/** The kernel's errno for an argument whose memory could not be copied; 0 for one that was, or need not be. */
function readError(event: DecodedCall, i: number): number {
  const { stop, shape, call } = event;
  if (stop.isNull(i)) return 0;
  if (i === shape.argv) return event.argvError;
  if (!stop.has(i)) return 0;
  return stop.slotTruncated(i) && call.args[i]!.kind === "path" ? ENAMETOOLONG : stop.slotError(i);
}

/**
 * The error that the kernel gives before it looks at anything that a policy decides on, or 0: the descriptor of the file
 * is not open, or a path is NULL. Then there is nothing to refuse.
 */
export function kernelError(event: DecodedCall): number {
  const { call, fd, stop } = event;
  const isOnFile = call.args[0]?.kind === "fd" && callEffects(call.nr).some(({ on }) => on.kind === "fd");
  if (isOnFile && stop.int(0) !== AT_FDCWD && fd?.isMissing) return EBADF;
  return namesNothing(event) ? EFAULT : 0;
}

/** A path is NULL, in a register that cannot change: the kernel fails the call, whatever else it is about. */
export function namesNothing(event: DecodedCall): boolean {
  const { call, stop } = event;
  const isNeeded =
    NEVER_NULL.has(call.name) || (UNLESS_EMPTY.has(call.name) && !(event.flagBits() & AT_EMPTY_PATH));
  return isNeeded && call.args.some(({ kind }, i) => kind === "path" && stop.isNull(i));
}

/** A decided call that has an older equivalent is reported as not implemented, so that the program falls back. */
export function isAbsent({ shape }: DecodedCall): boolean {
  return shape.reread === "absent";
}

/**
 * The kernel reads the arguments of some calls again after the decision (abi/reread.ts). Such a call is refused where the
 * decision rests on them, or where a person would be shown them.
 */
export function withReread({ call, shape }: DecodedCall, decision: Decision, stack: PolicyStack): Decision {
  const { action } = decision;
  if (shape.reread !== "refused" || action === "deny" || action === "kill" || action === "emulate")
    return decision;
  if (action !== "ask" && !stack.restsOnMemory(call.nr)) return decision;
  const reason = `the kernel reads the arguments of ${call.name} a second time, so rules on them cannot be enforced`;
  return { ...deny(reason, "EPERM"), rule: "reread", policy: "hermes", version: "" };
}
