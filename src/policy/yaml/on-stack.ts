import type { Inside } from "../../inside.js";
import { type CodeList, callerOf, onStack } from "../match/stack.js";
import type { Condition } from "./rule.js";

/** Deep enough for what recurses; beyond that nobody looks. */
const MOST_FRAMES = 1024;

/** `stack`: some function on the stack. A stack that cannot be followed to its end could hold anything. */
export function onCallStack(list: CodeList, texts: readonly string[], strict: boolean): Condition {
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
export function onCaller(list: CodeList, texts: readonly string[], strict: boolean): Condition {
  return {
    key: "caller",
    inside: true,
    holds: ({ event }: { readonly event: Inside }) => {
      const caller = callerOf(event.stack());
      return caller === undefined ? strict : onStack(list, [caller]);
    },
    tell: ({ event }) => `it is called by ${callerOf(event.stack()) ?? "nobody"}, not by ${texts.join(", ")}`,
  };
}
