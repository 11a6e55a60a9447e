import { createPublicKey, type KeyObject } from "node:crypto";
import type { AuditRow, ChainEnd, ChainRow, Store } from "../store/store.js";
import { CUT_OFF, hashOf, START } from "./chain.js";
import { isSignedBy } from "./keys.js";

/** What can be wrong with a chain. */
type Break =
  /** A record is not what it was when it was written. */
  | "changed"
  /** Records are not there: at the beginning, or in between. */
  | "missing"
  /** A record is out of order, or there twice. */
  | "order"
  /** It, or the record before it, was put there later: they do not belong together. */
  | "replaced"
  /** It should be signed, by a key that we know, and is not. */
  | "signature"
  /** The chain was longer than it is. */
  | "cut-off";

export interface ChainReport {
  readonly chain: string;
  readonly records: number;
  readonly end: Omit<ChainEnd, "chain"> | null;
  /** The first record that is signed. */
  readonly signedFrom: number | null;
  /** The first record that is not as it was, or is not there. */
  readonly broken: { readonly seq: number; readonly what: Break; readonly message: string } | null;
}

interface VerifyOptions {
  /** Public keys, any of which may have signed. Without one, signatures are not looked at. */
  readonly keys?: readonly KeyObject[];
  /** How far the chain had come, from somewhere else. */
  readonly head?: ChainEnd | undefined;
  /** Chains whose beginning was given up. */
  readonly kept?: readonly Pick<ChainRow, "chain" | "keptSeq" | "keptHash">[];
}

/** Takes the records of one chain in order, and reports records that are missing or changed. */
export class ChainVerifier {
  readonly chain: string;
  readonly #keys: readonly KeyObject[];
  readonly #head: ChainEnd | undefined;
  readonly #before: Omit<ChainEnd, "chain">;
  #records = 0;
  #end: AuditRow | undefined;
  #signedFrom: number | null = null;
  #broken: ChainReport["broken"] = null;

  constructor(chain: string, { keys = [], head, kept = [] }: VerifyOptions = {}) {
    this.chain = chain;
    const { keptSeq: seq = 0, keptHash: hash = START } = kept.find((one) => one.chain === chain) ?? {};
    this.#before = { seq, hash };
    this.#keys = keys;
    this.#head = head?.chain === chain ? head : undefined;
  }

  /** After the first break nothing behind it proves anything: the rest is only counted. */
  take(row: AuditRow): void {
    this.#records++;
    if (this.#broken) return;
    if (row.signature !== null) this.#signedFrom ??= row.seq;
    this.#broken = this.#examine(row);
    this.#end = row;
  }

  #examine(row: AuditRow): ChainReport["broken"] {
    const { seq, hash, previous } = row;
    const expected = (this.#end ?? this.#before).seq + 1;
    const broken = (what: Break, message: string, at = seq) => ({ seq: at, what, message });
    if (seq > expected) {
      const which = seq - 1 === expected ? `record ${expected} is` : `records ${expected} to ${seq - 1} are`;
      return broken("missing", `${which} missing`, expected);
    }
    if (seq < expected) return broken("order", `record ${seq} stands behind record ${expected - 1}`);
    if (hashOf(row) !== hash) return broken("changed", `record ${seq} was changed after it was written`);
    if (previous !== (this.#end ?? this.#before).hash)
      return broken(
        "replaced",
        this.#end
          ? `record ${seq} does not follow record ${expected - 1}: one of them was replaced`
          : `record ${seq} is not the first one: what came before was taken out`,
      );
    if (seq === this.#head?.seq && hash !== this.#head.hash)
      return broken("replaced", `record ${seq} was replaced: another one was at this place before`);
    if (row.kind === "config" && row.body.includes(JSON.stringify(CUT_OFF)))
      return broken(
        "cut-off",
        `record ${seq} says that the end of the chain before it was cut off: ${row.body}`,
      );
    return this.#examineSignature(row);
  }

  #examineSignature({ seq, hash, signature }: AuditRow): ChainReport["broken"] {
    if (this.#keys.length === 0) return null;
    if (signature === null)
      return this.#signedFrom === null
        ? null
        : { seq, what: "signature", message: `record ${seq} is not signed, and those before it are` };
    return isSignedBy(this.#keys, hash, signature)
      ? null
      : { seq, what: "signature", message: `record ${seq} is not signed by a key that is known` };
  }

  report(): ChainReport {
    const end = this.#end ? { seq: this.#end.seq, hash: this.#end.hash } : null;
    const { chain } = this;
    return { chain, records: this.#records, end, signedFrom: this.#signedFrom, broken: this.#lastWord() };
  }

  #lastWord(): ChainReport["broken"] {
    if (this.#broken) return this.#broken;
    const { seq } = this.#end ?? this.#before;
    if (this.#head && this.#head.seq > seq)
      return {
        seq: seq + 1,
        what: "cut-off",
        message: `it ends with record ${seq}, and went on to record ${this.#head.seq}: the rest was cut off`,
      };
    // An attacker who removes all signatures can rewrite the chain without a key.
    if (this.#keys.length > 0 && this.#signedFrom === null && seq > 0)
      return { seq: 1, what: "signature", message: "there is a key, and no record is signed" };
    return null;
  }
}

/** Of every chain that there are records of. */
export async function verifyRows(
  rows: AsyncIterable<AuditRow>,
  options: VerifyOptions,
): Promise<ChainReport[]> {
  const verifiers = new Map<string, ChainVerifier>();
  const of = (chain: string) => {
    const known = verifiers.get(chain) ?? new ChainVerifier(chain, options);
    verifiers.set(chain, known);
    return known;
  };
  // Also when nothing at all is left of it.
  if (options.head) of(options.head.chain);
  for await (const row of rows) of(row.chain).take(row);
  return [...verifiers.values()].map((verifier) => verifier.report());
}

/**
 * Of every chain, also of those that hosts deliver: each must reach as far as its host has delivered it, and be signed by
 * the key that its host first came with, where it came with one. `keys` hold for the others.
 */
export async function verifyAll(
  store: Pick<Store, "audit" | "chains" | "chainEnds">,
  keys: readonly KeyObject[],
): Promise<ChainReport[]> {
  const known = await store.chains();
  const names = new Set([...known, ...(await store.chainEnds())].map(({ chain }) => chain));
  const reports: ChainReport[] = [];
  for (const chain of [...names].sort()) {
    const row = known.find((one) => one.chain === chain);
    const own = row?.key ? [createPublicKey(row.key)] : row?.host ? [] : keys;
    const head = row?.host && row.seq > 0 ? row : undefined;
    reports.push(...(await verifyRows(store.audit({ chain }), { keys: own, head, kept: known })));
    if (reports.at(-1)?.chain !== chain) reports.push(new ChainVerifier(chain, { kept: known }).report());
  }
  return reports;
}
