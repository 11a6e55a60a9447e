import type { Span } from "../finding.js";
import type { Invocation } from "./script.js";

/** Everything that the reader found in a command. */
export interface CommandReading {
  readonly invocations: Invocation[];
  readonly code: {
    readonly language: string;
    readonly text: string;
    readonly span: Span;
    readonly via: readonly string[];
    readonly filed: boolean;
    readonly suspected: boolean;
  }[];
  /** Errors of the parser. */
  readonly errors: { readonly message: string; readonly span: Span }[];
  /** A loop that never ends, and either does nothing or starts more and more. */
  endless: Span | undefined;
  /** A function that calls itself. */
  forkBomb: Span | undefined;
  readonly home: string;
}

/** The command is too long or too deep to be judged; the guard refuses it. */
export class TooComplex extends Error {}
