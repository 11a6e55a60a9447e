import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A workspace and a home that have what an agent's have, in a folder that no policy treats as temporary. */
export function makePlace() {
  const folder = mkdtempSync(join(process.env.HOME ?? tmpdir(), ".hermes-bench-"));
  const place = { folder, workspace: join(folder, "workspace"), home: join(folder, "home") };
  for (const path of [place.workspace, join(place.home, ".ssh")]) mkdirSync(path, { recursive: true });
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", remove); // also when somebody breaks it off
  return {
    ...place,
    remove() {
      process.off("exit", remove);
      remove();
    },
  };
}

/** What makes every start of Node slower would hide how much slower we are. */
export function envOf({ workspace, home }) {
  return {
    PATH: process.env.PATH,
    HOME: home,
    HERMES_HOME: home,
    HERMES_WORKSPACE: workspace,
    LANG: "C.UTF-8",
  };
}
