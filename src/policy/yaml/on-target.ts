import { SIGNALLING, type Syscall, suggest } from "../../abi/index.js";
import type { Receiver, ReceiverKind } from "../../event.js";
import { PatternError } from "../match/glob.js";
import { reachedBy, reachesOthers } from "../match/reach.js";
import type { Condition, Sight } from "./rule.js";

const KINDS: readonly (ReceiverKind | "any")[] = ["own", "session", "outside", "parent", "group", "any"];
/** These are known of the receivers of a signal alone. */
const OF_SIGNALS: readonly string[] = ["parent", "group"];

/**
 * Whom a call reaches: the receivers of a signal, each judged on its own, or the process or shared object that the call
 * is about. One that cannot be found may be anybody.
 */
export function onTarget(texts: readonly string[], calls: readonly Syscall[], strict: boolean): Condition {
  const wanted = texts.filter((text) => !text.startsWith("!")).map(kindOf);
  const excepted = texts.filter((text) => text.startsWith("!")).map((text) => kindOf(text.slice(1)));
  checkCalls(calls, [...wanted, ...excepted]);
  const isOneOf = (kinds: readonly string[], { is }: Receiver) =>
    kinds.some((kind) => kind === "any" || (is as readonly string[]).includes(kind));
  const matches = (receiver: Receiver) =>
    (wanted.length === 0 || isOneOf(wanted, receiver)) && !isOneOf(excepted, receiver);
  return {
    key: "target",
    holds: (sight) => {
      const receiver = receiverOf(sight);
      if (!receiver) return false;
      return receiver.is.length === 0 ? strict || wanted.includes("any") : matches(receiver);
    },
    tell: (sight) => {
      const receiver = receiverOf(sight);
      return receiver ? `it reaches ${nameOf(sight, receiver)}` : "it reaches nobody";
    },
  };
}

function receiverOf({ subject, event }: Sight): Receiver | undefined {
  return subject.receiver ?? reachedBy(event);
}

function checkCalls(calls: readonly Syscall[], kinds: readonly string[]): void {
  const others = calls.filter(({ nr }) => reachesOthers(nr));
  if (others.length === 0 && !calls.some(({ name }) => SIGNALLING.has(name)))
    throw new PatternError("what this rule is about reaches no process and no shared object");
  const kind = kinds.find((word) => OF_SIGNALS.includes(word));
  if (kind && others.length > 0)
    throw new PatternError(
      `\`${kind}\` is known of signals alone, not of ${others[0]!.name}: write a rule of its own for \`signal\``,
    );
}

function nameOf({ event: { name } }: Sight, { pid, is }: Receiver): string {
  if (is.length === 0) return "a process that cannot be found";
  const what = /^(shm|sem|msg)/.test(name) ? "an object" : pid === undefined ? "a process" : `process ${pid}`;
  return `${what} (${is.join(", ")})`;
}

function kindOf(text: string): string {
  if ((KINDS as readonly string[]).includes(text)) return text;
  const near = suggest(text, KINDS);
  throw new PatternError(
    `"${text}" is no target: write ${KINDS.join(", ")}${near ? `; did you mean ${near}?` : ""}`,
  );
}
