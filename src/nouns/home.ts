import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The package's own folder, found from this file's place: in the source or in a bundle. Ends in a slash. */
export const HOME = findHome(new URL(".", import.meta.url));

function findHome(folder: URL): string {
  if (existsSync(new URL("package.json", folder))) return fileURLToPath(folder);
  const above = new URL("..", folder);
  if (above.href === folder.href) throw new Error(`no package.json above ${fileURLToPath(import.meta.url)}`);
  return findHome(above);
}
