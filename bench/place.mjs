import { execFileSync, spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CALLER, isOpen } from "./users.mjs";

/** Where the files of a place are. */
export const MEDIA = ["disk", "tmpfs"];
const TMPFS = ["-t", "tmpfs", "-o", "mode=755", "hermes-bench"];
const TMPFS_MAGIC = 0x01021994; // statfs(2)

/** A workspace and a home like an agent's, of the user, in a folder that no policy treats as temporary. */
export function makePlace({ user = CALLER, medium = "disk" } = {}) {
  if (medium === "tmpfs" && process.getuid() !== 0) throw new Error("only root can mount one");
  const folder = mkdtempSync(join(parentFor(user), ".hermes-bench-"));
  const remove = () => {
    if (medium === "tmpfs") spawnSync("umount", ["--lazy", folder], { stdio: "ignore" });
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", remove); // also after Ctrl-C
  // Not in /dev/shm: policies protect other programs' shared memory there, and the strict fence hides it.
  if (medium === "tmpfs") execFileSync("mount", [...TMPFS, folder], { stdio: "pipe" });
  const found = statfsSync(folder).type === TMPFS_MAGIC ? "tmpfs" : "disk";
  const place = {
    folder,
    medium: found,
    workspace: join(folder, "workspace"),
    home: join(folder, "home"),
    user,
  };
  for (const path of [place.workspace, place.home, join(place.home, ".ssh")]) mkdirSync(path);
  const { uid, gid } = user.ids;
  if (uid !== undefined)
    for (const path of [folder, place.workspace, place.home, join(place.home, ".ssh")])
      chownSync(path, uid, gid);
  return {
    ...place,
    remove() {
      process.off("exit", remove);
      remove();
    },
  };
}

/** The home of who runs the bench; for another user, a folder that they can enter. */
function parentFor({ ids }) {
  const own = process.env.HOME ?? tmpdir();
  if (ids.uid === undefined) return own;
  const found = [own, "/home", "/srv", "/var/lib"].find((path) => existsSync(path) && isOpen(path));
  if (found === undefined) throw new Error("there is no folder for the files of an ordinary user");
  return found;
}

/** How programs are started in a place: where, with which variables, as whom. */
export const optionsOf = (place) => ({ cwd: place.workspace, env: envOf(place), ...place.user.ids });

/** Variables that slow down every start of Node would hide our own overhead. */
export function envOf({ workspace, home, user }) {
  return {
    PATH: user.path,
    HOME: home,
    HERMES_HOME: home,
    HERMES_WORKSPACE: workspace,
    LANG: "C.UTF-8",
  };
}
