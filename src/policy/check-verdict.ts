import { HermesError } from "../nouns/errors.js";
import { conflict, isStricter, VERDICT_ACTIONS, type Verdict } from "../nouns/verdict.js";

const KNOWN: ReadonlySet<unknown> = new Set(VERDICT_ACTIONS);

/**
 * Checks a handler's return value: a verdict, or nothing. Anything else is a mistake, and a mistake must not
 * allow the call.
 */
export function checkVerdict(answer: unknown): Verdict | undefined {
  if (answer === undefined || answer === null) return undefined;
  if (typeof answer === "object" && KNOWN.has((answer as Verdict).action)) return answer as Verdict;
  if (typeof (answer as Promise<unknown>).then === "function")
    throw new TypeError("it answered with a promise; a policy must decide synchronously (no async handlers)");
  throw new TypeError(
    `it answered ${JSON.stringify(answer)}, which is not a verdict: use allow(), deny(), redirect() …`,
  );
}

/**
 * The stricter of two verdicts on one event. Two verdicts that both change it are a conflict, unless they are
 * equal.
 * `who` names the two policies and the event, for the error.
 */
export function stricterVerdict<V extends Verdict>(
  a: V | undefined,
  b: V,
  who: () => [string, string, string],
): V {
  if (a === undefined || isStricter(b.action, a.action)) return b;
  if (conflict(a, b) && !sameChange(a, b)) {
    const [first, second, event] = who();
    throw new HermesError("CONFLICT", { a: first, b: second, event });
  }
  return a;
}

function sameChange(a: Verdict, b: Verdict): boolean {
  const essence = (v: Verdict) =>
    JSON.stringify([v.action, v.change, v.emulation, v.fault], (_, value) =>
      typeof value === "bigint" ? `${value}n` : value,
    );
  return essence(a) === essence(b);
}
