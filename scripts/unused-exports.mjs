// Exported names that no other file uses. `node scripts/unused-exports.mjs` lists them; with --fix they lose their `export`.
// A regular expression chooses files.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

/** What users of the package import. */
const ENTRIES = new Set(["src/index.ts", "src/intent/guard/index.ts", "src/agents/tools/index.ts"]);
/** Types that only inferred types of other files name: declarations need them. */
const NAMED = new Set(["CallerFacts", "DecisionFacts", "ErrorFacts", "FolderFacts"]);
const DECLARED =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) ([\w$]+)/gm;
const LISTED = /^export (?:type )?\{([^}]*)\}/gm;
const TAKEN =
  /^(?:import|export)\s+(?:type\s+)?(?:[\w$]+\s*,\s*)?(?:\{([^}]*)\}|(\*(?: as [\w$]+)?))\s*from\s*"(\.[^"]+)"/gm;
const LOADED = /\bimport\(\s*"(\.[^"]+)"/g;

/** "a, type B as C": [name there, name here] of each. */
const names = (list) =>
  list
    .split(",")
    .map((one) => one.trim().replace(/^type /, ""))
    .filter(Boolean)
    .map((one) => [one.split(" as ")[0], one.split(" as ").at(-1)]);

/** [{file, name}] of all exports in src/ that nothing imports. */
export function unusedExports(root) {
  const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 26,
  })
    .split("\n")
    .filter((file) => /\.(ts|mts|mjs|cjs)$/.test(file));
  // The build writes imports of its own.
  const built = new Set(
    files.filter((file) => file.startsWith("scripts/")).flatMap((file) => read(root, file).match(/[\w$]+/g)),
  );
  const used = new Map();
  const use = (file, name) => used.set(file, (used.get(file) ?? new Set()).add(name));
  const exported = [];
  for (const file of files) {
    const text = read(root, file);
    const target = (path) => normalize(join(dirname(file), path)).replace(/\.js$/, ".ts");
    for (const [, list, , path] of text.matchAll(TAKEN))
      for (const [name] of list === undefined ? [["*"]] : names(list)) use(target(path), name);
    for (const [, path] of text.matchAll(LOADED))
      for (const word of text.match(/[\w$]+/g)) use(target(path), word);
    if (!file.startsWith("src/") || file.endsWith(".generated.ts") || ENTRIES.has(file)) continue;
    for (const [, name] of text.matchAll(DECLARED)) exported.push({ file, name });
    for (const [, list] of text.matchAll(LISTED))
      for (const [, name] of names(list)) exported.push({ file, name });
  }
  return exported.filter(
    ({ file, name }) =>
      !used.get(file)?.has(name) && !used.get(file)?.has("*") && !built.has(name) && !NAMED.has(name),
  );
}

function read(root, file) {
  try {
    return readFileSync(join(root, file), "utf8");
  } catch {
    return ""; // deleted, and git does not know it yet
  }
}

function fix(root, { file, name }) {
  const text = read(root, file);
  const declared = new RegExp(
    `^export ((?:declare )?(?:abstract )?(?:async )?(?:const|let|function\\*?|class|interface|type|enum) ${name}\\b)`,
    "m",
  );
  const listed = new RegExp(`^(export (?:type )?\\{[^}]*?)\\b(?:type )?(?:[\\w$]+ as )?${name}\\b,?`, "m");
  writeFileSync(
    join(root, file),
    declared.test(text) ? text.replace(declared, "$1") : text.replace(listed, "$1"),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = join(dirname(fileURLToPath(import.meta.url)), "..");
  const [folders] = process.argv.slice(2).filter((word) => !word.startsWith("--"));
  for (const unused of unusedExports(root).filter(({ file }) => new RegExp(folders ?? "").test(file))) {
    if (process.argv.includes("--fix")) fix(root, unused);
    console.log(`${unused.file}: ${unused.name}`);
  }
}
