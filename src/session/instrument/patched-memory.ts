import { AwaitedCalls } from "./awaited-calls.js";
import type { Site } from "./sites.js";
import type { StubPool } from "./stub-pool.js";
import type { TextBuffer } from "./text-buffer.js";

const PAGE = 4096;

/** One address space, which processes may share: our changes in it. */
export class PatchedMemory {
  readonly #sites = new Map<number, Site>();
  /** Sites by page, for lookups by range. */
  readonly #pages = new Map<number, Set<number>>();
  /** Addresses of removed int3s: threads that hit one before the removal still have to report. */
  readonly removed = new Set<number>();
  readonly pools: StubPool[] = [];
  /** The address of a syscall instruction, 0 until known. */
  gadget = 0;
  /** Calls whose return is awaited. */
  frames = new AwaitedCalls();
  texts: TextBuffer | undefined;
  /** The program's own SIGTRAP action, if it has one (traps.ts). */
  trapAction: Uint8Array | undefined;
  /** The address of __errno_location, 0 when there is none. */
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

  /** The state that a forked child starts with. */
  copy(): PatchedMemory {
    const copy = new PatchedMemory();
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
