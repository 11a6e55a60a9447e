import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "../tools.mjs";

const COPIES = { full: 2, quick: 1 };

/** Paths in native/: "tracee/path.c". */
const sources = readdirSync(`${root}native`, { recursive: true }).filter((file) => file.endsWith(".c"));
const folders = [...new Set(sources.map((file) => dirname(file)))];

export const gcc = {
  name: "gcc",
  about: "make -j2 of the native part of HERMES, one object per file, -O2, several times",
  needs: ["gcc", "make"],
  prepare({ workspace }, size) {
    cpSync(`${root}native`, join(workspace, "native"), { recursive: true });
    cpSync(`${root}node_modules/node-api-headers/include`, join(workspace, "include"), { recursive: true });
    const copies = Array.from({ length: COPIES[size] }, (_, i) => `out/${i}`);
    const objects = copies.flatMap((copy) => sources.map((file) => `${copy}/${file.replace(/c$/, "o")}`));
    const rules = copies.map(
      (copy) => `${copy}/%.o: native/%.c\n\tgcc -O2 -std=gnu11 -fPIC -Iinclude -c -o $@ $<\n`,
    );
    writeFileSync(join(workspace, "Makefile"), `all: ${objects.join(" ")}\n${rules.join("")}`);
  },
  reset({ workspace }, size) {
    rmSync(join(workspace, "out"), { recursive: true, force: true });
    for (let i = 0; i < COPIES[size]; i++)
      for (const folder of folders) mkdirSync(join(workspace, "out", String(i), folder), { recursive: true });
  },
  argv: () => ["make", "-s", "-j2", "all"],
};
