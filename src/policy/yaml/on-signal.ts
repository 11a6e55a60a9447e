import { SIGNALLING, type Syscall, suggest } from "../../abi/index.js";
import type { Receiver, ReceiverKind } from "../../event.js";
import { type Comparison, compareScalar } from "../match/compare.js";
import { PatternError } from "../match/glob.js";
import type { Condition } from "./rule.js";

const KINDS: readonly (ReceiverKind | "any")[] = ["own", "session", "outside", "parent", "group", "any"];

/** Whom a signal reaches. Each receiver is judged on its own; one that cannot be found may be anybody. */
export function onReceiver(texts: readonly string[], calls: readonly Syscall[], strict: boolean): Condition {
  if (!calls.some(({ name }) => SIGNALLING.has(name)))
    throw new PatternError("what this rule is about signals nobody");
  const wanted = texts.filter((text) => !text.startsWith("!")).map(kindOf);
  const excepted = texts.filter((text) => text.startsWith("!")).map((text) => kindOf(text.slice(1)));
  const isOneOf = (kinds: readonly string[], { is }: Receiver) =>
    kinds.some((kind) => kind === "any" || (is as readonly string[]).includes(kind));
  const matches = (receiver: Receiver) =>
    (wanted.length === 0 || isOneOf(wanted, receiver)) && !isOneOf(excepted, receiver);
  return {
    key: "target",
    holds: ({ subject: { receiver } }) => {
      if (!receiver) return false;
      return receiver.is.length === 0 ? strict || wanted.includes("any") : matches(receiver);
    },
    tell: ({ subject: { receiver } }) => (receiver ? `it reaches ${nameOf(receiver)}` : "it signals nobody"),
  };
}

function nameOf({ pid, is }: Receiver): string {
  if (is.length === 0) return "a process that cannot be found";
  return `${pid === undefined ? "a process" : `process ${pid}`} (${is.join(", ")})`;
}

function kindOf(text: string): string {
  if ((KINDS as readonly string[]).includes(text)) return text;
  const near = suggest(text, KINDS);
  throw new PatternError(
    `"${text}" is no target: write ${KINDS.join(", ")}${near ? `; did you mean ${near}?` : ""}`,
  );
}

/** Which signal. Of F_SETOWN it is chosen by another call, and may be any. */
export function onSignal(texts: readonly string[], calls: readonly Syscall[], strict: boolean): Condition {
  const byCall = new Map<number, Comparison>();
  for (const { nr, args } of calls) {
    const index = args.findIndex(({ kind }) => kind === "signal");
    if (index >= 0) byCall.set(nr, compareScalar(args[index]!, index, texts));
  }
  if (byCall.size === 0) throw new PatternError("what this rule is about sends no signal");
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
