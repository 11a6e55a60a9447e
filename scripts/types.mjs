// The library's public types: those reachable from its entry points, and no others.
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

const ENTRIES = ["index", "intent/guard/index", "agents/tools/index"].map((name) => `dist/${name}.d.ts`);

export function pruneTypes() {
  const kept = new Set();
  const open = [...ENTRIES];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (kept.has(file) || !existsSync(file)) continue;
    kept.add(file);
    for (const [, path] of readFileSync(file, "utf8").matchAll(/(?:from |import\()"(\.[^"]+)\.js"/g))
      open.push(normalize(join(dirname(file), `${path}.d.ts`)));
  }
  for (const file of readdirSync("dist", { recursive: true }).map((name) => join("dist", name)))
    if (file.endsWith(".d.ts") && !kept.has(file)) rmSync(file);
}
