import type { DecodedCall } from "../decode/call.js";
import { ANSWER, DOOR } from "../kernel/layout.js";
import type { Answer } from "../kernel/stop.js";
import type { Fault, Verdict } from "../verdict.js";
import { letHappen } from "./act.js";
import { change } from "./change.js";
import { type AfterCall, type Door, NotPossible } from "./door.js";
import { emulate, errnoOf, refuse, signalOf } from "./refuse.js";

/** ptrace: everything can be changed, and returns are seen. A traced program cannot itself be debugged. */
export const traceDoor: Door = {
  name: "trace",
  number: DOOR.trace,

  can: () => true,

  carryOut(event: DecodedCall, verdict: Verdict, answer: Answer, after: AfterCall): void {
    switch (verdict.action) {
      case "allow":
        letHappen(event, answer);
        return;
      case "kill":
        answer.begin(ANSWER.kill);
        return;
      case "emulate":
        emulate(event, verdict.emulation!, answer);
        return;
      case "modify":
        answer.begin(ANSWER.continue);
        change(event, verdict.change!, answer, after);
        return;
      case "fault":
        carryOutFault(event, verdict.fault!, answer);
        return;
      default:
        refuse(answer, verdict);
    }
  },
};

function carryOutFault(event: DecodedCall, fault: Fault, answer: Answer): void {
  if (fault.errno !== undefined) answer.begin(ANSWER.return).result(-errnoOf(fault.errno));
  else if (fault.short === undefined) letHappen(event, answer);
  else answer.begin(ANSWER.continue);
  if (fault.signal !== undefined) answer.signal(signalOf(fault.signal));
  if (fault.short === undefined || fault.errno !== undefined) return;
  const { count } = event.shape;
  if (count < 0) throw new NotPossible(`${event.name} transfers no counted bytes that could be cut short`);
  if (event.stop.ulong(count) > fault.short) answer.register(count, fault.short);
}
