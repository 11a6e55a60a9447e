import type { Files } from "../layer.js";
import { isWithin, lexical } from "./components.js";

/**
 * Where a path leads, as the kernel walks it: component by component, following links; `..` starts from a link's
 * target. Missing components are taken as written. Undefined when a link leads to nothing: its later target is
 * unknown.
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
 * Whether a path stays inside a folder, with links resolved on both sides. A relative path starts at the folder.
 *
 * This is a time-of-check answer. Before the use, a component can be replaced by a link: the program that opens the
 * file must pin it (`openat2` with `RESOLVE_BENEATH`, or the kernel plane's check of the opened inode) and must not
 * rely on this answer alone.
 */
export function validateWithinDir(
  path: string,
  root: string,
  files: Pick<Files, "realpath" | "lstat">,
): boolean {
  if (path.includes("\0")) return false;
  const real = files.realpath(root) ?? lexical(root, "/");
  const target = walk(path, real, files);
  return target !== undefined && isWithin(target, real);
}
