import { type Argument, FLAGS, type Syscall } from "../../abi/index.js";
import { flagsValue } from "../../abi/named.js";
import { ALWAYS, allCases, type Cases } from "../match/cases.js";
import { type Comparison, compareScalar } from "../match/compare.js";
import { PatternError } from "../match/glob.js";
import { jointSense } from "./on-arguments.js";
import type { RuleCondition, RuleInput } from "./rule.js";

const FAMILY = 0;
const TYPE = 1;
const AF_INET = BigInt(flagsValue("socket_family", "AF_INET"));
const AF_PACKET = BigInt(flagsValue("socket_family", "AF_PACKET"));
const SOCK_PACKET = BigInt(flagsValue("socket_type", "SOCK_PACKET"));
const SOCK_TYPE_MASK = 0xfn;

/**
 * The family and the type of a new socket. The flags in the type argument (SOCK_NONBLOCK, SOCK_CLOEXEC) are
 * ignored.
 */
export function onSocket(
  families: readonly string[] | undefined,
  types: readonly string[] | undefined,
  calls: readonly Syscall[],
  strict: boolean,
): RuleCondition {
  const [call] = calls.filter(makesSocket);
  if (!call) throw new PatternError("only socket and socketpair have a family and a type");
  const family = families && compared(call.args[FAMILY]!, FAMILY, families, "AF_");
  const type = types && compared(call.args[TYPE]!, TYPE, types, "SOCK_");
  const cases = casesOf(family, type);
  const senses = [family, type].flatMap((one) => one?.sense ?? []);
  const isFamily = ({ event }: RuleInput) => {
    const asked = BigInt.asUintN(32, event.argument(FAMILY));
    const made = isOldPacket(asked, event.argument(TYPE)) ? [asked, AF_PACKET] : [asked];
    return strict ? made.some(family!.test) : made.every(family!.test);
  };
  return {
    key: family ? "family" : "type",
    holds: (input) =>
      makesSocket(input.call) &&
      (!family || isFamily(input)) &&
      (!type || type.test(input.event.argument(TYPE))),
    tell: (input) => (makesSocket(input.call) ? nameOf(input) : `${input.call.name} creates no socket`),
    constants: (one) => (makesSocket(one) ? cases : []),
    sense: (one) => (makesSocket(one) ? jointSense(senses) : "never"),
  };
}

function nameOf({ event }: RuleInput): string {
  return `it is a socket of family ${event.argument(FAMILY)} and type ${event.argument(TYPE) & SOCK_TYPE_MASK}`;
}

function makesSocket({ name }: Syscall): boolean {
  return name === "socket" || name === "socketpair";
}

/** net/socket.c: a socket of AF_INET and SOCK_PACKET becomes one of AF_PACKET. */
function isOldPacket(family: bigint, type: bigint): boolean {
  return family === AF_INET && (type & SOCK_TYPE_MASK) === SOCK_PACKET;
}

/** `inet` is AF_INET and `stream` is SOCK_STREAM, with or without a `!`. */
function compared(argument: Argument, index: number, texts: readonly string[], prefix: string): Comparison {
  const { values } = FLAGS[argument.flags!]!;
  const full = (text: string) =>
    text.replace(/[A-Za-z]\w*/g, (word) => {
      const name = word.toUpperCase();
      return Object.hasOwn(values, prefix + name) ? prefix + name : name;
    });
  return compareScalar(argument, index, texts.map(full));
}

function casesOf(family: Comparison | undefined, type: Comparison | undefined): Cases | undefined {
  const both = allCases([family ? family.cases : ALWAYS, type ? type.cases : ALWAYS]);
  const isAlso = family?.test(AF_PACKET) && !family.test(AF_INET) && (type?.test(SOCK_PACKET) ?? true);
  if (!both || !isAlso) return both;
  return [
    ...both,
    [
      { arg: FAMILY, width: 32, op: "eq", value: AF_INET },
      { arg: TYPE, width: 32, op: "masked", mask: SOCK_TYPE_MASK, value: SOCK_PACKET },
    ],
  ];
}
