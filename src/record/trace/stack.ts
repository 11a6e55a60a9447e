import { type CallStack, callStack, frameOf, type Inside, type RecordedStack } from "../../nouns/inside.js";
import { escapeControl } from "../../nouns/text.js";
import { callerOf } from "../../policy/match/stack.js";

/** A stack as a trace keeps it: texts, which repeat and so cost little. */
export function recordedStack(event: Inside): RecordedStack {
  const stack: CallStack = event.stack();
  const main = stack.find(({ isMain }) => isMain)?.module;
  return {
    frames: stack.map(String),
    ...(stack.end !== "start" && { end: stack.end }),
    ...(main !== undefined && { main }),
  };
}

/** One line for each frame, as `strace -k` has them; the last says why there are no more, unless the thread began there. */
export function stackLines({ frames, end }: RecordedStack): string[] {
  const lines = frames.map((frame) => ` > ${escapeControl(frame)}`);
  return end === undefined ? lines : [...lines, ` > (${end})`];
}

/** Who made the call: the innermost function outside the C library. */
export function callerText({ frames }: RecordedStack): string | undefined {
  const caller = callerOf(
    callStack(
      frames.map((text) => frameOf(text)),
      "start",
    ),
  );
  return caller && String(caller);
}
