import type { AuditRow, Store } from "../../record/store/store.js";

const LOOK_MS = 500;
/** Taken at once; what is left is taken at the next look. */
const AT_ONCE = 5000;

/** Hands over the records that are written from now on, whichever process writes them. */
export class AuditTail {
  readonly #store: Store;
  readonly #take: (rows: readonly AuditRow[]) => void;
  readonly #problem: (error: unknown) => void;
  readonly #seen = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void>;
  #over = false;

  constructor(store: Store, take: (rows: readonly AuditRow[]) => void, problem: (error: unknown) => void) {
    this.#store = store;
    this.#take = take;
    this.#problem = problem;
    this.#looking = this.#begin().catch(problem);
  }

  async close(): Promise<void> {
    this.#over = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  async #begin(): Promise<void> {
    for (const { chain, seq } of await this.#store.chainEnds()) this.#seen.set(chain, seq);
    this.#later();
  }

  #later(): void {
    if (this.#over) return;
    this.#timer = setTimeout(() => {
      this.#looking = this.#look()
        .catch(this.#problem)
        .finally(() => this.#later());
    }, LOOK_MS);
  }

  async #look(): Promise<void> {
    const rows: AuditRow[] = [];
    for (const { chain, seq } of await this.#store.chainEnds()) {
      const after = this.#seen.get(chain) ?? 0;
      if (seq <= after) continue;
      for await (const row of this.#store.audit({ chain, after })) {
        rows.push(row);
        this.#seen.set(chain, row.seq);
        if (rows.length >= AT_ONCE) break;
      }
    }
    if (rows.length > 0) this.#take(rows);
  }
}
