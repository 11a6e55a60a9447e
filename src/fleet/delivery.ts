import { storable } from "../store/sql.js";
import type { AuditRow, Store } from "../store/store.js";
import type { Line } from "./line.js";

/** Of one transaction. */
const RECORDS = 500;
const BYTES = 4 * 1024 * 1024;

/**
 * Brings the records of this host's chain to the server, in their order. How far it has come is what the server says: a
 * record is delivered when the server has it on disk, and one that was sent twice is passed over there. So nothing is
 * kept here that a crash could make wrong.
 */
export class Delivery {
  readonly #line: Line;
  readonly #store: Store;
  readonly #chain: string;
  #delivered = 0;

  constructor(line: Line, store: Store, chain: string) {
    this.#line = line;
    this.#store = store;
    this.#chain = chain;
  }

  /** After every connect: another server may answer now, which knows less. */
  async begin(): Promise<void> {
    const [head] = await this.#line.ask<{ seq: number; hash: string }>(
      "SELECT seq, hash FROM begin_chain($1)",
      [this.#chain],
    );
    const { seq, hash } = head!;
    if (seq > 0 && !(await this.#holds(seq, hash)))
      throw new Error(
        `record ${seq} of the chain ${this.#chain} is another one here than on the server: this host was set back, or copied`,
      );
    this.#delivered = seq;
  }

  async #holds(seq: number, hash: string): Promise<boolean> {
    for await (const row of this.#store.audit({ chain: this.#chain, after: seq - 1 }))
      return row.seq === seq && row.hash === hash;
    return false;
  }

  /** One lot of them; whether there are more. */
  async deliver(): Promise<boolean> {
    const rows: AuditRow[] = [];
    let bytes = 0;
    for await (const row of this.#store.audit({ chain: this.#chain, after: this.#delivered })) {
      rows.push(row);
      bytes += row.body.length;
      if (rows.length === RECORDS || bytes > BYTES) break;
    }
    if (rows.length === 0) return false;
    const [done] = await this.#line.ask<{ seq: number }>("SELECT deliver($1, $2::jsonb) AS seq", [
      this.#chain,
      JSON.stringify(rows.map(asStored)),
    ]);
    this.#delivered = done!.seq;
    return rows.length === RECORDS || bytes > BYTES;
  }
}

/** Neither JSON in PostgreSQL nor its texts take every sign; a store reads them back as they were. */
function asStored({ chain: _, ...row }: AuditRow): object {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, storable(value)]));
}
