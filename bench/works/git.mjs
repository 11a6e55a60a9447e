import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const COMMITS = { full: 70, quick: 20 };
const FILES_EACH = 40;
const FOLDERS = 40;

export const git = {
  name: "git",
  about: "git clone of a local repository of thousands of files, git log --stat, git gc",
  needs: ["git"],
  prepare({ folder }, size) {
    const origin = join(folder, "origin");
    const who = ["-c", "user.name=b", "-c", "user.email=b@b", "-c", "gc.auto=0"];
    const run = (...words) => execFileSync("git", ["-C", origin, ...who, ...words], { stdio: "ignore" });
    mkdirSync(origin);
    run("init", "-q");
    for (let i = 0; i < FOLDERS; i++) mkdirSync(join(origin, `d${i}`));
    for (let commit = 0; commit < COMMITS[size]; commit++) {
      for (let i = 0; i < FILES_EACH; i++)
        writeFileSync(join(origin, `d${i % FOLDERS}`, `f${commit}-${i}.txt`), `${commit} ${i}\n`.repeat(200));
      run("add", ".");
      run("commit", "-q", "-m", `change ${commit}`);
    }
  },
  reset: ({ workspace }) => rmSync(join(workspace, "clone"), { recursive: true, force: true }),
  argv: ({ folder }) => [
    "sh",
    "-c",
    `git clone -q --no-hardlinks ${join(folder, "origin")} clone && cd clone && git log --stat >/dev/null && git gc -q`,
  ],
};
