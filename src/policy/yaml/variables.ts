import { dirname, resolve } from "node:path";
import { suggest } from "../../abi/index.js";
import { laterCode } from "../../later-code.js";
import { compileGlob, expandBraces, matchGlob, PatternError, split } from "../match/glob.js";
import type { Surroundings } from "./surroundings.js";

const MAX_VALUES = 1000;
/** What these lead to depends on who looks: a link of theirs must not be resolved for another. */
const PERSONAL = /^\/(proc(\/|$)|dev\/(fd|stdin|stdout|stderr)(\/|$))/;

/** `${later_code_always}`, `…_project`, `…_folder` and `…_except`: patterns of the table of files that run code later. */
const LATER = "later_code_";

/** `${name}` in texts, and what a path pattern means on this machine. */
export class Variables {
  readonly #surroundings: Surroundings;
  readonly #folder: string;
  readonly #own: Readonly<Record<string, readonly string[]>>;

  /** `folder` is the policy file's: what `./` is relative to. */
  constructor(surroundings: Surroundings, folder: string, own: Readonly<Record<string, readonly string[]>>) {
    this.#surroundings = surroundings;
    this.#folder = folder;
    this.#own = own;
  }

  /** Every text that this one means: a variable may have several values. */
  expand(text: string, seen: readonly string[] = []): string[] {
    const match = /\$\{([^}]*)\}/.exec(text);
    if (!match) {
      if (text.includes("${")) throw new PatternError(`"${text}": a \${ is never closed`);
      return [text];
    }
    const name = match[1]!;
    if (seen.includes(name)) throw new PatternError(`the variable \${${name}} is defined by itself`);
    const before = text.slice(0, match.index);
    const after = this.expand(text.slice(match.index + match[0].length), seen);
    const all = this.#valuesOf(name, seen).flatMap((value) => after.map((rest) => before + value + rest));
    if (all.length > MAX_VALUES) throw new PatternError(`"${text}" has more than ${MAX_VALUES} meanings`);
    return all;
  }

  #valuesOf(name: string, seen: readonly string[]): string[] {
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
    if (values) return values.map(quoted);
    const later = name.startsWith(LATER) ? laterCode(name.slice(LATER.length)) : [];
    if (later.length > 0)
      return later.flatMap(expandBraces).flatMap((text) => this.#insideWorkspace(this.#tilde(text)));
    const near = suggest(name, [...Object.keys(known), ...Object.keys(this.#own)]);
    throw new PatternError(`unknown variable \${${name}}${near ? `: did you mean \${${near}}?` : ""}`);
  }

  /** A workspace that lies in such a folder itself, such as .claude/worktrees/x, is not all of it: what is below counts. */
  #insideWorkspace(pattern: string): string[] {
    const { workspace } = this.#surroundings;
    if (!matchGlob(compileGlob(pattern), split(workspace))) return [pattern];
    return pattern.startsWith("**/") ? [`${quoted(workspace)}/${pattern}`] : [];
  }

  #tilde(text: string): string {
    if (text !== "~" && !text.startsWith("~/")) {
      if (text.startsWith("~")) throw new PatternError(`"${text}": homes of other users are written out`);
      return text;
    }
    return quoted(this.#surroundings.home) + text.slice(1);
  }

  /**
   * The absolute patterns that a pattern means. Events carry paths with every link resolved, so `/bin/sh` must also
   * mean what it leads to now. Where a pattern permits something, only links in paths that were written out count: one
   * that a mediated program could have put into the workspace must not widen what is permitted.
   */
  paths(text: string, permits: boolean): string[] {
    const written = text.startsWith("/");
    return this.expand(this.#relative(this.#tilde(text)))
      .flatMap(expandBraces) // a variable may have some too
      .map((path) => tidy(written ? path : path.replace(/^\/+/, "/"))) // … or be the root directory
      .flatMap((path) => (permits && !written ? [path] : this.#withLinks(path)));
  }

  #relative(text: string): string {
    return text.startsWith("./") || text.startsWith("../") || text === "." || text === ".."
      ? `${quoted(this.#folder)}/${text}`.replace(/\/\.(?=\/|$)/g, "")
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
    const found = new Set([path, quoted(realpath(whole)).replace(/^\/$/, "") + rest || "/"]);
    // A call that does not follow the last link (unlink, lstat) names the link itself.
    if (exact && literal.length > 0) {
      const parent = realpath(dirname(whole));
      found.add(quoted(`${parent === "/" ? "" : parent}/${literal.at(-1)}`));
    }
    return [...found];
  }

  /** A single path: where something is redirected to. */
  file(text: string): string {
    if (this.expand(text).length > 1) throw new PatternError(`"${text}" has several meanings`);
    return this.aFile(text);
  }

  /** Every path that a text means. It is no pattern. */
  places(text: string): string[] {
    return this.expand(this.#tilde(text)).map((path) => {
      if (/(^|[^\\])[*?[{]/.test(path))
        throw new PatternError(`"${text}" is a pattern: name a folder or a file`);
      return resolve(this.#folder, unquoted(path));
    });
  }

  /** A path for an example: of several meanings the first. */
  aFile(text: string): string {
    return resolve(this.#folder, unquoted(this.expand(this.#tilde(text))[0]!));
  }
}

function foldersAbove(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [...new Set([...foldersAbove(parent), parent])];
}

/** `..` in a relative pattern is taken out by text, as a person reads it. */
function tidy(pattern: string): string {
  if (!/(^|\/)\.\.(\/|$)/.test(pattern)) return pattern;
  const parts: string[] = [];
  for (const part of pattern.split("/")) {
    if (part === "..") parts.pop();
    else parts.push(part);
  }
  return parts.join("/") || "/";
}

/** A path as a pattern that matches only it. */
export function quoted(path: string): string {
  return path.replace(/[\\*?[\]{}]/g, "\\$&");
}

function unquoted(text: string): string {
  return text.replace(/\\(.)/g, "$1");
}
