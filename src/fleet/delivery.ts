import { readPublicKey } from "../audit/keys.js";
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
  readonly #keep: number | undefined;
  readonly #key: string | null;
  #delivered = 0;
  #first: number | undefined;

  /** `keep`: how many records that were delivered stay here too. */
  constructor(line: Line, store: Store, chain: string, keep?: number) {
    this.#line = line;
    this.#store = store;
    this.#chain = chain;
    this.#keep = keep;
    const key = readPublicKey(`${store.beside}.pub`);
    this.#key = key ? key.export({ type: "spki", format: "pem" }).toString() : null;
  }

  /** After every connect: another server may answer now, which knows less. */
  async begin(): Promise<void> {
    const [head] = await this.#line.ask<{ seq: number; hash: string }>(
      "SELECT seq, hash FROM begin_chain($1, $2)",
      [this.#chain, this.#key],
    );
    const { seq, hash } = head!;
    if (seq > 0 && !(await this.#holds(seq, hash)))
      throw new Error(
        `record ${seq} of the chain ${this.#chain} is another one here than on the server: this host was set back, or copied`,
      );
    this.#delivered = seq;
  }

  async #holds(seq: number, hash: string): Promise<boolean> {
    const kept = (await this.#store.chains()).find(({ chain }) => chain === this.#chain);
    if (kept?.keptSeq === seq) return kept.keptHash === hash;
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
    await this.#trim();
    return rows.length === RECORDS || bytes > BYTES;
  }

  /** What the server has makes room for what it has not; many at once, since each time costs a sync. */
  async #trim(): Promise<void> {
    if (this.#keep === undefined) return;
    if (this.#first === undefined)
      for await (const { seq } of this.#store.audit({ chain: this.#chain })) {
        this.#first = seq;
        break;
      }
    const upTo = this.#delivered - Math.max(this.#keep, 1);
    if (this.#first === undefined || upTo - this.#first < Math.min(this.#keep, RECORDS)) return;
    await this.#store.trimAudit(this.#chain, upTo);
    this.#first = upTo + 1;
  }
}

/** Neither JSON in PostgreSQL nor its texts take every sign; a store reads them back as they were. */
function asStored({ chain: _, ...row }: AuditRow): object {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, storable(value)]));
}
