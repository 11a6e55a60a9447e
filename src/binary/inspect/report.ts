import type { Capability } from "./capabilities.js";
import type { CodeFunction } from "./functions.js";
import type { Hardening } from "./hardening.js";
import type { SourceLanguage } from "./languages.js";
import type { Library } from "./libraries.js";
import type { Packing } from "./packing.js";
import type { Text } from "./strings.js";
import type { SyscallSites } from "./syscalls.js";

/** A function or object that a file takes from others, or gives to them. */
export interface Linked {
  readonly name: string;
  readonly version?: string;
  readonly type: string;
  /** Of an export. */
  readonly address?: number;
}

/** The report on a file: the form of `hermes inspect --json` (docs/how-to/inspect.md). */
export interface Inspection {
  readonly file: string;
  readonly size: number;
  readonly type: string;
  readonly machine: string;
  readonly bits: 32 | 64;
  readonly endian: "little" | "big";
  readonly entry: number;
  readonly interpreter?: string;
  readonly soname?: string;
  readonly buildId?: string;
  /** Names of its own: all, only those that others link to, or none. */
  readonly symbols: "full" | "dynamic" | "none";
  readonly debugFile?: string;
  readonly static: boolean;
  readonly compilers: readonly string[];
  readonly languages: readonly SourceLanguage[];
  readonly hardening: Hardening;
  readonly libraries: readonly Library[];
  readonly imports: readonly Linked[];
  readonly exports: readonly Linked[];
  readonly strings: readonly Text[];
  /** Absent when its machine code is not understood: see `problems`. */
  readonly syscalls?: SyscallSites;
  readonly functions?: FunctionSummary;
  readonly packing: Packing;
  readonly capabilities: readonly Capability[];
  /** What is wrong with the file, or could not be looked at. */
  readonly problems: readonly string[];
}

export interface FunctionSummary {
  readonly count: number;
  readonly named: number;
  /** Found in the code itself: no table knows them. */
  readonly recovered: number;
  readonly calls: number;
  /** With --functions. */
  readonly list?: readonly CodeFunction[];
}
