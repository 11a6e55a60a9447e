export type Action = "allow" | "ask" | "deny";

const STRICTNESS: Readonly<Record<Action, number>> = { allow: 0, ask: 1, deny: 2 };

/** Half open, in UTF-16 units of the subject's input. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The evidence of a layer. `allow` is a note: it stops nothing. */
export interface Finding {
  readonly layer: string;
  /** Stable, e.g. `recursive-delete`: configuration, approvals and tests use it. */
  readonly rule: string;
  readonly action: Action;
  /** For people and agents: what would happen. */
  readonly reason: string;
  readonly span?: Span;
  /** The file, or the host, that it is about, where an entry of `allow:` for it would lift the finding. */
  readonly about?: string;
  /** What to do instead, where there is an alternative. */
  readonly instead?: string;
}

export function strictest(a: Action, b: Action): Action {
  return STRICTNESS[b] > STRICTNESS[a] ? b : a;
}

/** Makes the findings of one layer: `const { ask, deny } = findings("paths")`. */
export function findings(layer: string) {
  const of =
    (action: Action) =>
    (rule: string, reason: string, span?: Span, instead?: string): Finding => ({
      layer,
      rule,
      action,
      reason,
      ...(span && { span }),
      ...(instead && { instead }),
    });
  return { allow: of("allow"), ask: of("ask"), deny: of("deny") };
}
