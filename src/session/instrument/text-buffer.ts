import { native } from "../../kernel/binding/native.js";
import { NotPossible } from "../../kernel/doors/door.js";
import type { PatchedMemory } from "./patched-memory.js";
import { findSyscall, mapTextBuffer } from "./stub-pool.js";

const TEXTS_SIZE = 4 * 1024 * 1024;
const ALIGNMENT = 16;
/** Texts up to this length reuse their place when they repeat. */
const SHORT = 4096;
const MOST_KNOWN = 4096;

/**
 * Our memory in a program, for texts that replace arguments or results of functions. It is a ring: a text
 * stays valid until 4 MB more are written.
 */
export class TextBuffer {
  readonly #from: number;
  #used: number;
  readonly #known: Map<string, number>;

  constructor(from: number, used = 0, known = new Map<string, number>()) {
    this.#from = from;
    this.#used = used;
    this.#known = known;
  }

  copy(): TextBuffer {
    return new TextBuffer(this.#from, this.#used, new Map(this.#known));
  }

  /** Stores bytes and returns their address. Throws NotPossible. */
  put(tid: number, bytes: Uint8Array): number {
    if (bytes.length > TEXTS_SIZE / 4)
      throw new NotPossible(`a text or byte string has at most ${TEXTS_SIZE / 4} bytes`);
    const key = bytes.length <= SHORT ? Buffer.from(bytes).toString("latin1") : undefined;
    let at = key === undefined ? undefined : this.#known.get(key);
    if (at === undefined) {
      if (this.#used + bytes.length > TEXTS_SIZE) {
        this.#used = 0;
        this.#known.clear();
      }
      at = this.#from + this.#used;
      this.#used += (bytes.length + ALIGNMENT) & -ALIGNMENT;
      if (key !== undefined && this.#known.size < MOST_KNOWN) this.#known.set(key, at);
    }
    // Always write: the program may have changed the earlier copy.
    if (native().store(tid, BigInt(at), bytes) < 0)
      throw new NotPossible("the program's memory cannot be written");
    return at;
  }
}

/** Assumes that the program has not unmapped our memory; if it did, only the program itself is affected. */
export function writeText(tid: number, space: PatchedMemory, bytes: Uint8Array): number {
  if (!space.texts) {
    if (space.gadget === 0) space.gadget = findSyscall(tid) ?? 0;
    const from = space.gadget === 0 ? -1 : mapTextBuffer(tid, space.gadget, TEXTS_SIZE);
    if (from < 0) throw new NotPossible("cannot allocate memory in the program");
    space.texts = new TextBuffer(from);
  }
  return space.texts.put(tid, bytes);
}
