import { createHash } from "node:crypto";
import type { AuditRow } from "../store/store.js";

export { CHAIN_START as START } from "../store/store.js";

/** What a record says when the end of its chain was cut off before it. */
export const CUT_OFF = "the end of the chain was cut off";

/** The hash of a record: over all its fields, and over the record before. */
export function hashOf(row: Omit<AuditRow, "hash" | "signature">): string {
  const { chain, seq, time, session, kind, body, previous } = row;
  return createHash("sha256")
    .update(JSON.stringify([chain, seq, time, session, kind, body, previous]))
    .digest("hex");
}
