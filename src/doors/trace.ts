import type { DecodedCall } from "../decode/call.js";
import { ANSWER, DOOR } from "../kernel/layout.js";
import type { Answer } from "../kernel/stop.js";
import type { Fault, Verdict } from "../verdict.js";
import { type Acting, ALONE, BY_LISTENER, letHappen } from "./act.js";
import { change } from "./change.js";
import { type AfterCall, type Door, NotPossible } from "./door.js";
import { emulate, errnoOf, refuse, signalOf } from "./refuse.js";

/** ptrace: everything can be changed, and returns are seen. A traced program cannot itself be debugged. */
export const traceDoor: Door = door(BY_LISTENER);

/**
 * The same without a listener behind it, as for a program that runs already and may have no filter. A descriptor cannot
 * be handed out, and whoever waits long would keep all the others waiting: such calls go on as the program makes them.
 */
export const traceDoorAlone: Door = door(ALONE);

function door(acting: Acting): Door {
  return {
    name: "trace",
    number: DOOR.trace,
    can: () => true,
    carryOut: (event, verdict, answer, after) => carryOut(event, verdict, answer, after, acting),
  };
}

function carryOut(
  event: DecodedCall,
  verdict: Verdict,
  answer: Answer,
  after: AfterCall,
  acting: Acting,
): void {
  switch (verdict.action) {
    case "allow":
      letHappen(event, answer, acting);
      return;
    case "kill":
      answer.begin(ANSWER.kill);
      return;
    case "emulate":
      emulate(event, verdict.emulation!, answer);
      return;
    case "modify":
      letHappen(event, answer, acting);
      change(event, verdict.change!, answer, after, acting);
      return;
    case "fault":
      carryOutFault(event, verdict.fault!, answer, acting);
      return;
    default:
      refuse(answer, verdict);
  }
}

function carryOutFault(event: DecodedCall, fault: Fault, answer: Answer, acting: Acting): void {
  if (fault.errno !== undefined) answer.begin(ANSWER.return).result(-errnoOf(fault.errno));
  else letHappen(event, answer, acting);
  if (fault.signal !== undefined) answer.signal(signalOf(fault.signal));
  if (fault.short === undefined || fault.errno !== undefined) return;
  const { count } = event.shape;
  if (count < 0) throw new NotPossible(`${event.name} transfers no counted bytes that could be cut short`);
  if (event.stop.ulong(count) > fault.short) answer.register(count, fault.short);
}
