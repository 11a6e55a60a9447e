import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { matchParts, type Part } from "../../../nouns/glob.js";
import { compileNames, inside } from "./glob.js";

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** A longer file is read as far as this: what it leaves out is shown, which does no harm. */
const READ = 100_000;
const RULES = 2_000;

interface Rule {
  readonly parts: readonly Part[];
  /** `!x`: shown although a rule before hides it. */
  readonly shown: boolean;
  readonly folders: boolean;
}

/** What .gitignore files hide, from the outermost folder to the innermost. */
export class Ignore {
  readonly #levels: readonly { readonly depth: number; readonly rules: readonly Rule[] }[];

  constructor(levels: Ignore | undefined = undefined, depth = 0, text = "") {
    const rules = text.split(/\r?\n/).slice(0, RULES).flatMap(ruleOf);
    const before = levels ? levels.#levels : [];
    this.#levels = rules.length > 0 ? [...before, { depth, rules }] : before;
  }

  /** With the .gitignore of a folder that is so deep below the top. */
  async entering(way: string, depth: number): Promise<Ignore> {
    return new Ignore(this, depth, await textOf(`${way}/.gitignore`));
  }

  /** The innermost file that has something to say on a path decides, and in it the last line. */
  hides(parts: readonly string[], isFolder: boolean): boolean {
    if (parts.at(-1) === ".git") return true;
    for (const { depth, rules } of this.#levels.toReversed()) {
      const names = parts.slice(depth);
      const rule = rules.findLast((r) => (isFolder || !r.folders) && matchParts(r.parts, names));
      if (rule) return !rule.shown;
    }
    return false;
  }
}

function ruleOf(line: string): Rule[] {
  const text = line.replace(/(?<!\\) +$/, "");
  if (text === "" || text.startsWith("#")) return [];
  const shown = text.startsWith("!");
  const body = shown ? text.slice(1) : text;
  const folders = body.endsWith("/");
  const path = folders ? body.slice(0, -1) : body;
  const names = path.replace(/^\//, "").split("/");
  const parts = compileNames(path.includes("/") ? inside(names) : ["**", ...names]);
  return [{ shown, folders, parts }];
}

async function textOf(file: string): Promise<string> {
  const handle = await open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);
  try {
    if (!(await handle?.stat())?.isFile()) return "";
    const { buffer, bytesRead } = await handle!.read(Buffer.alloc(READ), 0, READ, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await handle?.close();
  }
}
