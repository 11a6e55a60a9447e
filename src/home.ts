import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The package's own folder, found from wherever this code was put: the source, or a bundle of it. Ends in a slash. */
export const HOME = findHome(new URL(".", import.meta.url));

function findHome(folder: URL): string {
  while (!existsSync(new URL("package.json", folder))) folder = new URL("..", folder);
  return fileURLToPath(folder);
}
