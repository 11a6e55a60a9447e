import { ANY_DEPTH, matchParts, ONE, type Part, pushText, STAR, type Token } from "./glob.js";

/** What an entry of `allow:` in hermes.yaml lets happen. To write a file includes to read it. */
export const ALLOWED_DEEDS = ["read", "write", "run", "connect"] as const;
export type AllowedDeed = (typeof ALLOWED_DEEDS)[number];

/** One thing that the user's hermes.yaml allows although rules refuse it or ask. Plain data: it crosses threads. */
export interface Allowance {
  readonly does: AllowedDeed;
  /** A pattern of paths, the words of a command as patterns, or an address. */
  readonly what: string | readonly string[];
  /** Only while this is the workspace. */
  readonly in?: string;
  /** The policies whose rules it lifts, by name. */
  readonly policies: readonly string[];
}

/** The policies that hold what agents do. `tools` stands for the guard too: both judge the commands of tools. */
export const AGENT_POLICIES: readonly string[] = ["agent", "tools"];
export const TOOLS_POLICY = "tools";

/** A host, an address or a range, with a port or without, or a Unix socket. */
export const ADDRESS = /^(?:unix:\/\S+|[\w.:[\]-]+(?:\/\d{1,3})?(?::\d{1,5})?)$/;

/** No allowance covers HERMES's own records: with the key, a history could be written anew. */
export const OWN_RECORDS = ["/**/hermes.db", "/**/hermes.db[.-]*", "/**/.local/state/hermes/**"] as const;
const OWN_RECORD = /\/(?:hermes\.db(?:[.-][^/]*)?|\.local\/state\/hermes(?:\/.*)?)$/;

/** Whether an allowance covers a path, which is absolute and has no `..`. */
export function allowsPath({ does, what }: Allowance, access: "read" | "write", path: string): boolean {
  if (typeof what !== "string" || OWN_RECORD.test(path)) return false;
  if (does !== "write" && !(does === "read" && access === "read")) return false;
  return matchParts(pathParts(what), path.split("/").slice(1));
}

/** Whether an allowance covers a command, which is one program with its words. The whole command line counts. */
export function allowsCommand({ does, what }: Allowance, words: readonly string[]): boolean {
  if (does !== "run" || typeof what === "string") return false;
  const [program = "", ...rest] = words;
  const [pattern = "", ...others] = what;
  const called = pattern.includes("/") ? program : program.slice(program.lastIndexOf("/") + 1);
  return matchParts(
    [part(pattern), ...others.map((word) => (word === "**" ? ANY_DEPTH : part(word)))],
    [called, ...rest],
  );
}

/** The folders and files that hold everything that tools may write by allowances: what is before the first wildcard. */
export function writableFolders(allowances: readonly Allowance[]): string[] {
  return allowances.flatMap(({ does, what, policies }) => {
    if (does !== "write" || typeof what !== "string" || !policies.includes(TOOLS_POLICY)) return [];
    const parts = what.split("/").slice(1);
    const wild = parts.findIndex(isPattern);
    const names = wild < 0 ? parts : parts.slice(0, wild);
    return [`/${names.map((name) => name.replace(/\\(.)/gs, "$1")).join("/")}`];
  });
}

/** The words of a command as a regular expression (RE2) on the words joined by spaces. */
export function commandExpression(words: readonly string[]): string {
  const pieces = words.map((word, i) => {
    const start = i === 0 ? "" : " ";
    if (word === "**" && i > 0) return "( .*)?";
    return (
      start + word.replace(/\\.|[\s\S]/gu, (sign) => SIGNS[sign] ?? quoted(sign.replace(/^\\(?=.)/su, "")))
    );
  });
  return `^${pieces.join("")}$`;
}

const SIGNS: Readonly<Record<string, string>> = { "*": "[^ ]*", "?": "[^ ]" };
const quoted = (sign: string) => (/[\w ]/.test(sign) ? sign : `\\x{${sign.codePointAt(0)!.toString(16)}}`);

/** A text as a pattern that matches it alone. */
export function literally(text: string): string {
  return text.replace(/[\\*?[\]{}]/g, "\\$&");
}

function pathParts(pattern: string): Part[] {
  return pattern
    .split("/")
    .slice(1)
    .map((piece) => (piece === "**" ? ANY_DEPTH : part(piece)));
}

/** `*` and `?` are special, and a backslash takes that away. */
function part(pattern: string): Exclude<Part, typeof ANY_DEPTH> {
  const tokens: Token[] = [];
  for (const [sign] of pattern.matchAll(/\\.|[\s\S]/gu))
    if (sign === "*") tokens.push(STAR);
    else if (sign === "?") tokens.push(ONE);
    else pushText(tokens, sign.replace(/^\\(?=.)/su, ""));
  const [only = ""] = tokens;
  return tokens.length <= 1 && typeof only === "string" ? only : { tokens };
}

/** Whether a word is a pattern of more than one text. */
export function isPattern(text: string): boolean {
  return /(?:^|[^\\])(?:\\\\)*[*?]/.test(text);
}
