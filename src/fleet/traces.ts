import { closeSync, openSync, writeSync } from "node:fs";
import { HermesError } from "../nouns/errors.js";
import { type Operation, raw } from "../record/store/sql.js";
import type { TraceStorage } from "./trace-storage.js";

/** A trace that a host has recorded and uploaded. Its name is untrusted text. */
interface FleetTrace {
  readonly id: string;
  readonly host: string;
  readonly name: string;
  readonly bytes: number;
  readonly blocks: number;
  readonly started: number;
  readonly changed: number;
}

export const UPLOAD_BLOCK = 4 * 1024 * 1024;

export function blockKey({ host, id }: Pick<FleetTrace, "host" | "id">, block: number): string {
  return `${host}/${id}/${String(block).padStart(6, "0")}`;
}

/** Newest first. */
export function* traces(): Operation<readonly FleetTrace[]> {
  const rows = yield raw(
    "SELECT id, host, name, bytes, blocks, started, changed FROM trace ORDER BY changed DESC",
  );
  return rows as readonly unknown[] as readonly FleetTrace[];
}

/** The uploaded part of a trace, as one file. */
export async function download(place: TraceStorage, trace: FleetTrace, file: string): Promise<void> {
  const fd = openSync(file, "w", 0o600);
  try {
    let left = trace.bytes;
    for (let block = 0; block < trace.blocks && left > 0; block++) {
      const bytes = await place.get(blockKey(trace, block));
      // The last block may have grown since; any other must have full size.
      const wanted = Math.min(left, UPLOAD_BLOCK);
      if (bytes.length < wanted)
        throw new HermesError("FLEET", { message: `block ${block} of ${trace.id} is incomplete` });
      writeSync(fd, bytes, 0, wanted);
      left -= wanted;
    }
  } finally {
    closeSync(fd);
  }
}
