import type { Syscall } from "../abi/index.js";
import type { DecodedCall } from "../decode/call.js";
import { shapeOf } from "../decode/shape.js";
import { ANSWER, DOOR } from "../kernel/layout.js";
import type { Answer } from "../kernel/stop.js";
import type { Action, Verdict } from "../verdict.js";
import { letHappen } from "./act.js";
import { type Door, NotPossible } from "./door.js";
import { emulate, errnoOf, refuse, signalOf } from "./refuse.js";

/**
 * seccomp user notification: the ordinary door for decisions. It can refuse a call, answer in the kernel's place, or
 * make it in the program's place; it cannot change one that the program makes itself. It leaves ptrace to the program.
 */
export const notifyDoor: Door = {
  name: "notify",
  number: DOOR.notify,

  can(call: Syscall, action: Action): boolean {
    if (action === "modify") return false;
    if (action === "fault") return shapeOf(call).count < 0; // a short transfer needs a changed register
    if (action === "emulate") return call.returns !== "fd"; // a virtual file needs a changed path
    return true;
  },

  carryOut(event: DecodedCall, verdict: Verdict, answer: Answer): void {
    switch (verdict.action) {
      case "allow":
        letHappen(event, answer);
        return;
      case "kill":
        answer.begin(ANSWER.kill);
        return;
      case "emulate":
        if (verdict.emulation!.content !== undefined)
          throw new NotPossible("the notify door cannot hand out a virtual file");
        emulate(event, verdict.emulation!, answer);
        return;
      case "fault": {
        const { errno, signal, short } = verdict.fault!;
        if (short !== undefined) throw new NotPossible("the notify door cannot shorten a transfer");
        if (errno === undefined) letHappen(event, answer);
        else answer.begin(ANSWER.return).result(-errnoOf(errno));
        if (signal !== undefined) answer.signal(signalOf(signal));
        return;
      }
      case "modify":
        throw new NotPossible("the notify door cannot change a call");
      default:
        refuse(answer, verdict);
    }
  },
};
