import { createHash } from "node:crypto";
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { basename } from "node:path";
import type { Line } from "./line.js";
import type { Place } from "./place.js";
import { BLOCK, blockKey } from "./traces.js";

const LOOK_MS = 5_000;

/**
 * Brings traces to their place while they are written: full blocks once, the last one again when it has grown. What the
 * server's row says is there is there; what was put and not told is put again.
 */
export class Uploads {
  readonly #line: Line;
  readonly #place: Place;
  readonly #traces: () => readonly string[];
  readonly #sizes = new Map<string, number>();
  #host: string | undefined;
  #last = Number.NEGATIVE_INFINITY;
  #busy: Promise<void> | undefined;

  constructor(line: Line, place: Place, traces: () => readonly string[]) {
    this.#line = line;
    this.#place = place;
    this.#traces = traces;
  }

  /** Beside everything else: a slow place holds nobody up. */
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
    let at = Math.floor((row?.bytes ?? 0) / BLOCK) * BLOCK;
    const fd = openSync(file, "r");
    try {
      const bytes = Buffer.alloc(BLOCK);
      for (;;) {
        const got = readSync(fd, bytes, 0, BLOCK, at);
        if (got > 0) {
          const block = at / BLOCK;
          await this.#place.put(blockKey({ host, id }, block), bytes.subarray(0, got));
          await this.#line.ask(
            "UPDATE trace SET bytes = $2, blocks = $3, changed = server_now() WHERE id = $1",
            [id, at + got, block + 1],
          );
        }
        at += got;
        if (got < BLOCK) break;
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
