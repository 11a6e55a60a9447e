import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { settle } from "./settle.mjs";
import { writeTree } from "./tree.mjs";

const FILES = 10_000;
/** How often it is unpacked, each time into an empty folder: once is over too soon in a tmpfs. */
const TIMES = { full: 5, quick: 1 };

const treeIn = ({ folder }) => join(folder, "small-files");
const archiveIn = ({ workspace }) => join(workspace, "untar.tar");
const foldersIn = ({ workspace }, size) =>
  Array.from({ length: TIMES[size] }, (_, i) => join(workspace, "untarred", String(i)));

const untar = {
  about: "tar that unpacks 10,000 small files in 200 folders",
  needs: ["tar", "diff"],
  prepare(place) {
    writeTree(treeIn(place), FILES);
    execFileSync("tar", ["cf", archiveIn(place), "-C", treeIn(place), "."], { stdio: "ignore" });
  },
  reset(place, size) {
    rmSync(join(place.workspace, "untarred"), { recursive: true, force: true });
    for (const folder of foldersIn(place, size)) mkdirSync(folder, { recursive: true });
    settle(place);
  },
  argv(place, size) {
    const unpack = `for folder; do tar xf ${archiveIn(place)} -C "$folder" || exit; done`;
    return ["sh", "-c", unpack, "sh", ...foldersIn(place, size)];
  },
  check(place, size) {
    for (const folder of foldersIn(place, size)) {
      const { status, stdout } = spawnSync("diff", ["-rq", treeIn(place), folder], { encoding: "utf8" });
      if (status !== 0) throw new Error(`what is unpacked differs: ${stdout.split("\n")[0]}`);
    }
  },
};

export const untarOnDisk = { ...untar, name: "untar", medium: "disk" };
export const untarInTmpfs = { ...untar, name: "untar-tmpfs", medium: "tmpfs" };
