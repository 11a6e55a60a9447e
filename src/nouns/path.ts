/** True when `path` is `folder` or lies in it. Both are absolute and free of links. */
export function isAtOrBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}
