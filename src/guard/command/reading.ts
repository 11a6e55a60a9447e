import type { Span } from "../finding.js";
import type { Invocation } from "./script.js";

/** Everything that reading a command has found out. */
export interface Reading {
  readonly invocations: Invocation[];
  readonly code: {
    readonly language: string;
    readonly text: string;
    readonly span: Span;
    readonly via: readonly string[];
    readonly filed: boolean;
    readonly suspected: boolean;
  }[];
  /** Text that the parser could not make sense of. */
  readonly errors: { readonly message: string; readonly span: Span }[];
  /** A loop that never ends and either does nothing or starts more and more. */
  endless: Span | undefined;
  /** A function that starts itself twice over. */
  forkBomb: Span | undefined;
  readonly home: string;
}

/** There is more of it than can be judged: that is refused. */
export class TooComplex extends Error {}
