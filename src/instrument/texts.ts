import { NotPossible } from "../doors/door.js";
import { native } from "../kernel/native.js";
import { findSyscall, makeTexts } from "./pool.js";
import type { Space } from "./space.js";

const TEXTS_SIZE = 4 * 1024 * 1024;
const ALIGNMENT = 16;
/** Texts up to this length are given the same place when they come again. */
const SHORT = 4096;
const MOST_KNOWN = 4096;

/**
 * Memory of ours in a program, for texts that its functions are given or seem to return. It is used in turn: what was
 * put there stays for the next 4 MB.
 */
export class Texts {
  readonly #from: number;
  #used: number;
  readonly #known: Map<string, number>;

  constructor(from: number, used = 0, known = new Map<string, number>()) {
    this.#from = from;
    this.#used = used;
    this.#known = known;
  }

  copy(): Texts {
    return new Texts(this.#from, this.#used, new Map(this.#known));
  }

  /** Puts bytes there and says where. Throws NotPossible. */
  put(tid: number, bytes: Uint8Array): number {
    if (bytes.length > TEXTS_SIZE / 4) throw new NotPossible(`at most ${TEXTS_SIZE / 4} bytes can be given`);
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
    // Always written: the program may have changed what it was given before.
    if (native().store(tid, BigInt(at), bytes) < 0)
      throw new NotPossible("the program's memory cannot be written");
    return at;
  }
}

/** The program has unmapped nothing of ours: what it does to its own memory is its own affair. */
export function putText(tid: number, space: Space, bytes: Uint8Array): number {
  if (!space.texts) {
    if (space.gadget === 0) space.gadget = findSyscall(tid) ?? 0;
    const from = space.gadget === 0 ? -1 : makeTexts(tid, space.gadget, TEXTS_SIZE);
    if (from < 0) throw new NotPossible("the program can be given no memory");
    space.texts = new Texts(from);
  }
  return space.texts.put(tid, bytes);
}
