import { REGISTER } from "../kernel/layout.js";
import type { Modules } from "../process/modules.js";
import { wordAt } from "./code-at.js";
import type { Frame } from "./frames.js";
import type { Hit, SiteOwner, Sites } from "./sites.js";
import type { Space } from "./space.js";

/** Whoever waits for a function to return. */
export interface Awaiting {
  /** The thread stands where the function returned to. As a site's owner: 0, or how long it is held. */
  returned(hit: Hit): number;
}

/** So many threads in a row that nobody waited for: the site is in the way of somebody else's calls. */
const MOST_STRANGERS = 64;

/**
 * Sees functions return: by a site where they return to. Return addresses themselves stay as they are, since unwinding,
 * shadow stacks and collectors of garbage look at them.
 */
export class Returns implements SiteOwner {
  readonly #sites: Sites;
  readonly #modules: (tid: number, address: number) => Modules;
  /** In whose memory, where: threads that came by without having been waited for. */
  readonly #strangers = new WeakMap<Space, Map<number, number>>();

  constructor(sites: Sites, modules: (tid: number, address: number) => Modules) {
    this.#sites = sites;
    this.#modules = modules;
  }

  /** At a function's first instruction: from here on its return is awaited. False when it cannot be seen. */
  await(hit: Hit, call: Awaiting): boolean {
    const { tid, space, registers } = hit;
    const sp = registers.get(REGISTER.rsp);
    const returnsTo = wordAt(tid, sp);
    if (returnsTo === undefined || !this.#placed(tid, space, returnsTo)) return false;
    space.frames.push({ sp, returnsTo, tid, call, address: hit.address });
    return true;
  }

  /** Code that no file stands for may be moved or rewritten by who made it: we leave no int3 there. */
  #placed(tid: number, space: Space, address: number): boolean {
    if (space.site(address)?.owners.some(({ owner }) => owner === this)) return true;
    if (!this.#modules(tid, address).at(address)) return false;
    return this.#sites.place(tid, space, [address], this).length === 0;
  }

  hit(hit: Hit): number {
    const { address, space, registers, tid } = hit;
    const sp = registers.get(REGISTER.rsp);
    const frame = space.frames.pop(address, sp);
    if (frame) {
      this.#strangers.get(space)?.delete(address);
      let held = 0;
      for (let at: Frame | undefined = frame; at && held === 0; at = at.before)
        held = (at.call as Awaiting).returned(hit);
      return held;
    }
    this.#stranger(tid, space, address, sp);
    return 0;
  }

  #stranger(tid: number, space: Space, address: number, sp: number): void {
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
