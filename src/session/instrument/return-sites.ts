import { REGISTER } from "../../kernel/binding/layout.js";
import type { Modules } from "../../kernel/process/modules.js";
import type { AwaitedCall } from "./awaited-calls.js";
import type { PatchedMemory } from "./patched-memory.js";
import { readWord } from "./read-code.js";
import type { SiteHit, SiteOwner, Sites } from "./sites.js";

/** Waits for the return of a function. */
interface ReturnWaiter {
  /**
   * The thread is where the function returned to. Returns 0, or how long to hold it, as a site's owner does.
   */
  returned(hit: SiteHit): number;
}

/** After this many unawaited threads in a row, remove the site: it only slows other calls down. */
const MOST_STRANGERS = 64;

/**
 * Sees functions return, by a site at the return address. The return address itself is not changed, because
 * unwinders, shadow stacks and garbage collectors read it.
 */
export class ReturnSites implements SiteOwner {
  readonly #sites: Sites;
  readonly #modules: (tid: number, address: number) => Modules;
  /** By address space and address: unawaited threads in a row. */
  readonly #strangers = new WeakMap<PatchedMemory, Map<number, number>>();

  constructor(sites: Sites, modules: (tid: number, address: number) => Modules) {
    this.#sites = sites;
    this.#modules = modules;
  }

  /**
   * At a function's first instruction: starts waiting for its return. False when the return cannot be seen.
   */
  await(hit: SiteHit, call: ReturnWaiter): boolean {
    const { tid, space, registers } = hit;
    const sp = registers.get(REGISTER.rsp);
    const returnsTo = readWord(tid, sp);
    if (returnsTo === undefined || !this.#placed(tid, space, returnsTo)) return false;
    space.frames.push({ sp, returnsTo, tid, call, address: hit.address });
    return true;
  }

  /** JIT code may be moved or rewritten by its compiler, so we place no int3 there. */
  #placed(tid: number, space: PatchedMemory, address: number): boolean {
    if (space.site(address)?.owners.some(({ owner }) => owner === this)) return true;
    if (!this.#modules(tid, address).at(address)) return false;
    return this.#sites.place(tid, space, [address], this).length === 0;
  }

  hit(hit: SiteHit): number {
    const { address, space, registers, tid } = hit;
    const sp = registers.get(REGISTER.rsp);
    const frame = space.frames.pop(address, sp);
    if (frame) {
      this.#strangers.get(space)?.delete(address);
      let held = 0;
      for (let at: AwaitedCall | undefined = frame; at && held === 0; at = at.before)
        held = (at.call as ReturnWaiter).returned(hit);
      return held;
    }
    this.#stranger(tid, space, address, sp);
    return 0;
  }

  #stranger(tid: number, space: PatchedMemory, address: number, sp: number): void {
    let strangers = this.#strangers.get(space);
    if (!strangers) {
      strangers = new Map();
      this.#strangers.set(space, strangers);
    }
    const count = (strangers.get(address) ?? 0) + 1;
    strangers.set(address, count);
    if (count % MOST_STRANGERS !== 0 || space.frames.awaited(address, tid, sp)) return;
    strangers.delete(address);
    this.#sites.remove(tid, space, [address], this);
  }
}
