import { Frames } from "./frames.js";
import type { Pool } from "./pool.js";
import type { Site } from "./sites.js";
import type { Texts } from "./texts.js";

const PAGE = 4096;

/** One memory that processes have or share: what we changed in it. */
export class Space {
  readonly #sites = new Map<number, Site>();
  /** Sites by page, for whoever asks what lies in a range. */
  readonly #pages = new Map<number, Set<number>>();
  /** Where an int3 of ours was: threads that ran into it before it went away have yet to tell. */
  readonly removed = new Set<number>();
  readonly pools: Pool[] = [];
  /** The address of a syscall instruction, 0 until it is known. */
  gadget = 0;
  /** Calls whose return is awaited. */
  frames = new Frames();
  texts: Texts | undefined;
  /** What the program does about SIGTRAP, when it does something (traps.ts). */
  trapAction: Uint8Array | undefined;
  /** Where __errno_location lies, 0 when there is none. */
  errnoLocation: number | undefined;

  site(address: number): Site | undefined {
    return this.#sites.get(address);
  }

  get sites(): IterableIterator<Site> {
    return this.#sites.values();
  }

  set(site: Site): void {
    const { address } = site;
    this.removed.delete(address);
    this.#sites.set(address, site);
    const page = Math.floor(address / PAGE);
    const known = this.#pages.get(page);
    if (known) known.add(address);
    else this.#pages.set(page, new Set([address]));
  }

  delete(address: number): void {
    if (!this.#sites.delete(address)) return;
    const page = Math.floor(address / PAGE);
    const known = this.#pages.get(page);
    known?.delete(address);
    if (known?.size === 0) this.#pages.delete(page);
    this.removed.add(address);
  }

  /** The sites in [from, to). */
  within(from: number, to: number): Site[] {
    const found: Site[] = [];
    const first = Math.floor(from / PAGE);
    const last = Math.floor((to - 1) / PAGE);
    const pages = last - first < this.#pages.size ? range(first, last) : [...this.#pages.keys()];
    for (const page of pages)
      for (const address of this.#pages.get(page) ?? [])
        if (address >= from && address < to) found.push(this.#sites.get(address)!);
    return found;
  }

  /** What a forked child begins with. */
  copy(): Space {
    const copy = new Space();
    for (const site of this.#sites.values()) copy.set(site);
    for (const address of this.removed) copy.removed.add(address);
    for (const pool of this.pools) copy.pools.push(pool.copy());
    copy.gadget = this.gadget;
    copy.frames = this.frames.copy();
    copy.trapAction = this.trapAction;
    copy.texts = this.texts?.copy();
    copy.errnoLocation = this.errnoLocation;
    return copy;
  }
}

function range(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);
}
