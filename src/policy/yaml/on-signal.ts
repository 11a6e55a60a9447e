import { SIGNALLING, type Syscall } from "../../abi/index.js";
import { type Comparison, compareScalar } from "../match/compare.js";
import { PatternError } from "../match/glob.js";
import type { RuleCondition } from "./rule.js";

/** Matches the signal. The signal of F_SETOWN is chosen by another call, and may be any. */
export function onSignal(
  texts: readonly string[],
  calls: readonly Syscall[],
  strict: boolean,
): RuleCondition {
  const byCall = new Map<number, Comparison>();
  for (const { nr, args } of calls) {
    const index = args.findIndex(({ kind }) => kind === "signal");
    if (index >= 0) byCall.set(nr, compareScalar(args[index]!, index, texts));
  }
  if (byCall.size === 0) throw new PatternError("the calls of this rule send no signal");
  const indexOf = ({ args }: Syscall) => args.findIndex(({ kind }) => kind === "signal");
  const sends = ({ name }: Syscall) => strict && SIGNALLING.has(name);
  return {
    key: "signal",
    holds: ({ call, event }) => byCall.get(call.nr)?.test(event.argument(indexOf(call))) ?? sends(call),
    tell: ({ event }) => `it sends ${event.signal ?? "another signal"}`,
    constants: (call) => (byCall.has(call.nr) ? byCall.get(call.nr)!.cases : sends(call) ? undefined : []),
    sense: (call) => byCall.get(call.nr)?.sense ?? (sends(call) ? "sometimes" : "never"),
  };
}
