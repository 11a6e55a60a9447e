import type { DecodedCall } from "./call.js";

const ENAMETOOLONG = 36;

/** The errno that the kernel has for an argument whose memory could not be copied; 0 for one that was, or need not be. */
export function unreadable(event: DecodedCall, i: number): number {
  const { stop, shape, call } = event;
  if (stop.isNull(i)) return 0;
  if (i === shape.argv) return event.argvError;
  if (!stop.has(i)) return 0;
  return stop.slotTruncated(i) && call.args[i]!.kind === "path" ? ENAMETOOLONG : stop.slotError(i);
}
