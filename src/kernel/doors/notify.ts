import type { Syscall } from "../../abi/index.js";
import type { CallChange, Verdict, VerdictAction } from "../../nouns/verdict.js";
import { ANSWER, DOOR } from "../binding/layout.js";
import type { StopAnswer } from "../binding/stop.js";
import type { DecodedCall } from "../decode/call.js";
import { callShape } from "../decode/call-shape.js";
import { change } from "./change.js";
import { type AfterCall, type Door, NotPossible } from "./door.js";
import { allowCall, isMadeOnBehalf, makeOnBehalf } from "./on-behalf.js";
import { refuse, toErrno, toSignal, writeEmulation } from "./refuse.js";

/**
 * seccomp user notification: the usual door for decisions. It can refuse a call, emulate it, or make it on
 * behalf of the program, and then with other arguments. It cannot change a call that the program makes itself.
 * The program can still use ptrace.
 */
export const notifyDoor: Door = {
  name: "notify",
  number: DOOR.notify,

  can(call: Syscall, action: VerdictAction): boolean {
    if (action === "modify") return false;
    if (action === "fault") return callShape(call).count < 0; // a short transfer needs a changed register
    if (action === "emulate") return call.returns !== "fd"; // a virtual file needs a changed path
    return true;
  },

  canLater(call: Syscall, action: VerdictAction): boolean {
    return isMadeOnBehalf(call) || this.can(call, action);
  },

  carryOut(event: DecodedCall, verdict: Verdict, answer: StopAnswer): void {
    switch (verdict.action) {
      case "allow":
        allowCall(event, answer);
        return;
      case "kill":
        answer.begin(ANSWER.kill);
        return;
      case "emulate":
        if (verdict.emulation!.content !== undefined)
          throw new NotPossible("the notify door cannot hand out a virtual file");
        writeEmulation(event, verdict.emulation!, answer);
        return;
      case "fault": {
        const { errno, signal, short } = verdict.fault!;
        if (errno !== undefined) answer.begin(ANSWER.return).result(-toErrno(errno));
        else if (short === undefined) allowCall(event, answer);
        else shorten(event, short, answer);
        if (signal !== undefined) answer.signal(toSignal(signal));
        return;
      }
      case "modify":
        changeOnBehalf(event, verdict.change!, answer);
        return;
      default:
        refuse(answer, verdict);
    }
  },
};

/** A call that continues would be made as the program made it. */
function beginOnBehalf(event: DecodedCall, answer: StopAnswer): void {
  allowCall(event, answer);
  if (answer.action === ANSWER.onBehalf) return;
  const isPlain = answer.action === ANSWER.continue && !event.looked && isMadeOnBehalf(event.call);
  if (!isPlain)
    throw new NotPossible(
      `this ${event.name} cannot be changed at the notify door; start the run with --live, or with this policy`,
    );
  makeOnBehalf(event, answer, event.names);
}

function changeOnBehalf(event: DecodedCall, wanted: CallChange, answer: StopAnswer): void {
  const after: AfterCall = { restore: [] };
  if (wanted.to === undefined) beginOnBehalf(event, answer);
  else if (!isMadeOnBehalf(event.call))
    throw new NotPossible(`the notify door cannot redirect ${event.name}`);
  change(event, wanted, answer, after);
  if (after.wrote)
    throw new NotPossible(
      `at the notify door, the new data of ${event.name} must have the same length (${after.wrote.asked} bytes)`,
    );
}

function shorten(event: DecodedCall, most: number, answer: StopAnswer): void {
  const { count } = event.shape;
  if (count < 0) throw new NotPossible(`${event.name} transfers no counted bytes that could be shortened`);
  if (event.stop.ulong(count) <= most) {
    allowCall(event, answer);
    return;
  }
  beginOnBehalf(event, answer);
  answer.register(count, most);
}
