/**
 * What of a file's name is its own, and what is only of this run: process numbers, counters, hashes, the random part of a
 * temporary name, versions. The latter become wildcards, so that two runs of one program look alike.
 */

/** Stands in a name for what is left open; no name can have it. */
export const ANY = "\0";

/** Characters that mean something in a pattern. */
export function escapePattern(text: string): string {
  return text.replace(/[\\*?[\]{}]/g, "\\$&");
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
/** 2026-11-15, 20261115, 2026-11-15T11_25_43_731Z … */
const DATE =
  /(?<!\d)(?:19|20)\d\d([-_.]?)(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12]\d|3[01])(?:[T_ -]?\d{2}[-_:.]?\d{2}(?:[-_:.]?\d{2}(?:[-_.,]\d+)?)?Z?)?(?!\d)/g;
const VERSION = /^\d+(?:\.\d+)+(?:[-+~][\w.]+)?$/;
const EXTENSION = /(?:\.[A-Za-z][A-Za-z0-9]{0,5}){1,2}$/;
/** The shortest run of letters and digits that mktemp(3) would make. */
const RANDOM = 6;
/** How much of a temporary name without separators is kept: "cc" of ccYj1Bq2.s, "tmp" of tmpab12cd_x. */
const KEPT = 3;

/** A name as a pattern; `temporary` says that it was made by a call that makes sure that it is new. */
export function patternOfName(name: string, temporary = false): string {
  if (name === ANY + ANY) return "**";
  if (/^\d+$/.test(name) || VERSION.test(name)) return "[0-9]*";
  const marked = name.replace(UUID, ANY).replace(DATE, ANY);
  const parts = marked.split(/([._\-+~:@#,= ()]+)/);
  const shaped = parts.map((part, i) => (i % 2 === 1 ? escapePattern(part) : shapeOfWord(part)));
  const pattern = withVersions(shaped.join(""));
  if (!temporary || pattern.includes("*")) return pattern;
  return temporaryShape(name);
}

/** A piece of a name between separators. */
function shapeOfWord(word: string): string {
  if (word.includes(ANY)) return word.split(ANY).map(escapePattern).join("*");
  if (/^\d+$/.test(word)) return word.length >= 3 ? "[0-9]*" : word;
  if (isRandom(word)) return "*";
  return escapePattern(word);
}

/** Hashes and random names: letters and digits mixed as no person does. */
function isRandom(word: string): boolean {
  if (word.length < RANDOM) return false;
  if (/^[0-9a-f]{7,}$/i.test(word) && turns(word) >= 2) return true; // "ed25519" is none
  if (word.length >= 16 && /^[0-9a-f]+$/.test(word)) return true;
  if (!/^[A-Za-z0-9]+$/.test(word)) return false;
  return turns(word) >= 3 && /\d/.test(word)
    ? true
    : turns(word) >= 4 && /[a-z][A-Z]/.test(word) && !isCamel(word);
}

/** How often a word changes between small letters, capitals and digits. */
function turns(word: string): number {
  const kind = (c: string) => (/\d/.test(c) ? 0 : /[A-Z]/.test(c) ? 1 : 2);
  let count = 0;
  for (let i = 1; i < word.length; i++) if (kind(word[i]!) !== kind(word[i - 1]!)) count++;
  return count;
}

function isCamel(word: string): boolean {
  return /^[A-Za-z]?[a-z]*(?:[A-Z][a-z]+)+$/.test(word);
}

/** `python3.11`, `libssl.so.3.0.2`, `v20.1.0`. */
function withVersions(pattern: string): string {
  return pattern
    .replace(/(?<![\d[\]*])(?<!\d\.)\d+(?:\.(?:\d+|\[0-9\]\*))+(?=$|[-_+~/]|\.[A-Za-z])/g, "[0-9]*")
    .replace(/\.so\.\d+$/, ".so.[0-9]*")
    .replace(/\[0-9\]\*(?:\.\[0-9\]\*)+/g, "[0-9]*");
}

/** Nothing in the name looks random, yet it is: keep how it begins and ends. */
function temporaryShape(name: string): string {
  const extension = EXTENSION.exec(name)?.[0] ?? "";
  const stem = name.slice(0, name.length - extension.length);
  const run = /[A-Za-z0-9_]*$/.exec(stem)![0];
  if (run.length < RANDOM) return escapePattern(name);
  const before = stem.slice(0, stem.length - run.length);
  const separator = run.lastIndexOf("_", run.length - RANDOM - 1);
  const kept =
    separator >= 0
      ? run.slice(0, separator + 1)
      : before === ""
        ? run.slice(0, Math.min(KEPT, run.length - RANDOM))
        : "";
  return `${escapePattern(before + kept)}*${escapePattern(extension)}`;
}

const LONG_HASH = /^[0-9a-f]{16,}$/;
const SHORT_HASH = /^[0-9a-f]{1,4}$/;

/** Folders whose folders only split up hashes, as in `objects/ab/cdef…`: they are a part of the hash. */
export function hashFolders(paths: Iterable<string>): Set<string> {
  const folders = new Set<string>();
  for (const path of paths) {
    const names = path.split("/");
    if (!LONG_HASH.test(names.at(-1)!)) continue;
    let at = names.length - 1;
    while (SHORT_HASH.test(names[at - 1] ?? "")) at--;
    if (at < names.length - 1) folders.add(names.slice(0, at).join("/"));
  }
  return folders;
}

export interface ShapeOptions {
  /** The last name was made by a call that makes sure that it is new. */
  readonly temporary?: boolean;
  /** What comes before the names, and the folders that are known: of hashes, and temporary ones. */
  readonly root?: string;
  readonly hashes?: ReadonlySet<string>;
  readonly temporaries?: ReadonlySet<string>;
}

/** The shapes of a path's names. */
export function patternsOfNames(
  names: readonly string[],
  { temporary = false, root = "", hashes, temporaries }: ShapeOptions = {},
): string[] {
  let folder = root;
  let inHash = false;
  return names.map((name, i) => {
    inHash = (inHash || hashes?.has(folder) === true) && SHORT_HASH.test(name);
    folder = `${folder}/${name}`;
    if (inHash) return "*";
    const isTemporary = temporaries?.has(folder) === true || (temporary && i === names.length - 1);
    return patternOfName(name, isTemporary);
  });
}
