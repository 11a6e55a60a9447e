import { resolve } from "node:path";
import { ANY } from "../analyze/shape.js";

interface Parameter {
  readonly path: string;
  /** It is one of the folders within which names are left open: it keeps its own. */
  readonly whole: boolean;
  readonly folder: string;
  readonly name: string;
  readonly stem: string;
  readonly extension: string;
}

const SHELL = /(?:^|\/)(?:ba|da|z|k|a)?sh$/;
/** A stem that is shorter than this begins too many names. */
const TELLING = 2;

/**
 * Files that the command line names are its parameters: the next run will name others. A path with such a name in it is
 * written with that name left open, but for its extension; so are names that were made from it (`shop.db-journal`,
 * `hello.o`), and everything below a folder that was named.
 */
export class Parameters {
  readonly #all: readonly Parameter[];
  readonly #within: readonly string[];

  /** `within`: only there names are left open. */
  constructor(command: readonly string[], cwd: string, within: readonly string[]) {
    this.#within = within;
    this.#all = wordsOf(command)
      .map((word) => resolve(cwd, word))
      .filter((path) => within.some((folder) => path === folder || path.startsWith(`${folder}/`)))
      .map((path) => parameter(path, within.includes(path)));
  }

  open(path: string): string {
    for (const parameter of this.#all) {
      if (parameter.whole && path.startsWith(`${parameter.path}/`)) return `${parameter.path}/${ANY}${ANY}`;
      if (parameter.whole) continue;
      if (path.startsWith(`${parameter.path}/`)) return `${parameter.folder}${kind(parameter)}/${ANY}${ANY}`;
      if (!path.startsWith(parameter.folder)) continue;
      const name = path.slice(parameter.folder.length);
      const open = name.includes("/") ? undefined : opened(name, parameter);
      if (open !== undefined) return parameter.folder + open;
    }
    return this.#named(path);
  }

  /** A name that was given without its folder, as a server's clients do. */
  #named(path: string): string {
    const name = path.slice(path.lastIndexOf("/") + 1);
    const same = this.#all.find((parameter) => parameter.name === name && name.length > TELLING);
    if (!same || !this.#within.some((folder) => path.startsWith(`${folder}/`))) return path;
    return path.slice(0, path.length - name.length) + kind(same);
  }
}

function parameter(path: string, whole: boolean): Parameter {
  const at = path.lastIndexOf("/") + 1;
  const name = path.slice(at);
  const extension = /^[^.].*?((?:\.[A-Za-z]\w{0,5}){1,2})$/.exec(name)?.[1] ?? "";
  return {
    path,
    whole,
    folder: path.slice(0, at),
    name,
    extension,
    stem: name.slice(0, name.length - extension.length),
  };
}

const kind = ({ extension }: Parameter) => ANY + extension;

function opened(name: string, parameter: Parameter): string | undefined {
  if (name.startsWith(parameter.name)) return kind(parameter) + name.slice(parameter.name.length);
  const { stem } = parameter;
  return stem.length >= TELLING && name.startsWith(`${stem}.`) ? ANY + name.slice(stem.length) : undefined;
}

/** The words of a command; of a shell's code, the words in it. */
function wordsOf([program = "", ...words]: readonly string[]): string[] {
  const code = SHELL.test(program) && words[0] === "-c" ? (words[1] ?? "").split(/[\s'"`;|&<>()$=]+/) : [];
  return [...words, ...code]
    .map((word) => word.replace(/^--?[\w-]+=/, "").replace(/^\w+:\/\/[^/]*\/?([^?#]*).*$/, "$1"))
    .filter((word) => word !== "" && !word.startsWith("-") && !/\s/.test(word));
}
