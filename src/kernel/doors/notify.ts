import type { Syscall } from "../../abi/index.js";
import type { Verdict, VerdictAction } from "../../nouns/verdict.js";
import { ANSWER, DOOR } from "../binding/layout.js";
import type { StopAnswer } from "../binding/stop.js";
import type { DecodedCall } from "../decode/call.js";
import { callShape } from "../decode/call-shape.js";
import { type Door, NotPossible } from "./door.js";
import { allowCall } from "./on-behalf.js";
import { refuse, toErrno, toSignal, writeEmulation } from "./refuse.js";

/**
 * seccomp user notification: the usual door for decisions. It can refuse a call, emulate it, or make it on
 * behalf of the program. It cannot change a call that the program makes itself. The program can still use
 * ptrace.
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
        if (short !== undefined) throw new NotPossible("the notify door cannot shorten a transfer");
        if (errno === undefined) allowCall(event, answer);
        else answer.begin(ANSWER.return).result(-toErrno(errno));
        if (signal !== undefined) answer.signal(toSignal(signal));
        return;
      }
      case "modify":
        throw new NotPossible("the notify door cannot change a call");
      default:
        refuse(answer, verdict);
    }
  },
};
