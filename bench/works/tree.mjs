import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FILES = { full: 60_000, quick: 10_000 };
const IN_A_FOLDER = 50;
const CONTENT = "What a small file of a large project holds, line by line.\n".repeat(130);

/** Many small files, like a source tree. Made once and shared. */
export function makeTree(place, size) {
  if (!existsSync(treeOf(place))) writeTree(treeOf(place), FILES[size]);
}

export const treeOf = ({ folder }) => join(folder, "tree");

/** Writes a tree that is identical on every machine. */
export function writeTree(tree, files) {
  for (let i = 0; i < files; i++) {
    const at = join(tree, `part${Math.floor(i / IN_A_FOLDER / 20)}`, `folder${Math.floor(i / IN_A_FOLDER)}`);
    if (i % IN_A_FOLDER === 0) mkdirSync(at, { recursive: true });
    writeFileSync(join(at, `file${i}.${i % 3 ? "c" : "h"}`), CONTENT.slice(0, 500 + (i % 7000)));
  }
}
