import { SIGNALLING, type Syscall, suggest } from "../../abi/index.js";
import type { Receiver, ReceiverKind } from "../../nouns/event.js";
import { PatternError } from "../match/glob.js";
import { reachedBy, reachesOthers } from "../match/reach.js";
import type { RuleCondition, RuleInput } from "./rule.js";

const KINDS: readonly (ReceiverKind | "any")[] = ["own", "session", "outside", "parent", "group", "any"];
/** Known only for the receivers of a signal. */
const OF_SIGNALS: readonly string[] = ["parent", "group"];

/**
 * The target of a call: the receivers of a signal, each judged separately, or the process or shared object
 * that the call names. A target that cannot be found may be any.
 */
export function onTarget(
  texts: readonly string[],
  calls: readonly Syscall[],
  strict: boolean,
): RuleCondition {
  const wanted = texts.filter((text) => !text.startsWith("!")).map(kindOf);
  const excepted = texts.filter((text) => text.startsWith("!")).map((text) => kindOf(text.slice(1)));
  checkCalls(calls, [...wanted, ...excepted]);
  const isOneOf = (kinds: readonly string[], { is }: Receiver) =>
    kinds.some((kind) => kind === "any" || (is as readonly string[]).includes(kind));
  const matches = (receiver: Receiver) =>
    (wanted.length === 0 || isOneOf(wanted, receiver)) && !isOneOf(excepted, receiver);
  return {
    key: "target",
    holds: (input) => {
      const receiver = receiverOf(input);
      if (!receiver) return false;
      return receiver.is.length === 0 ? strict || wanted.includes("any") : matches(receiver);
    },
    tell: (input) => {
      const receiver = receiverOf(input);
      return receiver ? `it reaches ${nameOf(input, receiver)}` : "it has no target";
    },
  };
}

function receiverOf({ subject, event }: RuleInput): Receiver | undefined {
  return subject.receiver ?? reachedBy(event);
}

function checkCalls(calls: readonly Syscall[], kinds: readonly string[]): void {
  const others = calls.filter(({ nr }) => reachesOthers(nr));
  if (others.length === 0 && !calls.some(({ name }) => SIGNALLING.has(name)))
    throw new PatternError("the calls of this rule have no process or shared object as target");
  const kind = kinds.find((word) => OF_SIGNALS.includes(word));
  if (kind && others.length > 0)
    throw new PatternError(
      `\`${kind}\` is known for signals only, not for ${others[0]!.name}: write a separate rule for \`signal\``,
    );
}

function nameOf({ event: { name } }: RuleInput, { pid, is }: Receiver): string {
  if (is.length === 0) return "a process that cannot be found";
  const what = /^(shm|sem|msg)/.test(name) ? "an object" : pid === undefined ? "a process" : `process ${pid}`;
  return `${what} (${is.join(", ")})`;
}

function kindOf(text: string): string {
  if ((KINDS as readonly string[]).includes(text)) return text;
  const near = suggest(text, KINDS);
  throw new PatternError(
    `unknown target "${text}": write ${KINDS.join(", ")}${near ? `; did you mean ${near}?` : ""}`,
  );
}
