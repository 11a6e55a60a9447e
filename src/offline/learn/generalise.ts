import { patternsOfNames, type ShapeOptions } from "../analyze/shape.js";
import type { FileUse } from "./observations.js";
import {
  GENERALISATION_LIMITS,
  type GeneralisationLimits,
  namesOf,
  type PathClass,
  pathClass,
} from "./path-class.js";
import { addTo, nothingYet, type Sighting } from "./sighting.js";

/** A path pattern, and the files that it was made from. */
export interface PathPattern {
  readonly text: string;
  readonly place: PathClass;
  /** How many different files were seen. */
  readonly files: number;
  readonly seen: Sighting;
}

/** The last name of a path, in a tree of patterns. */
interface Leaf {
  files: number;
  readonly seen: Sighting;
}

interface Folder {
  readonly children: Map<string, Folder>;
  leaf: Leaf | undefined;
}

/** Folders whose names, and those of what is in them, are only of this run. */
export type KnownFolders = Pick<ShapeOptions, "hashes" | "temporaries">;

/** The fewest patterns for files that were used in one way, within the limits of the place that they are in. */
export function generalise(uses: readonly FileUse[], known: KnownFolders = {}): PathPattern[] {
  const trees = new Map<string, { place: PathClass; root: string; tree: Folder }>();
  for (const use of uses) {
    const { root, names } = namesOf(use.path);
    const place = pathClass(use.path);
    const key = `${place} ${root}`;
    const entry = trees.get(key) ?? { place, root, tree: emptyFolder() };
    trees.set(key, entry);
    plant(entry.tree, patternsOfNames(names, { ...known, temporary: use.temporary, root }), {
      files: 1,
      seen: use.seen,
    });
  }
  return [...trees.values()].flatMap(({ place, root, tree }) => {
    collapse(tree, 0, GENERALISATION_LIMITS[place]);
    return [...patternsOf(tree, [])].map(({ parts, leaf }) => ({
      text: parts.length === 0 ? root || "/" : `${root}/${parts.join("/")}`,
      place,
      files: leaf.files,
      seen: leaf.seen,
    }));
  });
}

const emptyFolder = (): Folder => ({ children: new Map(), leaf: undefined });

function plant(tree: Folder, parts: readonly string[], leaf: Leaf): void {
  let folder = tree;
  for (const part of parts) {
    const next = folder.children.get(part) ?? emptyFolder();
    folder.children.set(part, next);
    folder = next;
  }
  addLeaf(folder, leaf);
}

function addLeaf(folder: Folder, leaf: Leaf): void {
  folder.leaf ??= { files: 0, seen: nothingYet() };
  folder.leaf.files += leaf.files;
  addTo(folder.leaf.seen, leaf.seen);
}

/** Replaces names by wildcards, from the innermost folders outwards. */
function collapse(folder: Folder, depth: number, limits: GeneralisationLimits): void {
  for (const child of folder.children.values()) collapse(child, depth + 1, limits);
  if (depth < limits.depth) return;
  collapseNames(folder, limits);
  const below = [...patternsOf(folder, [])].filter(({ parts }) => parts.length > 1);
  const folders = [...folder.children.values()].filter(({ children }) => children.size > 0).length;
  const many = below.length >= limits.below && folders >= 2 && (depth > limits.depth || depth === 0);
  if (!many && !folder.children.has("**")) return;
  const rest = [...patternsOf(folder, [])].filter(({ parts }) => parts.length > 0);
  folder.children.clear();
  for (const { leaf } of rest) plant(folder, ["**"], leaf);
}

/** Many names in one folder become `*`, or `*.c` when all of them are alike in that. */
function collapseNames(folder: Folder, { files }: GeneralisationLimits): void {
  const leaves = [...folder.children].filter(([part, { leaf }]) => leaf !== undefined && part !== "**");
  const plain = leaves.filter(([part]) => !/^\*/.test(part));
  const star = folder.children.get("*");
  if (star?.leaf === undefined && plain.length < files) return;
  const extensions = new Set(leaves.map(([part]) => /\.[A-Za-z]\w*$/.exec(part)?.[0] ?? ""));
  const [only = ""] = extensions;
  const wildcard = star?.leaf === undefined && extensions.size === 1 && only !== "" ? `*${only}` : "*";
  for (const [part, child] of leaves) {
    if (part === wildcard) continue;
    const { leaf } = child;
    child.leaf = undefined;
    if (child.children.size === 0) folder.children.delete(part);
    plant(folder, [wildcard], leaf!);
  }
}

function* patternsOf(
  folder: Folder,
  parts: readonly string[],
): Generator<{ readonly parts: readonly string[]; readonly leaf: Leaf }> {
  if (folder.leaf) yield { parts, leaf: folder.leaf };
  for (const [name, child] of folder.children) yield* patternsOf(child, [...parts, name]);
}
