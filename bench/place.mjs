import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A workspace and a home like an agent's, in a folder that no policy treats as temporary. */
export function makePlace() {
  const folder = mkdtempSync(join(process.env.HOME ?? tmpdir(), ".hermes-bench-"));
  const place = { folder, workspace: join(folder, "workspace"), home: join(folder, "home") };
  for (const path of [place.workspace, join(place.home, ".ssh")]) mkdirSync(path, { recursive: true });
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", remove); // also after Ctrl-C
  return {
    ...place,
    remove() {
      process.off("exit", remove);
      remove();
    },
  };
}

/** Variables that slow down every start of Node would hide our own overhead. */
export function envOf({ workspace, home }) {
  return {
    PATH: process.env.PATH,
    HOME: home,
    HERMES_HOME: home,
    HERMES_WORKSPACE: workspace,
    LANG: "C.UTF-8",
  };
}
