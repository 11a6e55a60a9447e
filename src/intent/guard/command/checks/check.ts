import type { Span } from "../../finding.js";
import { type CommandFolders, type PathPlace, pathPlace } from "../path-places.js";
import type { RuleId } from "../rules.js";
import type { Invocation, Word } from "../script.js";

/** A rule that applies, and where in the input. */
export interface RuleHit {
  readonly rule: RuleId;
  readonly span: Span;
  /** The path or variable that the reason names. */
  readonly about?: string;
  /** Found in a file of the project: only refusals count. */
  readonly filed?: boolean;
  /** Found in words that only look like a command. */
  readonly suspected?: boolean;
}

/** What a check knows beside the invocation. */
export interface CheckContext {
  readonly program: string;
  readonly surroundings: CommandFolders;
  /** Files that the same script downloaded. */
  readonly downloaded: Set<string>;
  /** Whether a file, not a folder, already exists there. */
  isFile(path: string): boolean;
  /** Paths that the same script moved files to. */
  readonly moved: Set<string>;
  /** Programs whose output is filtered down to harmless lines. */
  readonly narrowed: ReadonlySet<Invocation>;
}

/** Judges one aspect of one invocation. */
export type CommandCheck = (invocation: Invocation, situation: CheckContext) => readonly RuleHit[];

export const ruleHit = (rule: RuleId, span: Span, about?: string): RuleHit =>
  about === undefined ? { rule, span } : { rule, span, about };

export function placeOfWord(word: Word, cwd: string, { surroundings }: CheckContext): PathPlace {
  return pathPlace(word.text, word.glob, cwd, surroundings);
}

/** Programs that print bytes from the network. */
export const FETCHERS = new Set(
  "curl wget wget2 fetch aria2c axel lynx links w3m http https xh httpie nc ncat netcat socat telnet ftp tftp iwr irm ssh rsh openssl dig nslookup host drill gsutil".split(
    " ",
  ),
);

export const isLoopback = (url: string): boolean =>
  /^(?:[a-z]+:\/\/)?(?:[^/@]*@)?(?:localhost|127(?:\.\d+){0,3}|\[?::1\]?|0\.0\.0\.0|[\w.-]+\.localhost|host\.docker\.internal)(?::\d+)?(?:[/?#]|$)/i.test(
    url,
  );
