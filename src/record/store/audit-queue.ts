import type { SealedEntry } from "./operations.js";
import type { AuditRow } from "./store.js";

/** Records of one transaction. */
const TOGETHER = 500;

interface Waiting extends SealedEntry {
  resolve(row: AuditRow): void;
  reject(error: unknown): void;
}

/** Records that come while others of their chain are being written are written together: they share one sync. */
export class AuditQueue {
  readonly #write: (chain: string, entries: readonly SealedEntry[]) => Promise<readonly AuditRow[]>;
  readonly #chains = new Map<string, Waiting[]>();
  readonly #writers = new Map<string, Promise<void>>();

  constructor(write: (chain: string, entries: readonly SealedEntry[]) => Promise<readonly AuditRow[]>) {
    this.#write = write;
  }

  add(chain: string, entry: SealedEntry): Promise<AuditRow> {
    return new Promise((resolve, reject) => {
      const waiting = this.#chains.get(chain) ?? [];
      this.#chains.set(chain, waiting);
      waiting.push({ ...entry, resolve, reject });
      if (!this.#writers.has(chain)) this.#writers.set(chain, this.#writeAll(chain, waiting));
    });
  }

  async #writeAll(chain: string, waiting: Waiting[]): Promise<void> {
    await Promise.resolve();
    while (waiting.length > 0) {
      const batch = waiting.splice(0, TOGETHER);
      try {
        const rows = await this.#write(chain, batch);
        for (const [i, { resolve }] of batch.entries()) resolve(rows[i]!);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#writers.delete(chain);
  }

  /** Resolves when nothing waits any more. */
  async written(): Promise<void> {
    await Promise.all(this.#writers.values());
  }
}
