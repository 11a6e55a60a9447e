import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FILES = { full: 60_000, quick: 10_000 };
const IN_A_FOLDER = 50;
const CONTENT = "What a small file of a large project holds, line by line.\n".repeat(130);

/** Many small files, like a source tree, identical on every machine. Made once and shared. */
export function makeTree({ folder }, size) {
  const tree = join(folder, "tree");
  if (existsSync(tree)) return;
  for (let i = 0; i < FILES[size]; i++) {
    const at = join(tree, `part${Math.floor(i / IN_A_FOLDER / 20)}`, `folder${Math.floor(i / IN_A_FOLDER)}`);
    if (i % IN_A_FOLDER === 0) mkdirSync(at, { recursive: true });
    writeFileSync(join(at, `file${i}.${i % 3 ? "c" : "h"}`), CONTENT.slice(0, 500 + (i % 7000)));
  }
}

export const treeOf = ({ folder }) => join(folder, "tree");
