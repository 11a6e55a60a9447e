import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { root } from "./tools.mjs";

/** A uid of no account: no capabilities, no groups, no files but those in its place. */
const ORDINARY = 61_000;
const NAMES = ["ordinary", "root"];
const isRoot = process.getuid() === 0;

/** The values of --user. */
export const USERS = [...NAMES, "both"];

/** The user who runs the bench. */
export const CALLER = { name: isRoot ? "root" : "ordinary", ids: {}, path: process.env.PATH };

/** The users that programs can run as here; the others are reported with the reason. */
export function usersHere(wanted, cannot) {
  if (wanted === undefined) return [CALLER];
  return (wanted === "both" ? NAMES : [wanted]).flatMap((name) => {
    if (name === CALLER.name) return [CALLER];
    const why = isRoot ? whyNotOrdinary() : "the bench does not run as root";
    if (why) return cannot(`user ${name}`, why) ?? [];
    return [{ name, ids: { uid: ORDINARY, gid: ORDINARY }, path: openPath() }];
  });
}

function whyNotOrdinary() {
  const closed = [root, process.execPath].find((path) => !isOpen(path));
  return closed && `other users cannot read ${closed}: move this checkout to a folder that they can enter`;
}

/** Folders of PATH that every user can search. */
const openPath = () =>
  process.env.PATH.split(":")
    .filter((folder) => folder.startsWith("/") && existsSync(folder) && isOpen(folder))
    .join(":");

/** Whether every user can read and enter it, and enter all folders above. */
export function isOpen(path) {
  const real = realpathSync(path);
  if ((statSync(real).mode & 0o005) !== 0o005) return false;
  for (let above = dirname(real); ; above = dirname(above)) {
    if ((statSync(above).mode & 0o001) === 0) return false;
    if (above === "/") return true;
  }
}
