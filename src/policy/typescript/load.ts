import { createHash } from "node:crypto";
import { createRequire, SourceMap, type SourceMapPayload } from "node:module";
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
  const { code, map, files } = await bundle(path, file);
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
): Promise<{ code: string; map: SourceMapPayload; files: string[] }> {
  const esbuild = await import("esbuild");
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
      plugins: [
        {
          name: "packages",
          setup: (build) =>
            build.onResolve({ filter: /^[^./]/ }, (args) => external(args.path, args.importer)),
        },
      ],
    });
    const [map, code] = built.outputFiles;
    const files = Object.keys(built.metafile.inputs).map((input) => `/${input}`);
    return { code: code!.text, map: JSON.parse(map!.text), files };
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
