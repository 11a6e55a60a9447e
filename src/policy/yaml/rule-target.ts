import {
  CLASSES,
  SYSCALLS,
  type Syscall,
  suggest,
  syscallByName,
  syscallByNumber,
  syscallsOfClass,
} from "../../abi/index.js";
import { CALL_EFFECTS, callEffects } from "../call-effects.js";
import { type CallEffect, EFFECTS, type Effect, isEffect } from "../effects.js";
import { PatternError } from "../match/glob.js";

/** A rule's target: effects, by any call, and calls, with any effect. */
export interface RuleTarget {
  readonly names: readonly string[];
  readonly effects: ReadonlySet<Effect>;
  readonly calls: ReadonlySet<number>;
}

/** People say `fsync` and mean that data reaches the disk: programs call fdatasync as often. */
const FAMILIES: ReadonlyMap<string, Effect> = new Map([["fsync", "sync"]]);

/**
 * `read` is the effect, `%read` the class, `read()` the system call; a word that is no effect is a class or a
 * call.
 */
export function parseTarget(names: readonly string[]): RuleTarget {
  const effects = new Set<Effect>();
  const calls = new Set<number>();
  for (const name of names) {
    const effect = isEffect(name) ? name : FAMILIES.get(name);
    if (effect !== undefined) effects.add(effect);
    else for (const { nr } of callsOf(name)) calls.add(nr);
  }
  return { names, effects, calls };
}

function callsOf(name: string): readonly Syscall[] {
  if (name === "*") return SYSCALLS;
  if (name.endsWith("()")) return [syscallByName(name.slice(0, -2)) ?? unknown(name, "system call")];
  if (name.startsWith("%")) {
    const calls = syscallsOfClass(name.slice(1));
    return calls.length > 0 ? calls : unknown(name, "class");
  }
  const calls = syscallsOfClass(name);
  return calls.length > 0 ? calls : [syscallByName(name) ?? unknown(name, "effect, class or system call")];
}

function unknown(name: string, what: string): never {
  const candidates = [...Object.keys(EFFECTS), ...Object.keys(CLASSES), ...SYSCALLS.map((call) => call.name)];
  const near = suggest(name.replace(/^%|\(\)$/g, ""), candidates);
  throw new PatternError(`unknown ${what} "${name}"${near ? `: did you mean "${near}"?` : ""}`);
}

/** Of a call that a rule names by a bare word: an effect that other calls have too. */
export function widerEffect(name: string): Effect | undefined {
  const call = syscallByName(name);
  if (!call || isEffect(name) || FAMILIES.has(name)) return undefined;
  callsWith ??= byEffect();
  const effect = callEffects(call.nr)[0]?.does[0];
  return effect !== undefined && (callsWith.get(effect)?.size ?? 0) > 1 ? effect : undefined;
}

export function isAbout(target: RuleTarget, deed: CallEffect): boolean {
  return target.calls.has(deed.call.nr) || deed.does.some((effect) => target.effects.has(effect));
}

/** Every call that the target may concern, in the order of their numbers. */
export function callsConcerned(target: RuleTarget): Syscall[] {
  const numbers = new Set(target.calls);
  callsWith ??= byEffect();
  for (const effect of target.effects) for (const nr of callsWith.get(effect) ?? []) numbers.add(nr);
  return [...numbers].sort((a, b) => a - b).map((nr) => syscallByNumber(nr)!);
}

let callsWith: ReadonlyMap<Effect, ReadonlySet<number>> | undefined;

function byEffect(): ReadonlyMap<Effect, ReadonlySet<number>> {
  const calls = new Map<Effect, Set<number>>();
  for (const { call, does } of CALL_EFFECTS)
    for (const effect of does) {
      const known = calls.get(effect);
      if (known) known.add(call.nr);
      else calls.set(effect, new Set([call.nr]));
    }
  return calls;
}
