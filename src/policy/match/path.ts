import { compileGlob, expandBraces, type Glob, matchGlob, reachesBelow, split } from "./glob.js";

/** A list of patterns with `!exceptions`, in any order: some pattern matches, and no exception does. */
export interface PathList {
  /** None: everything that is not excepted. */
  readonly included: readonly Glob[];
  readonly excepted: readonly Glob[];
}

/** What makes a pattern into the absolute patterns that it means: variables, ~ and links are its business. */
export type ExpandPath = (text: string, isException: boolean) => readonly string[];

export function compilePaths(texts: readonly string[], expand: ExpandPath): PathList {
  const included: Glob[] = [];
  const excepted: Glob[] = [];
  for (const text of texts) {
    const isException = text.startsWith("!");
    const pattern = isException ? text.slice(1) : text;
    for (const alternative of expandBraces(pattern))
      for (const path of expand(alternative, isException))
        (isException ? excepted : included).push(compileGlob(path));
  }
  return { included, excepted };
}

/** `alias` is another name of the same file: a pattern may know either, and so may an exception. */
export function matchPaths(list: PathList, path: string, alias?: string): boolean {
  const names = alias === undefined ? [split(path)] : [split(path), split(alias)];
  const some = (globs: readonly Glob[]) => globs.some((glob) => names.some((name) => matchGlob(glob, name)));
  return (list.included.length === 0 || some(list.included)) && !some(list.excepted);
}

/** Whether moving this folder moves something that the list speaks of. */
export function matchBelow(list: PathList, path: string): boolean {
  const components = split(path);
  return list.included.some((glob) => reachesBelow(glob, components));
}
