import { lstatSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

/** An absolute path without empty parts, `.` and `..`. */
const IS_PLAIN = /^(?=\/)(?:\/$|(?!.*\/(?:\/|$|\.\.?(?:\/|$))))/s;

interface Place {
  readonly path: string;
  readonly exists: boolean;
}

/**
 * Resolves the links of many paths in the same folders, as far as the paths exist: each folder is looked at once. For
 * one loading of policies; what changes later is not seen.
 */
export class LinkResolver {
  readonly #known = new Map<string, Place>([["/", { path: "/", exists: true }]]);

  resolve(path: string): string {
    return IS_PLAIN.test(path) ? this.#place(path).path : resolveAlone(path);
  }

  #place(path: string): Place {
    const known = this.#known.get(path);
    if (known) return known;
    const place = this.#lookUp(path);
    this.#known.set(path, place);
    return place;
  }

  #lookUp(path: string): Place {
    const above = dirname(path);
    const parent = this.#place(above);
    const name = path.slice(above === "/" ? 1 : above.length + 1);
    const plain = name === "" ? parent.path : `${parent.path === "/" ? "" : parent.path}/${name}`;
    if (!parent.exists) return { path: plain, exists: false };
    try {
      const info = lstatSync(plain, { throwIfNoEntry: false });
      return info?.isSymbolicLink()
        ? { path: realpathSync.native(plain), exists: true }
        : { path: plain, exists: info !== undefined };
    } catch {
      return { path: plain, exists: false }; // a link that leads nowhere, or a folder that may not be entered
    }
  }
}

function resolveAlone(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const parent = dirname(path);
    return parent === path
      ? path
      : join(resolveAlone(parent), path.slice(parent === "/" ? 1 : parent.length + 1));
  }
}
