import { dirname, resolve } from "node:path";
import { suggest } from "../../abi/index.js";
import { autoRunPatterns } from "../../nouns/auto-run-files.js";
import { compileGlob, expandGlobBraces, matchGlob, PatternError, split } from "../match/glob.js";
import type { LoadContext } from "./load-context.js";

const MAX_VALUES = 1000;
/** The meaning of these depends on the process: their links must not be resolved for another process. */
const PERSONAL = /^\/(proc(\/|$)|dev\/(fd|stdin|stdout|stderr)(\/|$))/;

/** `${later_code_always}`, `…_project`, `…_folder` and `…_except`: patterns of the table of files that run code later. */
const LATER = "later_code_";

/** Expands `${name}` in texts, and path patterns on this machine. */
export class Variables {
  readonly #surroundings: LoadContext;
  readonly #folder: string;
  readonly #own: Readonly<Record<string, readonly string[]>>;
  /** Whether a text that was expanded names the workspace. */
  usesWorkspace = false;
  /** Lists that several rules name. */
  readonly #known = new Map<string, readonly string[]>();

  /** `folder` is the policy file's, for `./`. */
  constructor(surroundings: LoadContext, folder: string, own: Readonly<Record<string, readonly string[]>>) {
    this.#surroundings = surroundings;
    this.#folder = folder;
    this.#own = own;
  }

  /** All expansions of a text: a variable may have several values. */
  expand(text: string, seen: readonly string[] = []): string[] {
    const match = /\$\{([^}]*)\}/.exec(text);
    if (!match) {
      if (text.includes("${")) throw new PatternError(`"${text}": a \${ is never closed`);
      return [text];
    }
    const name = match[1]!;
    if (seen.includes(name)) throw new PatternError(`the variable \${${name}} refers to itself`);
    const before = text.slice(0, match.index);
    const after = this.expand(text.slice(match.index + match[0].length), seen);
    const all = this.#valuesOf(name, seen).flatMap((value) => after.map((rest) => before + value + rest));
    if (all.length > MAX_VALUES)
      throw new PatternError(`"${text}" expands to more than ${MAX_VALUES} values`);
    return all;
  }

  #valuesOf(name: string, seen: readonly string[]): readonly string[] {
    const own = Object.hasOwn(this.#own, name) ? this.#own[name] : undefined;
    if (own) return own.flatMap((value) => this.expand(this.#tilde(value), [...seen, name]));
    const { workspace, home, cwd, tmp } = this.#surroundings;
    const known: Readonly<Record<string, readonly string[]>> = {
      workspace: [workspace],
      home: [home],
      cwd: [cwd],
      tmp,
      policy: [this.#folder],
      above: foldersAbove(workspace),
    };
    const values = Object.hasOwn(known, name) ? known[name] : undefined;
    if (values && name === "workspace") this.usesWorkspace = true;
    if (values) return values.map(escapeGlob);
    const later = name.startsWith(LATER) ? autoRunPatterns(name.slice(LATER.length)) : [];
    if (later.length > 0)
      return this.#once(name, () =>
        later.flatMap(expandGlobBraces).flatMap((text) => this.#insideWorkspace(this.#tilde(text))),
      );
    const near = suggest(name, [...Object.keys(known), ...Object.keys(this.#own)]);
    throw new PatternError(`unknown variable \${${name}}${near ? `: did you mean \${${near}}?` : ""}`);
  }

  #once(key: string, make: () => readonly string[]): readonly string[] {
    const known = this.#known.get(key) ?? make();
    this.#known.set(key, known);
    return known;
  }

  /**
   * A workspace may itself lie in such a folder, such as .claude/worktrees/x. Then the pattern covers only
   * folders below the workspace.
   */
  #insideWorkspace(pattern: string): string[] {
    const { workspace } = this.#surroundings;
    if (!matchGlob(compileGlob(pattern), split(workspace))) return [pattern];
    return pattern.startsWith("**/") ? [`${escapeGlob(workspace)}/${pattern}`] : [];
  }

  #tilde(text: string): string {
    if (text !== "~" && !text.startsWith("~/")) {
      if (text.startsWith("~"))
        throw new PatternError(`"${text}": write the home folder of another user as an absolute path`);
      return text;
    }
    return escapeGlob(this.#surroundings.home) + text.slice(1);
  }

  /**
   * The absolute patterns that a pattern stands for. Events carry paths with every link resolved, so
   * `/bin/sh` must also cover its current target. A permission follows only links in paths that are written
   * out: a link that a mediated program put into the workspace must not widen the permission.
   */
  paths(text: string, permits: boolean): readonly string[] {
    return this.#once(`${permits} ${text}`, () => this.#paths(text, permits));
  }

  #paths(text: string, permits: boolean): string[] {
    const written = text.startsWith("/");
    return this.expand(this.#relative(this.#tilde(text)))
      .flatMap(expandGlobBraces) // a variable may have some too
      .map((path) => tidy(written ? path : path.replace(/^\/+/, "/"))) // … or be the root directory
      .flatMap((path) => (permits && !written ? [path] : this.#withLinks(path)));
  }

  #relative(text: string): string {
    return text.startsWith("./") || text.startsWith("../") || text === "." || text === ".."
      ? `${escapeGlob(this.#folder)}/${text}`.replace(/\/\.(?=\/|$)/g, "")
      : text;
  }

  #withLinks(path: string): string[] {
    if (!path.startsWith("/") || PERSONAL.test(path)) return [path];
    const { literal, exact } = compileGlob(path);
    const { realpath } = this.#surroundings;
    const rest =
      path === "/"
        ? ""
        : path
            .split("/")
            .slice(literal.length + 1)
            .map((part) => `/${part}`)
            .join("");
    const whole = `/${literal.join("/")}`;
    const found = new Set([path, escapeGlob(realpath(whole)).replace(/^\/$/, "") + rest || "/"]);
    // A call that does not follow the last link (unlink, lstat) names the link itself.
    if (exact && literal.length > 0) {
      const parent = realpath(dirname(whole));
      found.add(escapeGlob(`${parent === "/" ? "" : parent}/${literal.at(-1)}`));
    }
    return [...found];
  }

  /** A single path: the target of a redirect. */
  file(text: string): string {
    if (this.expand(text).length > 1) throw new PatternError(`"${text}" expands to several values`);
    return this.aFile(text);
  }

  /** All paths that a text expands to. It is not a pattern. */
  places(text: string): string[] {
    return this.expand(this.#tilde(text)).map((path) => {
      if (/(^|[^\\])[*?[{]/.test(path))
        throw new PatternError(`"${text}" is a pattern: name a folder or a file`);
      return resolve(this.#folder, unquoted(path));
    });
  }

  /** A path for an example: the first of several values. */
  aFile(text: string): string {
    return resolve(this.#folder, unquoted(this.expand(this.#tilde(text))[0]!));
  }
}

function foldersAbove(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [...new Set([...foldersAbove(parent), parent])];
}

/** Resolves `..` in a relative pattern textually. */
function tidy(pattern: string): string {
  if (!/(^|\/)\.\.(\/|$)/.test(pattern)) return pattern;
  const parts: string[] = [];
  for (const part of pattern.split("/")) {
    if (part === "..") parts.pop();
    else parts.push(part);
  }
  return parts.join("/") || "/";
}

/** Quotes a path as a pattern that matches only it. */
export function escapeGlob(path: string): string {
  return path.replace(/[\\*?[\]{}]/g, "\\$&");
}

function unquoted(text: string): string {
  return text.replace(/\\(.)/g, "$1");
}
