import type { Inside } from "../../nouns/inside.js";
import { type CodeList, callerOf, onStack } from "../match/stack.js";
import type { RuleCondition } from "./rule.js";

/** Deep enough for recursive code; frames beyond are not examined. */
const MOST_FRAMES = 1024;

/** `stack`: some function on the stack. A stack that cannot be unwound to its end may contain anything. */
export function onCallStack(list: CodeList, texts: readonly string[], strict: boolean): RuleCondition {
  return {
    key: "stack",
    inside: true,
    holds: ({ event }: { readonly event: Inside }) => {
      const stack = event.stack(MOST_FRAMES);
      if (stack.end === "start") return onStack(list, stack);
      return strict || (list.excepted.length === 0 && onStack(list, stack));
    },
    tell: ({ event }) => `nothing on the stack is in ${texts.join(", ")}: ${event.stack(8).join(", ")}`,
  };
}

/** `caller`: the innermost function outside the C library. */
export function onCaller(list: CodeList, texts: readonly string[], strict: boolean): RuleCondition {
  return {
    key: "caller",
    inside: true,
    holds: ({ event }: { readonly event: Inside }) => {
      const caller = callerOf(event.stack());
      return caller === undefined ? strict : onStack(list, [caller]);
    },
    tell: ({ event }) =>
      `it is called by ${callerOf(event.stack()) ?? "an unknown function"}, not by ${texts.join(", ")}`,
  };
}
