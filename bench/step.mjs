import { spawnSync } from "node:child_process";
import { complaint } from "./measured.mjs";
import { envOf } from "./place.mjs";

/** In a process of the user, so that all files are theirs. */
const AS_THE_USER = `
import { WORKS } from ${JSON.stringify(new URL("works.mjs", import.meta.url).href)};
const [name, step, place, size] = process.argv.slice(1);
try {
  WORKS.find((work) => work.name === name)[step](JSON.parse(place), size);
} catch (error) {
  process.stderr.write(error.message);
  process.exitCode = 1;
}
`;

/** One of the steps around a workload's command: "prepare", "reset" or "check". */
export function takeStep(work, step, place, size) {
  if (!work[step]) return;
  if (place.user.ids.uid === undefined) {
    work[step](place, size);
    return;
  }
  const words = ["--input-type=module", "-e", AS_THE_USER, work.name, step, JSON.stringify(place), size];
  const env = { ...process.env, ...envOf(place) };
  const done = spawnSync(process.execPath, words, {
    ...{ cwd: place.workspace, env, ...place.user.ids },
    ...{ stdio: ["ignore", "ignore", "pipe"], encoding: "utf8" },
  });
  if (done.status !== 0) throw new Error(complaint(done.stderr) || `exit ${done.status ?? done.signal}`);
}
