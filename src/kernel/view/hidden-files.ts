import { lstatSync, readdirSync, realpathSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { isAtOrBelow } from "../../nouns/path.js";
import { decodeText, encodeText } from "../../nouns/text.js";
import type { ReadRefusal } from "../../policy/policy.js";

/** A file or folder that the program does not find. */
export interface HiddenFile {
  readonly path: string;
  readonly by?: ReadRefusal;
  /** Which file it is. One that another program puts in its place is not hidden by the same mask. */
  readonly identity?: string;
  /** Of a folder: files in it whose reading is noticed. */
  readonly files?: readonly string[];
}

/** A name that no file has: what holds for it holds for every name without an exception. */
export const ANY_NAME = "\u0001";
/** Looking for one of these in a hidden folder is noticed. All others are hidden just as well. */
const MAX_NOTICED = 200;
const MAX_NOTICED_DEPTH = 3;

interface Reading {
  refusal(path: string): ReadRefusal | undefined;
  /** The rule that refuses the folder and everything in it, without an exception. */
  refusesAll(folder: string): ReadRefusal | undefined;
  isVisible(path: string): boolean;
}

/**
 * What to hide, so that none of these files can be read that `refusal` is about. A folder is hidden as a whole if nothing
 * in it may be read. A link cannot be hidden: to read through it is judged by where it leads, and whether it is there itself
 * (`hasLinks`) is for the caller to know.
 */
export function hiddenFiles(
  paths: readonly string[],
  { refusal, refusesAll, isVisible }: Reading,
): { readonly hidden: HiddenFile[]; readonly hasLinks: boolean } {
  let hasLinks = false;
  const hidden = new Map<string, HiddenFile>();
  const folders: string[] = [];
  const hide = (path: string): void => {
    if (!isVisible(path) || hidden.has(path) || folders.some((folder) => isAtOrBelow(path, folder))) return;
    const { kind, identity } = look(path);
    if (kind === "link" && refusal(path)) hasLinks = true;
    if (kind === "none" || kind === "link") return;
    const by = kind === "folder" ? refusesAll(path) : refusal(path);
    if (by) hidden.set(path, { path, by, identity, ...(kind === "folder" && { files: filesBelow(path) }) });
    if (kind !== "folder") return;
    if (by) folders.push(path);
    else if (refusal(`${path}/${ANY_NAME}`)) for (const name of entriesOf(path)) hide(`${path}/${name}`);
  };
  for (const path of [...paths].sort((a, b) => a.length - b.length)) if (isReal(path)) hide(path);
  return { hidden: [...hidden.values()], hasLinks };
}

function look(path: string): {
  readonly kind: "file" | "folder" | "link" | "none";
  readonly identity: string;
} {
  const info = statOf(path);
  if (!info) return { kind: "none", identity: "" };
  if (info.isSymbolicLink()) return { kind: "link", identity: "" };
  return { kind: info.isDirectory() ? "folder" : "file", identity: `${info.dev}:${info.ino}` };
}

/** Undefined where the path leads nowhere, or where we may not look: then the program may not either. */
function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(encodeText(path) as Buffer);
  } catch {
    return undefined;
  }
}

/** Rules are about real paths: one that leads through a link is another file's. */
function isReal(path: string): boolean {
  const folder = dirname(path);
  try {
    return decodeText(realpathSync.native(encodeText(folder) as Buffer, { encoding: "buffer" })) === folder;
  } catch {
    return false;
  }
}

/** A folder that we may not list, the program may not list either. */
function entriesOf(folder: string): string[] {
  try {
    return readdirSync(encodeText(folder) as Buffer, { encoding: "buffer" }).map(decodeText);
  } catch {
    return [];
  }
}

/** Paths below the folder. */
function filesBelow(folder: string): string[] {
  const found: string[] = [];
  const visit = (below: string, depth: number): void => {
    for (const name of entriesOf(`${folder}/${below}`)) {
      if (found.length >= MAX_NOTICED) return;
      if (look(`${folder}/${below}${name}`).kind === "file") found.push(below + name);
      else if (depth < MAX_NOTICED_DEPTH) visit(`${below}${name}/`, depth + 1);
    }
  };
  visit("", 1);
  return found;
}
