import type { Span } from "../../finding.js";
import { type Place, placeOf, type Surroundings } from "../places.js";
import type { RuleId } from "../rules.js";
import type { Invocation, Word } from "../script.js";

/** A rule that applies, and where in the input. */
export interface Found {
  readonly rule: RuleId;
  readonly span: Span;
  /** What it is about, for the reason: a path, a variable. */
  readonly about?: string;
  /** It was found in a file of the project: only what is beyond doubt counts. */
  readonly filed?: boolean;
  /** It was found in words that only read like a command. */
  readonly suspected?: boolean;
}

/** What a check may know beside the invocation itself. */
export interface Situation {
  readonly program: string;
  readonly surroundings: Surroundings;
  /** Files that the same script has downloaded. */
  readonly downloaded: Set<string>;
  /** A file, not a folder, that lies there already. */
  isFile(path: string): boolean;
  /** Where the same script has moved things to. */
  readonly moved: Set<string>;
  /** Programs of whose output only harmless lines are shown. */
  readonly narrowed: ReadonlySet<Invocation>;
}

/** One aspect of one invocation. */
export type Check = (invocation: Invocation, situation: Situation) => readonly Found[];

export const found = (rule: RuleId, span: Span, about?: string): Found =>
  about === undefined ? { rule, span } : { rule, span, about };

export function placeOfWord(word: Word, cwd: string, { surroundings }: Situation): Place {
  return placeOf(word.text, word.glob, cwd, surroundings);
}

/** Programs that bring bytes from the network to their output. */
export const FETCHERS = new Set(
  "curl wget wget2 fetch aria2c axel lynx links w3m http https xh httpie nc ncat netcat socat telnet ftp tftp iwr irm ssh rsh openssl dig nslookup host drill gsutil".split(
    " ",
  ),
);

export const isLoopback = (url: string): boolean =>
  /^(?:[a-z]+:\/\/)?(?:[^/@]*@)?(?:localhost|127(?:\.\d+){0,3}|\[?::1\]?|0\.0\.0\.0|[\w.-]+\.localhost|host\.docker\.internal)(?::\d+)?(?:[/?#]|$)/i.test(
    url,
  );
