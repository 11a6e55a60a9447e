import { ON_SOCKETS, rereadOf, type Syscall } from "../abi/index.js";
import type { DecodedCall } from "../decode/call.js";
import { ANSWER } from "../kernel/layout.js";
import type { Answer } from "../kernel/stop.js";
import { sharesDescriptors } from "../process/sharing.js";

/**
 * Calls that are made in the program's place when they are allowed: native/act.c has each of them. What they reach was
 * pinned when it was decided on, and what they need of the program's memory was copied, so that nothing the program does
 * meanwhile can lead them elsewhere. The others go on as the program made them.
 */
export function hasAct(call: Syscall): boolean {
  return rereadOf(call) === "on behalf";
}

const EACCES = 13;

/** Which calls can be made in the program's place. */
export type Acting = (call: Syscall) => boolean;

export const BY_LISTENER: Acting = hasAct;
/** Without a listener: none that gives a descriptor, and none that may wait. */
const MAY_WAIT = new Set([...ON_SOCKETS.split(" "), "fallocate", "truncate"]);
export const ALONE: Acting = (call) => hasAct(call) && call.returns !== "fd" && !MAY_WAIT.has(call.name);

/** The call may happen: with what was decided on, or, where nobody looked, as the program made it. */
export function letHappen(event: DecodedCall, answer: Answer, acting: Acting = BY_LISTENER): void {
  const inItsPlace =
    event.looked &&
    acting(event.call) &&
    (event.changesDescriptor ? !canMakeItself(event) : isOnWhatItNames(event));
  if (inItsPlace) makeInItsPlace(event, answer, event.names);
  else if (runsUnseen(event)) answer.begin(ANSWER.return).result(-EACCES);
  else answer.begin(ANSWER.continue);
}

/** It was judged by a name that we could not follow: the kernel must not follow it either. */
function runsUnseen(event: DecodedCall): boolean {
  return event.looked && event.shape.argv >= 0 && event.unreachable === EACCES;
}

function isOnWhatItNames(event: DecodedCall): boolean {
  return (
    !event.shape.changesDescriptor && !pointsNowhere(event) && !onlyNames(event) && !limitsAnother(event)
  );
}

/** A signal says who sent it. Where nobody can exchange the descriptor meanwhile, the program sends it itself. */
function canMakeItself({ call, tid }: DecodedCall): boolean {
  return call.name === "pidfd_send_signal" && !sharesDescriptors(tid);
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

/**
 * Hands what is known of the program's memory over to a call that is made in its place. Returns what a person should hear
 * when it is too much; then the call is refused.
 */
export function handOver(event: DecodedCall, answer: Answer): string | undefined {
  const { known } = event;
  if (answer.action !== ANSWER.act || known.length === 0) return undefined;
  try {
    answer.seen(known);
    return undefined;
  } catch (error) {
    answer.begin(ANSWER.return).result(-EACCES);
    return `${event.name} was denied: ${(error as Error).message}`;
  }
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

/** Only one's own limits are set in one's place. */
function limitsAnother({ name, stop, process }: DecodedCall): boolean {
  const pid = stop.int(0);
  return name === "prlimit64" && pid !== 0 && pid !== (process.innerPid ?? process.pid);
}
