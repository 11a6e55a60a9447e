/** True when `path` is `folder` or lies in it. Both are absolute and free of links. */
export function isAtOrBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}

/** Of two nested folders the inner one; of two separate folders none. */
export function commonFolders(a: readonly string[], b: readonly string[]): readonly string[] {
  const both = a.flatMap((one) =>
    b.flatMap((two) => (isAtOrBelow(one, two) ? [one] : isAtOrBelow(two, one) ? [two] : [])),
  );
  return [...new Set(both)];
}

/** Without those that lie in another one. */
export function outermost(paths: readonly string[]): string[] {
  const all = [...new Set(paths)];
  return all.filter((path) => !all.some((other) => other !== path && isAtOrBelow(path, other)));
}
