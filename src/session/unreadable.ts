import type { DecodedCall } from "../decode/call.js";

const ENAMETOOLONG = 36;

/** The first argument that was to be fetched with the stop and could not be, and the errno that says why. */
export function unreadable({ call, stop }: DecodedCall): { i: number; error: number } | undefined {
  for (let i = 0; i < call.args.length; i++) {
    if (!stop.has(i) || stop.isNull(i)) continue;
    const error = stop.slotTruncated(i) && call.args[i]!.kind === "path" ? ENAMETOOLONG : stop.slotError(i);
    if (error !== 0) return { i, error };
  }
  return undefined;
}
