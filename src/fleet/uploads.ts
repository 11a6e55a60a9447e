import { createHash } from "node:crypto";
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { basename } from "node:path";
import type { HostConnection } from "./host-connection.js";
import type { TraceStorage } from "./trace-storage.js";
import { blockKey, UPLOAD_BLOCK } from "./traces.js";

const LOOK_MS = 5_000;

/**
 * Uploads traces while they are written: full blocks once, the last block again when it has grown. The server's row is
 * authoritative: a block that was uploaded but not recorded there is uploaded again.
 */
export class Uploads {
  readonly #line: HostConnection;
  readonly #place: TraceStorage;
  readonly #traces: () => readonly string[];
  readonly #sizes = new Map<string, number>();
  #host: string | undefined;
  #last = Number.NEGATIVE_INFINITY;
  #busy: Promise<void> | undefined;

  constructor(line: HostConnection, place: TraceStorage, traces: () => readonly string[]) {
    this.#line = line;
    this.#place = place;
    this.#traces = traces;
  }

  /** In parallel: slow storage delays nothing else. */
  look(problem: (message: string) => void, every = LOOK_MS): void {
    if (this.#busy || performance.now() - this.#last < every) return;
    this.#last = performance.now();
    this.#busy = this.#bring()
      .catch((error) => problem((error as Error).message))
      .finally(() => {
        this.#busy = undefined;
      });
  }

  async #bring(): Promise<void> {
    this.#host ??= (await this.#line.ask<{ id: string }>("SELECT me() AS id"))[0]!.id;
    for (const file of this.#traces()) {
      const found = statSync(file, { bigint: true, throwIfNoEntry: false });
      if (!found?.isFile()) continue;
      const { dev, ino, birthtimeNs } = found;
      const id = createHash("sha256")
        .update(`${this.#host} ${dev} ${ino} ${birthtimeNs}`)
        .digest("hex")
        .slice(0, 32);
      if (this.#sizes.get(id) !== Number(found.size))
        await this.#bringOne(id, this.#host, file, Number(birthtimeNs / 1_000_000n));
    }
  }

  async #bringOne(id: string, host: string, file: string, started: number): Promise<void> {
    const [row] = await this.#line.ask<{ bytes: number }>("SELECT bytes FROM trace WHERE id = $1", [id]);
    if (!row)
      await this.#line.ask(
        `INSERT INTO trace (id, host, name, bytes, blocks, started, changed)
         VALUES ($1, $2, $3, 0, 0, $4, server_now()) ON CONFLICT (id) DO NOTHING`,
        [id, host, basename(file), started],
      );
    let at = Math.floor((row?.bytes ?? 0) / UPLOAD_BLOCK) * UPLOAD_BLOCK;
    const fd = openSync(file, "r");
    try {
      const bytes = Buffer.alloc(UPLOAD_BLOCK);
      for (;;) {
        const got = readSync(fd, bytes, 0, UPLOAD_BLOCK, at);
        if (got > 0) {
          const block = at / UPLOAD_BLOCK;
          await this.#place.put(blockKey({ host, id }, block), bytes.subarray(0, got));
          await this.#line.ask(
            "UPDATE trace SET bytes = $2, blocks = $3, changed = server_now() WHERE id = $1",
            [id, at + got, block + 1],
          );
        }
        at += got;
        if (got < UPLOAD_BLOCK) break;
      }
      this.#sizes.set(id, at);
    } finally {
      closeSync(fd);
    }
  }

  async close(): Promise<void> {
    await this.#busy;
  }
}
