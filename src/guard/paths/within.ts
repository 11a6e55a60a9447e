import type { Files } from "../layer.js";
import { isInside, lexical } from "./components.js";

/**
 * Where a path leads, as the kernel would walk it: component by component, links followed, `..` taken from where a link
 * led and not from where it lies. What does not exist yet is taken as written. Undefined when a link leads nowhere: what
 * will be there later cannot be known.
 */
export function walk(
  path: string,
  cwd: string,
  files: Pick<Files, "realpath" | "lstat">,
): string | undefined {
  let at = path.startsWith("/") ? "/" : (files.realpath(cwd) ?? lexical(cwd, "/"));
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === "..") {
      at = lexical("..", at);
      continue;
    }
    const next = at === "/" ? `/${part}` : `${at}/${part}`;
    if (files.lstat(next)?.kind !== "link") {
      at = next;
      continue;
    }
    const target = files.realpath(next);
    if (target === undefined) return undefined;
    at = target;
  }
  return at;
}

/**
 * Whether a path stays inside a folder, links resolved on both sides. A relative path is taken from the folder.
 *
 * This holds for the moment of asking. Between the check and the use a component can be replaced by a link; whoever opens
 * the file must pin it (`openat2` with `RESOLVE_BENEATH`, or the kernel plane's check of the opened inode) and not rely on
 * this answer alone.
 */
export function validateWithinDir(
  path: string,
  root: string,
  files: Pick<Files, "realpath" | "lstat">,
): boolean {
  if (path.includes("\0")) return false;
  const real = files.realpath(root) ?? lexical(root, "/");
  const target = walk(path, real, files);
  return target !== undefined && isInside(target, real);
}
