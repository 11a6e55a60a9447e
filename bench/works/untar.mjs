import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeTree } from "./tree.mjs";

const PARTS = { full: 10, quick: 2 };
const folderOf = ({ workspace }) => join(workspace, "untarred");
const archiveOf = ({ workspace }) => join(workspace, "untar.tar");

export const untar = {
  name: "untar",
  about: "tar that makes thousands of small files",
  needs: ["tar"],
  prepare(place, size) {
    makeTree(place, size);
    if (existsSync(archiveOf(place))) return;
    const parts = Array.from({ length: PARTS[size] }, (_, i) => `part${i}`);
    const words = ["cf", archiveOf(place), "-C", join(place.folder, "tree"), ...parts];
    const { status, stderr } = spawnSync("tar", words, { encoding: "utf8" });
    if (status !== 0) throw new Error(stderr);
  },
  reset(place) {
    rmSync(folderOf(place), { recursive: true, force: true });
    mkdirSync(folderOf(place));
  },
  argv: (place) => ["tar", "xf", archiveOf(place), "-C", folderOf(place)],
};
