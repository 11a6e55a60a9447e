import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { root } from "./root.js";

/**
 * The two parts of `npm test`. A *pure* test needs neither the kernel side nor a package of the system: it starts no
 * process and loads no native addon of ours, so it runs on any OS, as any user, without a build. All other tests are
 * *kernel* tests. What a test imports decides; `pure.ts` makes sure of it while the test runs.
 */

/** What makes a kernel test of a test, when the test or another file of test/ imports it. */
const KERNEL_IMPORTS: readonly string[] = [
  "node:child_process",
  "node:cluster",
  "node:worker_threads", // bundles of dist/ run there, out of sight of pure.ts
  "hermes-runtime", // dist/
  "hermes-runtime/guard",
  "hermes-runtime/tools",
  "playwright-core",
];

/** Loads the native addon: a test that imports it, even through src/, is a kernel test. */
const BINDING = "src/kernel/binding/native.ts";

/** A test that has src/ start a process says so in a line of its own, with the reason. */
const MARK = /^\/\/ kernel test: \S/m;

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s+(?!type\s)(?:[^"';]*?\sfrom\s+)?"([^"]+)"|\bimport\(\s*"([^"]+)"\s*\)/g;

const texts = new Map<string, string>();
const imports = new Map<string, readonly string[]>();

function textOf(file: string): string {
  const known = texts.get(file) ?? readFileSync(file, "utf8");
  texts.set(file, known);
  return known;
}

function importsOf(file: string): readonly string[] {
  const known = imports.get(file);
  if (known) return known;
  const found = /\.m?[jt]s$/.test(file)
    ? [...textOf(file).matchAll(IMPORT)].map(([, plain, late]) => plain ?? late!)
    : [];
  imports.set(file, found);
  return found;
}

/** The file that a relative import means, or undefined. */
function target(from: string, name: string): string | undefined {
  if (!name.startsWith(".")) return undefined;
  const path = resolve(dirname(from), name);
  const written = path.replace(/\.(m?)js$/, ".$1ts"); // TypeScript's way to name a .ts file
  return [written, path].find((file) => existsSync(file) && statSync(file).isFile());
}

/** A path in this repository, with slashes on every OS. */
const named = (file: string) => relative(root, file).split(sep).join("/");

/** Every file of this repository that a module imports, itself included. */
export function reached(module: string): string[] {
  const seen = new Set([module]);
  for (const file of seen)
    for (const imported of importsOf(file)) {
      const next = target(file, imported);
      if (next) seen.add(next);
    }
  return [...seen].map(named);
}

/** Why a test belongs to the kernel part: a chain of imports, or its own mark. Undefined for a pure test. */
export function kernelReason(test: string): string | undefined {
  const from = new Map<string, string | undefined>([[test, undefined]]);
  const chain = (file: string): string => {
    const before = from.get(file);
    return before ? `${chain(before)} > ${named(file)}` : named(file);
  };
  for (const file of from.keys()) {
    const name = named(file);
    if (name === BINDING) return chain(file);
    const isOfTests = !name.startsWith("src/");
    if (isOfTests && MARK.test(textOf(file))) return `${chain(file)} says so`;
    for (const imported of importsOf(file)) {
      if (isOfTests && KERNEL_IMPORTS.includes(imported)) return `${chain(file)} > ${imported}`;
      const next = target(file, imported);
      if (next && !from.has(next)) from.set(next, file);
    }
  }
  return undefined;
}

export interface Parts {
  readonly pure: string[];
  readonly kernel: string[];
}

/** Every test file of test/, in its part. */
export function parts(): Parts {
  const all = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => join(root, "test", name))
    .sort();
  const isPure = new Set(all.filter((file) => kernelReason(file) === undefined));
  return {
    pure: all.filter((file) => isPure.has(file)).map(named),
    kernel: all.filter((file) => !isPure.has(file)).map(named),
  };
}
