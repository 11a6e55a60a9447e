import { existsSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { Elf } from "../elf/index.js";

/** A library that a program needs, directly or through others. */
export interface Library {
  readonly name: string;
  /** Where it was found; absent when it was not. */
  readonly path?: string;
  /** By the program itself, or only by another library. */
  readonly direct: boolean;
  /** The functions that it imports, of libraries that have a purpose of their own. */
  readonly imports: readonly string[];
}

/** What every program needs: it can do anything, so what it imports says nothing. */
const BASE =
  /^(?:ld-linux.*|libc|libm|libpthread|libdl|librt|libgcc_s|libstdc\+\+|libc\+\+(?:abi)?|libresolv|libutil|libanl|linux-vdso)\.so/;

const FOLDERS = [
  "/lib/x86_64-linux-gnu",
  "/usr/lib/x86_64-linux-gnu",
  "/lib64",
  "/usr/lib64",
  "/lib",
  "/usr/lib",
  "/usr/local/lib",
];
const MOST_LIBRARIES = 256;

/** Found as the loader finds them, without its cache and without what the environment adds. */
export function librariesOf(elf: Elf): Library[] {
  const found = new Map<string, Library>();
  const open: { elf: Elf; own: boolean }[] = [{ elf, own: true }];
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    for (const name of next.elf.needed) {
      if (found.has(name) || found.size >= MOST_LIBRARIES) continue;
      const path = pathOf(name, next.elf);
      const library = path === undefined || BASE.test(name) ? undefined : opened(path);
      found.set(name, {
        name,
        ...(path !== undefined && { path }),
        direct: next.own,
        imports: library === undefined ? [] : importsOf(library),
      });
      if (library !== undefined) open.push({ elf: library, own: false });
    }
    if (!next.own) next.elf.close();
  }
  return [...found.values()];
}

function pathOf(name: string, by: Elf): string | undefined {
  if (name.includes("/")) return isAbsolute(name) && existsSync(name) ? name : undefined;
  const { rpath, runpath } = by.dynamic;
  const own = (runpath ?? rpath ?? "")
    .split(":")
    .map((folder) => folder.replace(/\$\{?ORIGIN\}?/g, dirname(by.path)))
    .filter(isAbsolute);
  return [...own, ...FOLDERS].map((folder) => join(folder, name)).find((path) => existsSync(path));
}

function opened(path: string): Elf | undefined {
  try {
    return Elf.open(path);
  } catch {
    return undefined;
  }
}

/** Functions and data that a file needs from others. */
function importsOf(elf: Elf): string[] {
  return elf.symbols
    .dynamic()
    .filter(({ defined, name }) => !defined && name !== "")
    .map(({ name }) => name);
}
