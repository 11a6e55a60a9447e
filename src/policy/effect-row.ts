import type { CallEvent } from "../nouns/event.js";
import type { CallEffect, Effect, On } from "./effects.js";

/** One row of the table of effects (call-effects.ts): which calls have which effects on which object, and when. */
export interface EffectRow {
  readonly calls: string;
  readonly does: readonly Effect[];
  readonly on: On;
  readonly holds?: (bits: number, event: CallEvent) => boolean;
  readonly when?: CallEffect["when"];
  readonly subtree?: true;
  readonly why?: string;
}

export const path = (argument: string): On => ({ kind: "path", argument });
export const fd = (argument: string): On => ({ kind: "fd", argument });
export const ADDRESS: On = { kind: "address" };
export const ANY_ADDRESS: On = { kind: "any-address" };
export const PACKETS: On = { kind: "packets" };
export const PEER: On = { kind: "peer" };
export const LOCAL: On = { kind: "local" };
export const RECEIVERS: On = { kind: "receivers" };
export const NOTHING: On = { kind: "nothing" };
export const UNKNOWN_FILE: On = { kind: "unknown-file" };
