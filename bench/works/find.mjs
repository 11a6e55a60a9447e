import { existsSync } from "node:fs";
import { makeTree, treeOf } from "./tree.mjs";

const FOLDERS = { full: ["/usr", "/etc", "/var/lib"], quick: ["/usr/share"] };

export const find = {
  name: "find",
  about: "find over the system's folders and tens of thousands of small files, by name and by size",
  needs: ["find"],
  prepare: makeTree,
  argv(place, size) {
    const folders = [treeOf(place), ...FOLDERS[size].filter((path) => existsSync(path))].join(" ");
    return ["sh", "-c", `find ${folders} -name '*.h' >/dev/null; find ${folders} -size +2k >/dev/null`];
  },
};
