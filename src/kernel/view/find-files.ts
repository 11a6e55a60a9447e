import { readdirSync } from "node:fs";
import { ANY_DEPTH, matchPart, type Part, STAR } from "../../nouns/glob.js";
import { isAtOrBelow, outermost } from "../../nouns/path.js";
import { decodeText, encodeText } from "../../nouns/text.js";
import { compileGlob } from "../../policy/match/glob.js";
import { type FoundNames, type NameMemory, type NamePattern, scanNames } from "./name-scan.js";
import type { VisiblePlaces } from "./view.js";

/** Kernel file systems: what is in them is no file of anybody. */
const KERNEL = ["/proc", "/sys"];

const NOTHING_FOUND: FoundNames = { paths: [], unlisted: [] };

interface FindOptions extends VisiblePlaces {
  readonly memory: NameMemory;
}

interface FoundFiles {
  readonly paths: readonly string[];
  /** Folders that may hold such files, but cannot be listed. */
  readonly unlisted: readonly string[];
}

/** The files and folders that patterns match now, and some that they do not match. */
export function findFiles(
  patterns: readonly string[],
  { own, exposed, memory }: FindOptions,
): FoundFiles | { readonly why: string } {
  const paths = new Set<string>();
  const names = new Map<string, NamePattern>();
  for (const text of patterns) {
    const parts = withoutTail(compileGlob(text).parts);
    const deep = parts.indexOf(ANY_DEPTH);
    if (deep < 0) for (const path of expand(parts)) paths.add(path);
    else {
      const name = nameOf(parts.at(-1));
      if (!name) return { why: `the pattern ${text} matches too many names to hide the files one by one` };
      names.set(JSON.stringify(name), name);
    }
  }
  if (names.size === 0) return { paths: [...paths], unlisted: [] };
  const hiddenAway = [...own, ...KERNEL];
  const wanted = { skipped: hiddenAway, names: [...names.values()] };
  const shown = outermost(exposed.filter((path) => own.some((folder) => isAtOrBelow(path, folder))));
  const found = scanNames({ ...wanted, roots: ["/"] }, memory);
  // These are the run's own folders, and other ones each time: not worth a memory.
  const within = shown.length > 0 ? scanNames({ ...wanted, roots: shown }, {}) : NOTHING_FOUND;
  if (!found || !within) return { why: "there are too many files to look through for names" };
  const unlisted = [...new Set([...found.unlisted, ...within.unlisted])];
  const needed = unlisted.find((folder) => exposed.some((path) => isAtOrBelow(path, folder)));
  if (needed) return { why: `the folder ${needed} cannot be listed, but files in it can perhaps be opened` };
  for (const path of shown) if (isNamed(path, names.values())) paths.add(path);
  return { paths: [...new Set([...paths, ...found.paths, ...within.paths])], unlisted };
}

/** A folder that is exposed is found by the names on the way to it, too: those are in folders that are left out. */
function isNamed(path: string, names: Iterable<NamePattern>): boolean {
  const parts = path.split("/");
  return [...names].some((name) =>
    parts.some((part) =>
      "whole" in name ? part === name.whole : part.startsWith(name.start) && part.endsWith(name.end),
    ),
  );
}

/** Paths that patterns match whether they are there or not: those without wildcards, and names below these folders. */
export function namedPaths(patterns: readonly string[], folders: readonly string[]): string[] {
  return patterns.flatMap((text) => {
    const parts = withoutTail(compileGlob(text).parts);
    const name = parts.at(-1);
    if (parts.every((part) => typeof part === "string")) return [`/${parts.join("/")}`];
    return parts[0] === ANY_DEPTH && parts.length === 2 && typeof name === "string"
      ? folders.map((folder) => `${folder}/${name}`)
      : [];
  });
}

/** `/a/**` is about the folder itself, too: with it, all that is in it is hidden. */
function withoutTail(parts: readonly Part[]): readonly Part[] {
  return parts.at(-1) === ANY_DEPTH ? parts.slice(0, -1) : parts;
}

/** The paths that match, component by component. */
function expand(parts: readonly Part[]): string[] {
  let found = [""];
  for (const part of parts as readonly Exclude<Part, typeof ANY_DEPTH>[])
    found =
      typeof part === "string"
        ? found.map((folder) => `${folder}/${part}`)
        : found.flatMap((folder) =>
            namesIn(folder || "/")
              .filter((name) => matchPart(part, name))
              .map((name) => `${folder}/${name}`),
          );
  return found.map((path) => path || "/");
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(encodeText(folder) as Buffer, { encoding: "buffer" }).map(decodeText);
  } catch {
    return []; // the program cannot list it either
  }
}

/** Undefined for a part that says nothing of how a name begins or ends. */
function nameOf(part: Part | undefined): NamePattern | undefined {
  if (typeof part === "string") return { whole: part };
  if (part === undefined || part === ANY_DEPTH) return undefined;
  const { tokens } = part;
  const text = (token: unknown) => (typeof token === "string" ? token : "");
  const [start, end] = [
    text(tokens[0]),
    tokens.length > 1 && tokens.includes(STAR) ? text(tokens.at(-1)) : "",
  ];
  return start === "" && end === "" ? undefined : { start, end };
}
