import type { Merged } from "../guard/config/tighten.js";

/** What a run was judged as, and what the kernel holds it to. Plain data: it crosses threads, and machines. */
export interface DeedOptions {
  /** Absolute. Nothing outside is changed, and the working directory stays inside. */
  readonly workspace: string;
  /** What may be changed besides: the run's own temporary folder, caches. */
  readonly writable: readonly string[];
  readonly profile: "standard" | "strict";
  /** Rules of the guard that a person has approved for this run: `recursive-delete`. */
  readonly approved: readonly string[];
  /** `public`: what the guard allows of URLs. `none`: no network at all, not even loopback. */
  readonly network: "public" | "none";
  /** Unix sockets of our own, by absolute path, that may be connected to although there is no network. */
  readonly connect?: readonly string[];
  /** hermes.yaml, as it was read when the run was judged. */
  readonly config?: Merged;
}
