import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { NATIVE_FOLDER } from "../../../kernel/binding/native.js";
import { HermesError } from "../../../nouns/errors.js";
import { HOME } from "../../../nouns/home.js";

/** Where HERMES is mounted in a container. */
const FOLDER = "/hermes";
/** Packages outside our bundles that a run may need. */
const PACKAGES = ["re2js"];

export interface Mount {
  readonly source: string;
  readonly target: string;
  readonly writable?: boolean;
}

export interface HermesPackage {
  readonly mounts: readonly Mount[];
  /** Starts `hermes` inside the container. */
  readonly command: readonly string[];
}

/**
 * HERMES and its Node for an image that may have neither of them, nor their C library: the libraries are mounted too, and
 * Node is started by its own loader.
 */
export function findPackage(): HermesPackage {
  const libraries = [process.execPath, `${NATIVE_FOLDER}hermes.node`].flatMap(librariesOf);
  const loader = libraries.find(({ name }) => name.startsWith("/"));
  if (!loader) throw unusable("this Node binary has no dynamic loader");
  const inside = (name: string) => `${FOLDER}/lib/${basename(name)}`;
  const mounts = [
    { source: join(HOME, "dist"), target: `${FOLDER}/dist` },
    { source: join(HOME, "policies"), target: `${FOLDER}/policies` },
    { source: join(HOME, "package.json"), target: `${FOLDER}/package.json` },
    { source: process.execPath, target: `${FOLDER}/bin/node` },
    ...PACKAGES.map((name) => ({ source: folderOf(name), target: `${FOLDER}/node_modules/${name}` })),
    ...libraries.map(({ name, file }) => ({ source: file, target: inside(name) })),
  ];
  const start = [inside(loader.name), "--library-path", `${FOLDER}/lib`];
  return {
    mounts: [...new Map(mounts.map((mount) => [mount.target, mount])).values()],
    command: [...start, `${FOLDER}/bin/node`, `${FOLDER}/dist/cli/main.cjs`],
  };
}

/** ldd(1): `NAME => FILE (ADDRESS)`, and the loader by its path alone. */
function librariesOf(binary: string): { name: string; file: string }[] {
  let text: string;
  try {
    text = execFileSync("ldd", [binary], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  } catch (cause) {
    throw unusable(`ldd cannot list the libraries of ${binary}`, cause);
  }
  if (text.includes("not found")) throw unusable(`${binary} lacks a library`);
  return [...text.matchAll(/^\s*(?:(\S+) => )?(\/\S+) \(0x[0-9a-f]+\)$/gm)].map(([, name, file]) => ({
    name: name ?? file!,
    file: file!,
  }));
}

/** In our node_modules, or in those of the project that installed us. */
function folderOf(name: string): string {
  for (let folder = HOME; ; folder = dirname(folder)) {
    const found = join(folder, "node_modules", name);
    if (existsSync(found)) return found;
    if (folder === dirname(folder)) throw unusable(`the package ${name} is not installed`);
  }
}

function unusable(message: string, cause?: unknown): HermesError {
  return new HermesError("BACKEND", { where: "a container", message }, { cause });
}
