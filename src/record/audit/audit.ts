import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { HermesError } from "../../nouns/errors.js";
import type { AuditEntry, AuditRow, ChainEnd, Seal, Store } from "../store/store.js";
import { canonicalBody } from "./canonical.js";
import { CUT_OFF, hashOf } from "./chain.js";
import { Head } from "./head.js";
import { readSigner, type Signer } from "./keys.js";
import type { AuditBodies, AuditKind } from "./records.js";

/** Writes the records of this host. Many processes may write to the same chain at once. */
export class Audit {
  /** The name of this host's chain. */
  readonly chain: string;
  readonly #store: Store;
  readonly #seal: Seal;
  readonly #head: Head;
  /** How far the chain has come, as far as this process knows. */
  #known: Omit<ChainEnd, "chain"> = { seq: 0, hash: "" };
  #checked: Promise<void> | undefined;

  private constructor(store: Store, chain: string, signer: Signer | undefined) {
    this.#store = store;
    this.chain = chain;
    this.#head = Head.open(store.beside, chain);
    this.#seal = (row) => {
      const hash = hashOf(row);
      return { hash, signature: signer ? signer(hash) : null };
    };
  }

  /** Signs what it writes when there is a key beside the store (`hermes audit keygen`). */
  static open(store: Store): Audit {
    return new Audit(store, hostChain(store.beside), readSigner(store.beside));
  }

  /** When this has returned, the record is on disk and nothing can be taken from before it without a trace. */
  async record<K extends AuditKind>(
    kind: K,
    body: AuditBodies[K],
    { session = null, time = Date.now() }: { readonly session?: string | null; readonly time?: number } = {},
  ): Promise<AuditRow> {
    this.#checked ??= this.#check();
    await this.#checked;
    const row = await this.#append({ time, session, kind, body: canonicalBody(body) });
    if (row.seq > this.#known.seq) this.#known = row;
    // This place had been taken: perhaps the end was cut off while we were at work.
    else if (!(await this.#holds(this.#known))) await this.#noteCutOff(this.#known);
    return row;
  }

  /** Since the last write: a chain that continues where its end was cut off would soon look complete. */
  async #check(): Promise<void> {
    try {
      const head = this.#head.read();
      const end = (await this.#store.chainEnds()).find(({ chain }) => chain === this.chain);
      if (head && head.seq > (end?.seq ?? 0)) await this.#noteCutOff(head);
    } catch (error) {
      this.#checked = undefined;
      throw error;
    }
  }

  async #holds({ seq, hash }: Omit<ChainEnd, "chain">): Promise<boolean> {
    for await (const row of this.#store.audit({ chain: this.chain, after: seq - 1 }))
      return row.seq === seq && row.hash === hash;
    return false;
  }

  async #noteCutOff({ seq, hash }: Omit<ChainEnd, "chain">): Promise<void> {
    const body: AuditBodies["config"] = { what: CUT_OFF, detail: { seq, hash } };
    this.#known = await this.#append({
      ...{ time: Date.now(), session: null, kind: "config" },
      body: canonicalBody(body),
    });
  }

  async #append(entry: AuditEntry): Promise<AuditRow> {
    const row = await this.#store.appendAudit(this.chain, entry, this.#seal);
    this.#head.advance(row);
    return row;
  }

  close(): void {
    this.#head.close();
  }
}

/** The host's name and a random part that no other host has. The first process makes it. */
function hostChain(beside: string): string {
  const file = `${beside}.host`;
  try {
    const known = readHost(file);
    if (known !== undefined) return known;
    const own = randomBytes(4).toString("hex");
    const draft = `${file}.${own}`;
    writeFileSync(draft, `${hostname().replace(/[^\w.-]/g, "_")}-${own}\n`, { mode: 0o600 });
    try {
      linkSync(draft, file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    } finally {
      rmSync(draft, { force: true });
    }
    return readHost(file)!;
  } catch (cause) {
    if (cause instanceof HermesError) throw cause;
    throw new HermesError("AUDIT", { message: `${file}: ${(cause as Error).message}` }, { cause });
  }
}

function readHost(file: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  if (!/^[\w.-]{1,300}$/.test(text))
    throw new HermesError("AUDIT", {
      message: `${file} does not name this host: its chain would be another one`,
    });
  return text;
}
