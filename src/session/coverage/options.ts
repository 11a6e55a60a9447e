/** What is to be known of the code that runs. Plain data: it crosses to the worker thread. */
export interface CoverageOptions {
  readonly unit: "blocks" | "functions";
  /** Which files, as in `libc!getenv`: `app` is the program itself. */
  readonly modules: readonly string[];
  /** How often functions are called, and not only whether. */
  readonly count: boolean;
  /** Counted by code of ours in the program, without a stop. */
  readonly fast: boolean;
}
