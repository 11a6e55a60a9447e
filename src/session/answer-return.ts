import { ANSWER, ANSWER_FLAG } from "../kernel/binding/layout.js";
import type { StopAnswer } from "../kernel/binding/stop.js";
import type { DecodedCall } from "../kernel/decode/call.js";
import { NotPossible } from "../kernel/doors/door.js";
import { resultOf, toBytes, toErrno, toSignal, writeEmulation } from "../kernel/doors/refuse.js";
import type { Decision } from "../nouns/verdict.js";

/** Turns a verdict on a call that has happened into the native answer: only what the program sees can change. */
export function answerReturn(event: DecodedCall, decision: Decision, answer: StopAnswer): void {
  const setResult = (value: number | bigint) => answer.result(value).flag(ANSWER_FLAG.setResult);
  answer.begin(ANSWER.continue);
  switch (decision.action) {
    case "allow":
      return;
    case "kill":
      answer.begin(ANSWER.kill);
      return;
    case "emulate":
      writeEmulation(event, decision.emulation!, answer);
      answer.asContinue().flag(ANSWER_FLAG.setResult);
      return;
    case "fault": {
      const { errno, signal, short } = decision.fault!;
      if (short !== undefined) throw new NotPossible("a transfer that has happened cannot be cut short");
      if (errno !== undefined) setResult(-toErrno(errno));
      if (signal !== undefined) answer.signal(toSignal(signal));
      return;
    }
    case "modify":
      modifyReturn(event, decision, answer);
      return;
    default:
      setResult(-toErrno(decision.errno));
  }
}

function modifyReturn(event: DecodedCall, decision: Decision, answer: StopAnswer): void {
  const { to, args, data, result } = decision.change!;
  if (to !== undefined || args !== undefined)
    throw new NotPossible(`${event.name} has happened: only its result and its data can be changed now`);
  if (data !== undefined) {
    const bytes = toBytes(data);
    const { outData } = event.shape;
    if (outData < 0) throw new NotPossible(`${event.name} has no out buffer for data`);
    writeEmulation(event, { result: 0, data: bytes }, answer);
    answer.asContinue();
    if (result === undefined && event.call.args[outData]!.filled)
      answer.result(bytes.length).flag(ANSWER_FLAG.setResult);
  }
  if (result !== undefined) answer.result(resultOf(result)).flag(ANSWER_FLAG.setResult);
}
