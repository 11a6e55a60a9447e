/** Per session: open questions, and questions in a minute. A program that floods its approvers is refused. */
export const MAX_OPEN = 16;
export const MAX_PER_MINUTE = 40;
export const MINUTE = 60_000;
/** Letters. Nothing of a question is cut, and no approver reads more: a longer one is refused. */
export const LONGEST_QUESTION = 16_000;
/** Milliseconds: `approvals.timeout` takes no more (seven days). */
export const LONGEST_WAIT = 604_800_000;
/** After the time of a question is over, the store has so long to say so. */
export const GRACE_MS = 10_000;

/** Milliseconds that a question may hold a running program: the queue answers before, unless its store is stuck. */
export function heldAtMost({ timeout }: { readonly timeout: number }): number {
  return timeout * 1000 + GRACE_MS;
}
