import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

const PROGRAMS = { full: 2000, quick: 500 };
const countIn = ({ workspace }) => join(workspace, "programs.count");

export const programs = {
  name: "programs",
  about: "a shell that starts /bin/true 2,000 times (500 when quick)",
  needs: ["sh"],
  reset: (place) => rmSync(countIn(place), { force: true }),
  argv(place, size) {
    const loop = `i=0; while [ $i -lt ${PROGRAMS[size]} ]; do /bin/true || exit; i=$((i+1)); done`;
    return ["sh", "-c", `${loop}; echo $i >${countIn(place)}`];
  },
  check(place, size) {
    const count = readFileSync(countIn(place), "utf8").trim();
    if (count !== String(PROGRAMS[size])) throw new Error(`${count} programs were started`);
  },
};
