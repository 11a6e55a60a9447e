import { createHash } from "node:crypto";
import { realpathSync, statSync } from "node:fs";
import { createRequire, SourceMap, type SourceMapPayload } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { HermesError } from "../../nouns/errors.js";
import { HOME } from "../../nouns/home.js";
import type { Policy } from "../policy.js";

/**
 * Loads a policy written in TypeScript or JavaScript. The file and its relative imports become one module. So
 * its version covers all of it, and it is loaded completely or not at all. Such a policy is trusted code: it
 * runs with the supervisor's rights.
 */
export async function loadTypeScript(path: string, file: string): Promise<Policy> {
  const { code, map, files, sought } = await bundle(path, file);
  const version = createHash("sha256").update(code).digest("hex").slice(0, 12);
  const exported = await evaluate(path, file, code);
  if (!isPolicy(exported))
    throw new HermesError("POLICY_INVALID", {
      file: path,
      message: "it must `export default definePolicy({ … })`",
    });
  return Object.assign(exported, {
    version,
    file,
    files,
    sought,
    locate: (error: Error) => locate(error, file, map),
  });
}

function isPolicy(value: unknown): value is Policy {
  const policy = value as Policy | undefined;
  return (
    typeof policy === "object" &&
    policy !== null &&
    typeof policy.decide === "function" &&
    policy.subscription !== undefined
  );
}

async function bundle(
  path: string,
  file: string,
): Promise<{ code: string; map: SourceMapPayload; files: string[]; sought: string[] }> {
  const esbuild = await bundler(path);
  const sought = new Set<string>();
  try {
    const built = await esbuild.build({
      entryPoints: [file],
      bundle: true,
      write: false,
      format: "esm",
      platform: "node",
      target: "node20",
      sourcemap: "external",
      metafile: true,
      sourcesContent: false,
      absWorkingDir: "/",
      outdir: "/",
      logLevel: "silent",
      tsconfigRaw: {}, // otherwise a tsconfig.json in any folder above would affect imports
      plugins: [
        {
          name: "packages",
          setup: (build) =>
            build.onResolve({ filter: /^[^./]/ }, (args) => external(args.path, args.importer)),
        },
        {
          name: "files",
          setup: (build) =>
            build.onResolve({ filter: /^[./]/ }, ({ kind, path: name, resolveDir }) =>
              kind === "entry-point" ? undefined : imported(resolve(resolveDir, name), sought),
            ),
        },
      ],
    });
    const [map, code] = built.outputFiles;
    const files = Object.keys(built.metafile.inputs).map((input) => `/${input}`);
    return { code: code!.text, map: JSON.parse(map!.text), files, sought: [...sought] };
  } catch (cause) {
    const [first] =
      (cause as { errors?: { text: string; location?: { line: number; column: number } | null }[] }).errors ??
      [];
    if (!first) throw cause;
    const at = first.location ? `${path}:${first.location.line}:${first.location.column + 1}` : path;
    throw new HermesError("POLICY_SYNTAX", { file: at, message: first.text }, { cause });
  } finally {
    await esbuild.stop();
  }
}

/** esbuild is an optional peer dependency: only policies in these two languages need it. */
async function bundler(path: string): Promise<typeof import("esbuild")> {
  try {
    return await import("esbuild");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new HermesError("POLICY_INVALID", { file: path, message: NO_ESBUILD }, { cause });
  }
}

const NO_ESBUILD =
  "a policy in TypeScript or JavaScript needs the package esbuild, which is not installed: " +
  "run `npm install esbuild` where hermes-runtime is installed (with -g if it is installed globally)";

const ENDINGS = ["", ".ts", ".mts", ".js", ".mjs", ".json", "/index.ts", "/index.js"];

/**
 * The file that a relative import means. Reports every name that it tries: a file created there later would
 * be used by the next load.
 */
function imported(name: string, sought: Set<string>) {
  const written = name.replace(/\.(m?)js$/, ".$1ts"); // TypeScript's way to name a .ts file
  for (const path of new Set([...ENDINGS.map((ending) => `${name}${ending}`), written])) {
    sought.add(path);
    if (statSync(path, { throwIfNoEntry: false })?.isFile()) return { path: realpathSync.native(path) };
  }
  return { errors: [{ text: `Could not resolve "${name}"` }] };
}

/**
 * Packages are not bundled. Our own package always resolves to this very copy, regardless of the policy's
 * folder.
 */
function external(specifier: string, importer: string) {
  if (importer === "" || specifier.startsWith("node:"))
    return importer === "" ? undefined : { path: specifier, external: true };
  if (specifier === "hermes-runtime")
    return { path: pathToFileURL(`${HOME}dist/index.js`).href, external: true };
  try {
    return { path: pathToFileURL(createRequire(importer).resolve(specifier)).href, external: true };
  } catch {
    return { errors: [{ text: `cannot find the package "${specifier}" from ${importer}` }] };
  }
}

/** The name of a policy's module in stack traces: the file, marked as a bundle. */
const nameOf = (file: string) => `hermes-policy:${file}`;

let loads = 0;

async function evaluate(path: string, file: string, code: string): Promise<unknown> {
  // The count makes each load a separate module, with its own state.
  const source = `${code}\n// load ${++loads}\n//# sourceURL=${nameOf(file)}\n`;
  try {
    const module = (await import(
      `data:text/javascript;base64,${Buffer.from(source).toString("base64")}`
    )) as {
      default?: unknown;
    };
    return module.default;
  } catch (cause) {
    throw new HermesError("POLICY_INVALID", { file: path, message: loadMessage(cause as Error) }, { cause });
  }
}

/** Errors of definePolicy() are complete messages; any other error is a failure of the policy's own code. */
function loadMessage(cause: Error): string {
  const message = cause.message.replace(/ imported from data:\S+/, "");
  if (cause.name === "HermesError") return message.replace(/^policy [^:]*: /, "");
  return `it failed while loading: ${message}`;
}

/** The place in the policy's own source that threw an error: the topmost frame in its bundle, mapped back. */
function locate(error: Error, file: string, map: SourceMapPayload): string | undefined {
  const mark = nameOf(file);
  for (const frame of (error.stack ?? "").split("\n")) {
    const position = frame.includes(mark) ? /:(\d+):(\d+)\)?$/.exec(frame) : null;
    if (!position) continue;
    const entry = new SourceMap(map).findEntry(Number(position[1]) - 1, Number(position[2]) - 1);
    if (!("originalSource" in entry)) return undefined;
    return `/${entry.originalSource.replace(/^\/+/, "")}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  }
  return undefined;
}
