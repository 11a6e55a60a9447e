import { type Syscall, syscallByName, syscallByNumber } from "../../abi/index.js";
import { flagsValue } from "../../abi/named.js";
import type { CallEvent } from "../../nouns/event.js";
import { CALL_EFFECTS, callEffects } from "../call-effects.js";
import { hasAddress } from "../effect-conditions.js";
import type { CallEffect, Effect } from "../effects.js";
import { flagBits } from "../match/subject.js";
import type { CallSubscription } from "../policy.js";
import { camelName } from "./names.js";

/**
 * Six words of `on_syscall` mean what a call does, whichever call does it: programs open files with openat,
 * and connect with a send. A script that speaks of "Open" is asked about every open.
 */
export interface CallWord {
  readonly word: string;
  /** The call whose arguments it has. */
  readonly shape: Syscall;
  /** The calls that it can mean, each with the register arguments that it takes for that. */
  readonly calls: ReadonlyMap<number, CallSubscription["when"]>;
  /** True if this call, which is one of `calls`, does that. */
  means(event: CallEvent): boolean;
}

const named = (names: string) => names.split(" ").map((name) => syscallByName(name)!);

function byEffect(word: string, effect: Effect): CallWord {
  const calls = new Map<number, CallSubscription["when"]>();
  for (const { call, does, when } of CALL_EFFECTS) {
    if (!does.includes(effect)) continue;
    const known = calls.get(call.nr);
    calls.set(call.nr, calls.has(call.nr) ? known && when && [...known, ...when] : when);
  }
  const shape = syscallByName(word.toLowerCase())!;
  return { word, shape, calls, means: (event) => event.nr === shape.nr || has(effect, event) };
}

function has(effect: Effect, event: CallEvent): boolean {
  const bits = flagBits(syscallByNumber(event.nr)!, event);
  const holds = ({ does, holds }: CallEffect) => does.includes(effect) && (!holds || holds(bits, event));
  return callEffects(event.nr).some(holds);
}

function byName(word: string, names: string, means: CallWord["means"] = () => true): CallWord {
  const calls = new Map(named(names).map(({ nr }) => [nr, undefined]));
  return { word, shape: syscallByName(word.toLowerCase())!, calls, means };
}

const SENDTO = syscallByName("sendto")!.nr;

export const CALL_WORDS: readonly CallWord[] = [
  byName("Open", "open openat openat2 creat open_by_handle_at"),
  byEffect("Read", "read_data"),
  byEffect("Write", "write_data"),
  byName("Execve", "execve execveat"),
  byEffect("Connect", "connect"),
  byName("SendTo", "sendto sendmsg sendmmsg", (event) => event.nr === SENDTO || hasAddress(0, event)),
];

/** A name without the difference of spellings: "SendTo" and "send_to" are one. */
export const plain = (name: string) => name.replaceAll("_", "").toLowerCase();

/** Every name under which `on_syscall` can be asked about this call: its own, and the words that may mean it. */
export function namesOfCall(nr: number): readonly string[] {
  const words = CALL_WORDS.filter(({ calls }) => calls.has(nr)).map(({ word }) => word);
  return [...new Set([...words, camelName(syscallByNumber(nr)!)])];
}

const CREAT = syscallByName("creat")!;
const AS_CREAT = BigInt(flagsValue("open", "O_WRONLY|O_CREAT|O_TRUNC"));

/** Where the call that was made has an argument of the word's own call, or its value. */
export function argumentOf(shape: Syscall, index: number, event: CallEvent): number | bigint | undefined {
  const wanted = shape.args[index];
  const call = syscallByNumber(event.nr)!;
  if (!wanted || call === shape) return index;
  if (wanted.name === "flags" && shape.name === "open")
    return call === CREAT ? AS_CREAT : BigInt(flagBits(call, event));
  const at = call.args.findIndex(({ name }) => name === wanted.name);
  if (at >= 0) return at;
  const path = wanted.kind === "path" ? call.args.findIndex(({ kind }) => kind === "path") : -1;
  return path < 0 ? undefined : path;
}
