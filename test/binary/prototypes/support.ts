import {
  CallReader,
  Prototypes,
  type RawCall,
  Renderer,
  type Result,
  type Shown,
} from "../../../src/binary/prototypes/index.js";

/** A made-up caller: registers and memory. Texts and bytes are put into memory, and their addresses passed. */
export class FakeCall implements RawCall {
  readonly #memory = new Map<bigint, Buffer>();
  #next = 0x10000n;
  readonly words: bigint[] = [];
  readonly vectors: bigint[] = [];

  word(i: number): bigint {
    return this.words[i] ?? 0xdeadn;
  }
  vector(i: number): bigint {
    return this.vectors[i] ?? 0n;
  }

  readonly read = (address: bigint, length: number): Uint8Array | undefined => {
    for (const [from, bytes] of this.#memory)
      if (address >= from && address < from + BigInt(bytes.length)) {
        const at = Number(address - from);
        return bytes.subarray(at, Math.min(bytes.length, at + length));
      }
    return undefined;
  };

  put(bytes: Uint8Array | string): bigint {
    const address = this.#next;
    this.#memory.set(address, Buffer.from(typeof bytes === "string" ? `${bytes}\0` : bytes));
    this.#next += 0x10000n;
    return address;
  }

  /** Arguments in order: numbers with a fraction go into vector registers. */
  with(...values: (number | bigint | string | Uint8Array | { float: number })[]): this {
    for (const value of values) {
      if (typeof value === "number") this.words.push(BigInt.asUintN(64, BigInt(value)));
      else if (typeof value === "bigint") this.words.push(value);
      else if (typeof value === "object" && "float" in value) this.vectors.push(doubleBits(value.float));
      else this.words.push(this.put(value));
    }
    return this;
  }
}

export function doubleBits(value: number): bigint {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes.readBigUInt64LE();
}

export const returned = (word: number | bigint, vector = 0): Result => ({
  words: [BigInt.asUintN(64, BigInt(word)), 0n],
  vectors: [doubleBits(vector), 0n],
});

const known = new Prototypes();

/** What a record would show of a call, before it or, with a result, after it. */
export function shown(name: string, frame: RawCall, result?: Result, prototypes = known, limit = 32) {
  const [module, symbol] = name.split("!") as [string, string];
  const reader = new CallReader(prototypes.of(module, symbol)!, frame, limit, result);
  const renderer = new Renderer();
  const args: Record<string, Shown> = renderer.arguments(reader, () => true);
  renderer.more(reader, args);
  return { args, ...(result && { result: renderer.result(reader) }), texts: renderer.texts };
}
