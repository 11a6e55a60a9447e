import { SYSCALLS, suggest, syscallByNumber } from "../../abi/index.js";
import type { CallEvent } from "../../nouns/event.js";
import type { CallSubscription } from "../policy.js";
import { CALL_WORDS, type CallWord, namesOfCall, plain } from "./call-words.js";
import type { Comparison, Mentioned } from "./mentioned.js";
import { camelName } from "./names.js";

/** A name under which `on_syscall` is asked about a call; a word has the arguments of its own call. */
export interface AskedName {
  readonly text: string;
  readonly word?: CallWord;
}

/** The names under which a script's `on_syscall` is asked about each call: those that the script knows. */
export class AskedNames {
  /** Calls that the script's words need besides its subscription. */
  readonly added: ReadonlyMap<number, CallSubscription["when"]>;
  readonly #names = new Map<number, readonly AskedName[]>();

  /** `subscribed`: the words that the script subscribes to, if it chooses its calls itself. */
  constructor(nrs: readonly number[], mentioned: Mentioned, subscribed: readonly CallWord[] | undefined) {
    const spelled = spellings(mentioned);
    const words = CALL_WORDS.filter(({ word }) => spelled.has(plain(word)));
    const added = new Map((subscribed ?? words).flatMap(({ calls }) => [...calls]));
    for (const nr of nrs) added.delete(nr);
    this.added = added;
    const all = [...nrs, ...added.keys()];
    checkComparisons(mentioned.comparisons, all);
    for (const nr of all) this.#names.set(nr, namesFor(nr, words, spelled));
  }

  /** The strictest answer holds where there are several. */
  of(event: CallEvent): readonly AskedName[] {
    const known = this.#names.get(event.nr)!;
    if (known.length === 1 && !known[0]!.word) return known;
    const meant = known.filter(({ word }) => !word || word.means(event));
    return meant.length > 0 ? meant : [{ text: camelName(syscallByNumber(event.nr)!) }];
  }
}

/** Names as the script spells them, by their plain form. A spelling that is compared comes before others. */
function spellings({ words, comparisons }: Mentioned): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const word of words) if (!found.has(plain(word))) found.set(plain(word), new Set());
  for (const { text, case: how } of comparisons) if (how === "exact") found.get(plain(text))?.add(text);
  return found;
}

function namesFor(nr: number, words: readonly CallWord[], spelled: Map<string, Set<string>>): AskedName[] {
  const as = (name: string, word?: CallWord): AskedName[] => {
    const known = spelled.get(plain(name))!;
    return (known.size > 0 ? [...known] : [name]).map((text) => (word ? { text, word } : { text }));
  };
  const own = camelName(syscallByNumber(nr)!);
  const meant = words.filter(({ calls }) => calls.has(nr));
  const names = meant.flatMap((word) => as(word.word, word));
  const isOwnKnown = spelled.has(plain(own)) && !meant.some(({ word }) => word === own);
  if (isOwnKnown) names.push(...as(own));
  return names.length > 0 ? names : [{ text: own }];
}

/** A name that never comes would be a rule that never holds: an error, with the name that was probably meant. */
function checkComparisons(comparisons: readonly Comparison[], nrs: readonly number[]): void {
  const asked = new Set(nrs.flatMap(namesOfCall).map(plain));
  for (const { text, line, case: how } of comparisons) {
    const changed = how === "exact" ? text : how === "lower" ? text.toLowerCase() : text.toUpperCase();
    if (text !== changed)
      throw new NameError(
        line,
        `name:${how}() is never ${JSON.stringify(text)}: write ${JSON.stringify(changed)}`,
      );
    if (asked.has(plain(text))) continue;
    throw new NameError(line, unknownName(text, nrs));
  }
}

function unknownName(text: string, nrs: readonly number[]): string {
  const quoted = JSON.stringify(text);
  const call = SYSCALLS.find(({ name }) => plain(name) === plain(text));
  if (call)
    return `on_syscall is never asked about ${quoted}: it is not among the calls of this script; name it in \`subscribe\`, as in subscribe = { "%file", "${call.name}" }`;
  const near = suggest(text, [...nrs, ...SYSCALLS.map(({ nr }) => nr)].flatMap(namesOfCall));
  return `no call is named ${quoted}, so this never holds${near ? `: did you mean "${near}"?` : ""}`;
}

/** A wrong name, and the script's line. */
export class NameError extends Error {
  readonly line: number;
  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/** `subscribe = { "Open" }` means the word, `{ "open" }` the call of this name alone. */
export function subscribedWord(name: string): CallWord | undefined {
  return CALL_WORDS.find(({ word }) => word === name);
}
