import { spawnSync } from "node:child_process";

/** Writes back what earlier runs left in the disk's cache: otherwise the next run pays for it. */
export function settle({ workspace }) {
  spawnSync("sync", ["--file-system", workspace], { stdio: "ignore" });
}
