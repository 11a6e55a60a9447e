/** A supervised run on this machine (`hermes run`, `hermes trace`), as the page shows it. All of it is hostile text. */
export interface RunView {
  readonly supervisor: number;
  /** Seconds since 1970; with the process number, which run this is. */
  readonly started: number;
  readonly command: readonly string[];
  readonly paused: boolean;
  readonly calls: number;
  readonly callsPerSecond: number;
  readonly policies: readonly { readonly name: string; readonly version: string; readonly file?: string }[];
  /** The file that its calls are recorded in. */
  readonly trace?: string;
  /** What was refused or changed, the most frequent first. */
  readonly decisions: readonly { readonly action: string; readonly what: string; readonly count: number }[];
  readonly tree: readonly {
    readonly pid: number;
    readonly parent: number;
    readonly command: readonly string[];
  }[];
}

/** One call of a run, from its trace. */
export interface LiveCall {
  readonly time: number;
  readonly pid: number;
  readonly name: string;
  /** What it is about. All of it is hostile text. */
  readonly about: string;
  readonly action: string;
  readonly result: string;
  readonly why?: string;
}

export const RUN_ACTIONS = ["pause", "resume", "end", "kill"] as const;
export type RunAction = (typeof RUN_ACTIONS)[number];

/** How runs are found and signalled; the command that starts the console provides it. */
export interface Runs {
  list(): Promise<readonly RunView[]>;
  apply(run: Pick<RunView, "supervisor" | "started">, act: RunAction): Promise<void>;
}
