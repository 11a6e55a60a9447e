import type { Fault, Verdict } from "../../nouns/verdict.js";
import { ANSWER, DOOR } from "../binding/layout.js";
import type { StopAnswer } from "../binding/stop.js";
import type { DecodedCall } from "../decode/call.js";
import { change } from "./change.js";
import { type AfterCall, type Door, NotPossible } from "./door.js";
import { allowCall, type OnBehalfTest, WITH_LISTENER, WITHOUT_LISTENER } from "./on-behalf.js";
import { refuse, toErrno, toSignal, writeEmulation } from "./refuse.js";

/** ptrace: can change everything, and sees returns. A traced program cannot be debugged by another tracer. */
export const traceDoor: Door = door(WITH_LISTENER);

/**
 * The trace door without a listener, as for a running program that may have no filter. It cannot hand out
 * descriptors, and a blocking on-behalf call would delay all other tracees. So such calls continue as the
 * program makes them.
 */
export const traceDoorAlone: Door = door(WITHOUT_LISTENER);

function door(onBehalf: OnBehalfTest): Door {
  return {
    name: "trace",
    number: DOOR.trace,
    can: () => true,
    canLater: () => true,
    carryOut: (event, verdict, answer, after) => carryOut(event, verdict, answer, after, onBehalf),
  };
}

function carryOut(
  event: DecodedCall,
  verdict: Verdict,
  answer: StopAnswer,
  after: AfterCall,
  onBehalf: OnBehalfTest,
): void {
  switch (verdict.action) {
    case "allow":
      allowCall(event, answer, onBehalf);
      return;
    case "kill":
      answer.begin(ANSWER.kill);
      return;
    case "emulate":
      writeEmulation(event, verdict.emulation!, answer);
      return;
    case "modify":
      allowCall(event, answer, onBehalf);
      change(event, verdict.change!, answer, after, onBehalf);
      return;
    case "fault":
      carryOutFault(event, verdict.fault!, answer, onBehalf);
      return;
    default:
      refuse(answer, verdict);
  }
}

function carryOutFault(event: DecodedCall, fault: Fault, answer: StopAnswer, onBehalf: OnBehalfTest): void {
  if (fault.errno !== undefined) answer.begin(ANSWER.return).result(-toErrno(fault.errno));
  else allowCall(event, answer, onBehalf);
  if (fault.signal !== undefined) answer.signal(toSignal(fault.signal));
  if (fault.short === undefined || fault.errno !== undefined) return;
  const { count } = event.shape;
  if (count < 0) throw new NotPossible(`${event.name} transfers no counted bytes that could be shortened`);
  if (event.stop.ulong(count) > fault.short) answer.register(count, fault.short);
}
