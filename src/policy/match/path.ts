import { compileGlob, expandGlobBraces, type Glob, matchGlob, reachesBelow, split } from "./glob.js";

/** A list of patterns with `!exceptions`, in any order: some pattern matches, and no exception does. */
export interface PathList {
  /** Empty: everything except the exceptions. */
  readonly included: readonly Glob[];
  readonly excepted: readonly Glob[];
}

/** Expands a pattern to absolute patterns: resolves variables, ~ and links. */
type ExpandPath = (text: string, isException: boolean) => readonly string[];

export function compilePaths(texts: readonly string[], expand: ExpandPath): PathList {
  const included: Glob[] = [];
  const excepted: Glob[] = [];
  for (const text of texts) {
    const isException = text.startsWith("!");
    const pattern = isException ? text.slice(1) : text;
    for (const alternative of expandGlobBraces(pattern))
      for (const path of expand(alternative, isException))
        (isException ? excepted : included).push(compileGlob(path));
  }
  return { included, excepted };
}

/** `alias` is another name of the same file: patterns and exceptions may match either. */
export function matchPaths(list: PathList, path: string, alias?: string): boolean {
  const names = alias === undefined ? [split(path)] : [split(path), split(alias)];
  const some = (globs: readonly Glob[]) => globs.some((glob) => names.some((name) => matchGlob(glob, name)));
  return (list.included.length === 0 || some(list.included)) && !some(list.excepted);
}

/** True when moving this folder moves a file that the list covers. */
export function matchBelow(list: PathList, path: string): boolean {
  const components = split(path);
  return list.included.some((glob) => reachesBelow(glob, components));
}
