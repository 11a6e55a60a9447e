import { readPublicKey } from "../record/audit/keys.js";
import { storable } from "../record/store/sql.js";
import type { AuditRow, Store } from "../record/store/store.js";
import type { HostConnection } from "./host-connection.js";

/** Records per transaction. */
const RECORDS = 500;
const BYTES = 4 * 1024 * 1024;

/**
 * Delivers the records of this host's chain to the server in order. The server's position is authoritative: a record is
 * delivered once it is durable there, and duplicates are skipped there. So a crash here cannot corrupt any state.
 */
export class Delivery {
  readonly #line: HostConnection;
  readonly #store: Store;
  readonly #chain: string;
  readonly #keep: number | undefined;
  readonly #key: string | null;
  #delivered = 0;
  #first: number | undefined;

  /** `keep`: how many delivered records stay here. */
  constructor(line: HostConnection, store: Store, chain: string, keep?: number) {
    this.#line = line;
    this.#store = store;
    this.#chain = chain;
    this.#keep = keep;
    const key = readPublicKey(`${store.beside}.pub`);
    this.#key = key ? key.export({ type: "spki", format: "pem" }).toString() : null;
  }

  /** After every connect: another server may answer now, whose copy is older. */
  async begin(): Promise<void> {
    const [head] = await this.#line.ask<{ seq: number; hash: string }>(
      "SELECT seq, hash FROM begin_chain($1, $2)",
      [this.#chain, this.#key],
    );
    const { seq, hash } = head!;
    if (seq > 0 && !(await this.#holds(seq, hash)))
      throw new Error(
        `record ${seq} of the chain ${this.#chain} differs from the server's: this host was restored from a backup, or cloned`,
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

  /** Delivers one batch; returns whether there are more. */
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

  /** Delivered records are pruned here. Many at once, because each pruning costs a sync. */
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

/** Neither JSON nor text in PostgreSQL stores every character; a store decodes them again. */
function asStored({ chain: _, ...row }: AuditRow): object {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, storable(value)]));
}
