import { FLAGS, ON_SOCKETS, type Syscall } from "../../abi/index.js";
import { errnoValue } from "../../abi/named.js";
import { ANSWER } from "../binding/layout.js";
import { native } from "../binding/native.js";
import type { StopAnswer } from "../binding/stop.js";
import type { DecodedCall } from "../decode/call.js";
import { callShape } from "../decode/call-shape.js";
import { sharesDescriptors } from "../process/shared-descriptors.js";

/**
 * Calls that the supervisor makes on behalf of the program when they are allowed (native/on-behalf/on-behalf.c implements
 * each). Their files were pinned at the decision, and their memory was copied. So the program cannot redirect
 * them between time of check and time of use. All other calls continue as the program made them.
 */
export function isMadeOnBehalf(call: Syscall): boolean {
  return callShape(call).reread === "on behalf";
}

const IS_ROOT = process.getuid?.() === 0;
const SENDS: ReadonlySet<string> = new Set(["sendto", "sendmsg", "sendmmsg"]);
const EACCES = errnoValue("EACCES");
const { O_PATH } = FLAGS.open!.values as { readonly O_PATH: number };

/** Which calls can be made on behalf of the program. */
export type OnBehalfTest = (call: Syscall) => boolean;

export const WITH_LISTENER: OnBehalfTest = isMadeOnBehalf;
/** Without a listener: no call that returns a descriptor, and none that may block. */
const MAY_WAIT = new Set([...ON_SOCKETS.split(" "), "fallocate", "truncate"]);
export const WITHOUT_LISTENER: OnBehalfTest = (call) =>
  isMadeOnBehalf(call) && call.returns !== "fd" && !MAY_WAIT.has(call.name);

/**
 * Lets the call happen: on behalf, with the data that was decided on, or unchanged if no policy read its
 * arguments.
 */
export function allowCall(
  event: DecodedCall,
  answer: StopAnswer,
  onBehalf: OnBehalfTest = WITH_LISTENER,
): void {
  const inItsPlace =
    event.looked &&
    onBehalf(event.call) &&
    (event.changesDescriptor ? !sendsItself(event) : isOnWhatItNames(event));
  if (inItsPlace) makeOnBehalf(event, answer, event.names);
  else if (execsUnseen(event)) answer.begin(ANSWER.return).result(-EACCES);
  else answer.begin(ANSWER.continue);
}

/** The call was judged by a name that we could not resolve. The kernel must not resolve it either. */
function execsUnseen(event: DecodedCall): boolean {
  return event.looked && event.shape.argv >= 0 && event.unreachable === EACCES;
}

function isOnWhatItNames(event: DecodedCall): boolean {
  return (
    !event.shape.changesDescriptor &&
    !pointsNowhere(event) &&
    !onlyNames(event) &&
    !limitsAnother(event) &&
    !sendsToItsPeer(event)
  );
}

/**
 * A signal names its sender. If no other thread can exchange the descriptor, the program sends the signal
 * itself.
 */
function sendsItself({ call, tid }: DecodedCall): boolean {
  return call.name === "pidfd_send_signal" && !sharesDescriptors(tid);
}

/**
 * A Unix socket with a connection sends to its peer, whatever address the message carries (unix(7)). The kernel tells the
 * peer who sends (SO_PASSCRED). It lets only root name another process, so where we are not root the program sends the
 * message itself, unless it could exchange the descriptor, or a decision rests on what is sent.
 */
function sendsToItsPeer({ call, tid, readsBytes, stop }: DecodedCall): boolean {
  if (readsBytes || IS_ROOT || !SENDS.has(call.name)) return false;
  const number = stop.int(0);
  return isConnectedUnixSocket(tid, number) && !sharesDescriptors(tid);
}

const AF_UNIX = 1;
const SOCK_STREAM = 1;
const SOCK_SEQPACKET = 5;

function isConnectedUnixSocket(tid: number, number: number): boolean {
  const type = native().socketType(tid, number);
  if (type !== SOCK_STREAM && type !== SOCK_SEQPACKET) return false;
  const names = native().socketNames(tid, number);
  return typeof names !== "number" && names.readUInt32LE(0) >= 2 && names.readUInt16LE(4) === AF_UNIX;
}

export function makeOnBehalf(
  event: DecodedCall,
  answer: StopAnswer,
  names: readonly (Uint8Array | undefined)[],
): void {
  answer.begin(ANSWER.onBehalf, event.pinAll());
  if (event.how) answer.how(event.how);
  if (names.length > 0) answer.addresses(names);
}

/**
 * Passes the program memory that the decision read to an on-behalf call. If it does not fit, refuses the call
 * and returns the reason for the user.
 */
export function handOverMemory(event: DecodedCall, answer: StopAnswer): string | undefined {
  const { known } = event;
  if (answer.action !== ANSWER.onBehalf || known.length === 0) return undefined;
  try {
    answer.seen(known);
    return undefined;
  } catch (error) {
    answer.begin(ANSWER.return).result(-EACCES);
    return `${event.name} was denied: ${(error as Error).message}`;
  }
}

/** A NULL register cannot become an address or a path later. */
function pointsNowhere({ shape, stop }: DecodedCall): boolean {
  const [path] = shape.paths;
  const pointer = path ?? (shape.address >= 0 ? shape.address : undefined);
  return pointer !== undefined && stop.isNull(pointer);
}

/**
 * An O_PATH descriptor cannot be passed to another process. It need not be: it grants no access, and each
 * later use is judged by the file that it refers to. The flags of an openat2 lie in memory that may change,
 * so it does not qualify.
 */
function onlyNames(event: DecodedCall): boolean {
  const { call, shape, stop } = event;
  const flags = call.args[shape.flags];
  return call.returns === "fd" && flags?.flags === "open" && (stop.uint(shape.flags) & O_PATH) !== 0;
}

/** On behalf we set only the caller's own limits. */
function limitsAnother(event: DecodedCall): boolean {
  if (event.name !== "prlimit64") return false;
  const pid = event.stop.int(0);
  return pid !== 0 && pid !== (event.process.innerPid ?? event.process.pid);
}
