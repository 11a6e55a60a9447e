import { createHash } from "node:crypto";
import { realpathSync, statSync } from "node:fs";
import { createRequire, SourceMap, type SourceMapPayload } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { HermesError } from "../../errors.js";
import { HOME } from "../../home.js";
import type { Policy } from "../policy.js";

/**
 * Loads a policy written in TypeScript or JavaScript. The file and what it imports by relative path become one module,
 * so its version covers all of it and no half of it can be loaded. Such a policy is trusted code: it runs with the
 * rights of the supervisor.
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
  const esbuild = await import("esbuild");
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
      tsconfigRaw: {}, // else one in any folder above would have a say in what is imported
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

const ENDINGS = ["", ".ts", ".mts", ".js", ".mjs", ".json", "/index.ts", "/index.js"];

/** The file that an import by path means. Every name that is tried is told: a file that appears there would be taken next time. */
function imported(name: string, sought: Set<string>) {
  const written = name.replace(/\.(m?)js$/, ".$1ts"); // TypeScript's way to name a .ts file
  for (const path of new Set([...ENDINGS.map((ending) => `${name}${ending}`), written])) {
    sought.add(path);
    if (statSync(path, { throwIfNoEntry: false })?.isFile()) return { path: realpathSync.native(path) };
  }
  return { errors: [{ text: `Could not resolve "${name}"` }] };
}

/** Packages are not bundled; our own is always this very copy, wherever the policy lies. */
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

/** How a policy's module is called in stack traces: the file, marked as the bundle that it is. */
const nameOf = (file: string) => `hermes-policy:${file}`;

let loads = 0;

async function evaluate(path: string, file: string, code: string): Promise<unknown> {
  // The count makes each load a module of its own, with state of its own.
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

/** What definePolicy() found wrong stands for itself; anything else is the policy's own code that failed. */
function loadMessage(cause: Error): string {
  const message = cause.message.replace(/ imported from data:\S+/, "");
  if (cause.name === "HermesError") return message.replace(/^policy [^:]*: /, "");
  return `it failed while it was loaded: ${message}`;
}

/** Where in the policy's own source an error came from: the topmost frame that lies in its bundle, mapped back. */
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
