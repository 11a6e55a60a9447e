import { rmSync } from "node:fs";
import { join } from "node:path";
import { makeTree, treeOf } from "./tree.mjs";

export const tar = {
  name: "tar",
  about: "tar of tens of thousands of small files",
  needs: ["tar"],
  prepare: makeTree,
  reset: ({ workspace }) => rmSync(join(workspace, "out.tar"), { force: true }),
  argv: (place) => ["tar", "-cf", "out.tar", "-C", treeOf(place), "."],
};
