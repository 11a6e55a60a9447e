import type { DecodedCall } from "../../kernel/decode/call.js";
import { formatAddress } from "../../nouns/address.js";

/** What one place was used for: a process, a file, a peer. */
export interface Use {
  calls: number;
  read: number;
  written: number;
}

export interface ActivityReport {
  /** Since when, in seconds since 1970. */
  readonly since: number;
  readonly processes: readonly (Use & { readonly pid: number })[];
  readonly files: readonly (Use & { readonly path: string })[];
  readonly peers: readonly (Use & { readonly address: string })[];
}

/** How many of each are kept, and how many of those are shown. */
const MAX_KEPT = 4096;
const MAX_TOLD = 40;

/**
 * Counts who does what with whom while a viewer is connected (`hermes top`): until the first look, and when no viewer has
 * looked for a while, a call costs nothing here.
 */
export class Activity {
  /** For how long one look keeps the counting going. */
  static readonly PATIENCE_MS = 10_000;

  /** Set by the first look, until one goes on for too long. */
  isWatched = false;
  #since = 0;
  #until = 0;
  readonly #processes = new Uses<number>();
  readonly #files = new Uses<string>();
  readonly #peers = new Uses<string>();

  /** A viewer asks for the counts. */
  look(): ActivityReport {
    const now = Date.now();
    if (now > this.#until) this.#clear(now);
    this.#until = now + Activity.PATIENCE_MS;
    this.isWatched = true;
    return {
      since: this.#since,
      processes: this.#processes.most((pid) => ({ pid })),
      files: this.#files.most((path) => ({ path })),
      peers: this.#peers.most((address) => ({ address })),
    };
  }

  #clear(now: number): void {
    this.#since = now / 1000;
    for (const uses of [this.#processes, this.#files, this.#peers]) uses.clear();
  }

  /** Whether a viewer is connected. */
  counts(event: DecodedCall): boolean {
    this.isWatched &&= event.time * 1000 <= this.#until;
    return this.isWatched;
  }

  /** Whether it wants to hear how the call ended: how much it read or wrote. */
  wantsReturn(event: DecodedCall): boolean {
    return this.counts(event) && carriesData(event);
  }

  entered(event: DecodedCall): void {
    if (!this.counts(event)) return;
    this.#processes.of(event.process.pid).calls++;
    for (const { path } of event.paths) this.#files.of(path).calls++;
    for (const address of event.addresses) this.#peers.of(formatAddress(address)).calls++;
  }

  returned(event: DecodedCall): void {
    if (!this.counts(event) || event.result <= 0 || !carriesData(event)) return;
    const direction = event.classes.includes("write") ? "written" : "read";
    this.#processes.of(event.process.pid)[direction] += event.result;
    const { fd } = event;
    if (fd?.kind === "file") add(this.#files.of(fd.target!), direction, event.result);
    else if (fd?.kind === "socket" && fd.peer)
      add(this.#peers.of(formatAddress(fd.peer)), direction, event.result);
  }
}

function add(use: Use, direction: "read" | "written", bytes: number): void {
  use.calls++;
  use[direction] += bytes;
}

function carriesData({ call }: DecodedCall): boolean {
  return call.returns === "count" && (call.classes.includes("read") || call.classes.includes("write"));
}

/** A program must not grow the supervisor by naming ever new files: when there are too many, the rarest go. */
class Uses<Key> {
  readonly #uses = new Map<Key, Use>();

  of(key: Key): Use {
    const known = this.#uses.get(key);
    if (known) return known;
    if (this.#uses.size >= MAX_KEPT) this.#forgetHalf();
    const made = { calls: 0, read: 0, written: 0 };
    this.#uses.set(key, made);
    return made;
  }

  #forgetHalf(): void {
    const rarest = [...this.#uses].sort(([, a], [, b]) => a.calls - b.calls);
    for (const [key] of rarest.slice(0, MAX_KEPT / 2)) this.#uses.delete(key);
  }

  most<Name extends object>(name: (key: Key) => Name): (Use & Name)[] {
    const sorted = [...this.#uses].sort(([, a], [, b]) => b.calls - a.calls);
    return sorted.slice(0, MAX_TOLD).map(([key, use]) => ({ ...name(key), ...use }));
  }

  clear(): void {
    this.#uses.clear();
  }
}
