import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { buildTools } from "../tools.mjs";
import { settle } from "./settle.mjs";

const FILES = { full: 20_000, quick: 4000 };
const BYTES = 1000;
const madeIn = ({ workspace }) => join(workspace, "created");

const create = {
  about: "a program that creates, writes and renames thousands of files, and removes every second one",
  needs: [],
  reset(place) {
    rmSync(madeIn(place), { recursive: true, force: true });
    mkdirSync(madeIn(place));
    settle(place);
  },
  argv: (place, size) => [buildTools().files, madeIn(place), String(FILES[size])],
  check(place, size) {
    const entries = readdirSync(madeIn(place), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    if (files.length !== FILES[size] / 2) throw new Error(`${files.length} files are left`);
    for (const { name, parentPath } of files) {
      const { size: bytes } = statSync(join(parentPath, name));
      const odd = Number(name.slice("file".length)) % 2 !== 0; // also NaN: a temporary name
      if (bytes !== BYTES || odd) throw new Error(`wrong file ${name} of ${bytes} bytes`);
    }
  },
};

export const createOnDisk = { ...create, name: "create", medium: "disk" };
export const createInTmpfs = { ...create, name: "create-tmpfs", medium: "tmpfs" };
