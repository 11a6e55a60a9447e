import { accessSync, constants } from "node:fs";
import { extname, resolve } from "node:path";
import { HermesError } from "../errors.js";
import type { Policy } from "./policy.js";
import { isName, shippedPolicies } from "./shipped.js";

export interface LoadOptions {
  /** What it takes the place of, when it is loaded anew: some languages carry state over. */
  readonly previous?: Policy;
  /** Where the program will start, when that is not our own folder. */
  readonly cwd?: string;
}

/** Loads one policy. `path` is what the user wrote, for messages; `file` is absolute. */
type Loader = (path: string, file: string, options: LoadOptions) => Promise<Policy>;

/** A policy's language goes by its file's extension. A run pays only for the languages that it uses. */
const LANGUAGES: Readonly<Record<string, () => Promise<Loader>>> = {
  ".ts": async () => (await import("./typescript/load.js")).loadTypeScript,
  ".mts": async () => (await import("./typescript/load.js")).loadTypeScript,
  ".js": async () => (await import("./typescript/load.js")).loadTypeScript,
  ".mjs": async () => (await import("./typescript/load.js")).loadTypeScript,
  ".yaml": async () => (await import("./yaml/load.js")).loadYamlPolicy,
  ".yml": async () => (await import("./yaml/load.js")).loadYamlPolicy,
  ".lua": async () => (await import("./lua/load.js")).loadLua,
};

/** Loads all policies of a session. */
export async function loadPolicies(
  paths: readonly string[],
  { previous = [], cwd }: { previous?: readonly Policy[]; cwd?: string | undefined } = {},
): Promise<Policy[]> {
  const loaded: Policy[] = [];
  // One after the other: each ends the bundler's process, which would leave another waiting for it for ever.
  for (const path of paths) {
    const before = previous.find((policy) => policy.file === resolve(path));
    loaded.push(
      await loadPolicy(path, { ...(before && { previous: before }), ...(cwd !== undefined && { cwd }) }),
    );
  }
  return loaded;
}

export async function loadPolicy(path: string, options: LoadOptions = {}): Promise<Policy> {
  const file = resolve(path);
  checkReadable(path, file);
  const language = LANGUAGES[extname(file)];
  if (!language)
    throw new HermesError("POLICY_INVALID", {
      file: path,
      message: `"${extname(file)}" is not a policy language (known: ${Object.keys(LANGUAGES).join(", ")})`,
    });
  return (await language())(path, file, options);
}

function checkReadable(path: string, file: string): void {
  try {
    accessSync(file, constants.R_OK);
  } catch (cause) {
    const errno = (cause as NodeJS.ErrnoException).code ?? "?";
    if (errno === "ENOENT" && isName(path))
      throw new HermesError("POLICY_UNKNOWN", { name: path, known: shippedPolicies().join(", ") }, { cause });
    throw new HermesError("POLICY_NOT_FOUND", { file: path, errno }, { cause });
  }
}
