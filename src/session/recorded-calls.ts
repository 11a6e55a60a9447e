import { SYSCALLS } from "../abi/index.js";
import { callsNamed } from "../policy/define.js";
import type { SessionOptions } from "./options.js";

/** The calls for the trace. */
export function recordedCalls({ trace }: SessionOptions) {
  if (!trace) return [];
  return trace.events ? trace.events.flatMap((key) => callsNamed("--events", key)) : SYSCALLS;
}
