import { closeSync, openSync, writeSync } from "node:fs";
import { HermesError } from "../errors.js";
import { type Operation, raw } from "../store/sql.js";
import type { Place } from "./place.js";

/** A trace that a host has recorded, and brought. Its name is hostile text. */
export interface FleetTrace {
  readonly id: string;
  readonly host: string;
  readonly name: string;
  readonly bytes: number;
  readonly blocks: number;
  readonly started: number;
  readonly changed: number;
}

export const BLOCK = 4 * 1024 * 1024;

export function blockKey({ host, id }: Pick<FleetTrace, "host" | "id">, block: number): string {
  return `${host}/${id}/${String(block).padStart(6, "0")}`;
}

/** The newest first. */
export function* traces(): Operation<readonly FleetTrace[]> {
  const rows = yield raw(
    "SELECT id, host, name, bytes, blocks, started, changed FROM trace ORDER BY changed DESC",
  );
  return rows as readonly unknown[] as readonly FleetTrace[];
}

/** What was brought so far, as one file. */
export async function download(place: Place, trace: FleetTrace, file: string): Promise<void> {
  const fd = openSync(file, "w", 0o600);
  try {
    let left = trace.bytes;
    for (let block = 0; block < trace.blocks && left > 0; block++) {
      const bytes = await place.get(blockKey(trace, block));
      // The last one may have grown since; no other may be short.
      const wanted = Math.min(left, BLOCK);
      if (bytes.length < wanted)
        throw new HermesError("FLEET", { message: `block ${block} of ${trace.id} is not whole` });
      writeSync(fd, bytes, 0, wanted);
      left -= wanted;
    }
  } finally {
    closeSync(fd);
  }
}
