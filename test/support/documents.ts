import { readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "./root.js";

/** Every page for users: its path from the root. */
export const DOCUMENTS: readonly string[] = [
  "README.md",
  ...readdirSync(join(root, "docs"), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`)
    .sort(),
];
