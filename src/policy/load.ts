import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { HermesError } from "../errors.js";
import { HOME } from "../home.js";
import type { Policy } from "./policy.js";

const LANGUAGES = new Set([".ts", ".mts", ".js", ".mjs"]);

/** Loads all policies of a session. */
export async function loadPolicies(paths: readonly string[]): Promise<Policy[]> {
  const loaded: Policy[] = [];
  // One after the other: each ends the bundler's process, which would leave another waiting for it for ever.
  for (const path of paths) loaded.push(await loadPolicy(path));
  return loaded;
}

/**
 * Loads a policy written in TypeScript or JavaScript. The file and what it imports by relative path become one module,
 * so its version covers all of it and no half of it can be loaded. Such a policy is trusted code: it runs with the
 * rights of the supervisor.
 */
export async function loadPolicy(path: string): Promise<Policy> {
  const file = resolve(path);
  checkReadable(path, file);
  if (!LANGUAGES.has(extname(file)))
    throw new HermesError("POLICY_INVALID", {
      file: path,
      message: `"${extname(file)}" is not a policy language (known: ${[...LANGUAGES].join(", ")})`,
    });
  const code = await bundle(path, file);
  const version = createHash("sha256").update(code).digest("hex").slice(0, 12);
  const exported = await evaluate(path, code);
  if (!isPolicy(exported))
    throw new HermesError("POLICY_INVALID", {
      file: path,
      message: "it must `export default definePolicy({ … })`",
    });
  return Object.assign(exported, { version, file });
}

function checkReadable(path: string, file: string): void {
  try {
    readFileSync(file);
  } catch (cause) {
    throw new HermesError(
      "POLICY_NOT_FOUND",
      { file: path, errno: (cause as NodeJS.ErrnoException).code ?? "?" },
      { cause },
    );
  }
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

async function bundle(path: string, file: string): Promise<string> {
  const esbuild = await import("esbuild");
  try {
    const built = await esbuild.build({
      entryPoints: [file],
      bundle: true,
      write: false,
      format: "esm",
      platform: "node",
      target: "node20",
      sourcemap: "inline",
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
    return built.outputFiles[0]!.text;
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

async function evaluate(path: string, code: string): Promise<unknown> {
  process.setSourceMapsEnabled(true);
  try {
    const module = (await import(`data:text/javascript;base64,${Buffer.from(code).toString("base64")}`)) as {
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
