import { accessSync, constants } from "node:fs";
import { extname, resolve } from "node:path";
import type { Allowance } from "../nouns/allowance.js";
import { HermesError } from "../nouns/errors.js";
import type { Policy } from "./policy.js";
import { isPolicyName, shippedPolicies } from "./shipped.js";

export interface LoadOptions {
  /** The policy that this one replaces in a reload: some languages carry state over. */
  readonly previous?: Policy;
  /** The folder in which the program will start, if it is not ours. */
  readonly cwd?: string;
  /** The workspace, if the caller names one. */
  readonly workspace?: string;
  /** What hermes.yaml allows although a policy in YAML refuses it. */
  readonly allowances?: readonly Allowance[];
}

/** Loads one policy. `path` is the user's spelling, for messages; `file` is absolute. */
type Loader = (path: string, file: string, options: LoadOptions) => Promise<Policy>;

/** The file's extension selects the language. A run loads only the languages that it uses. */
const LANGUAGES: Readonly<Record<string, () => Promise<Loader>>> = {
  ".ts": async () => (await import("./typescript/load.js")).loadTypeScript,
  ".mts": async () => (await import("./typescript/load.js")).loadTypeScript,
  ".js": async () => (await import("./typescript/load.js")).loadTypeScript,
  ".mjs": async () => (await import("./typescript/load.js")).loadTypeScript,
  ".yaml": async () => (await import("./yaml/load.js")).loadYamlPolicy,
  ".yml": async () => (await import("./yaml/load.js")).loadYamlPolicy,
  ".lua": async () => (await import("./lua/load.js")).loadLua,
};

interface LoadAllOptions {
  readonly previous?: readonly Policy[];
  readonly cwd?: string | undefined;
  readonly workspace?: string | undefined;
  readonly allowances?: readonly Allowance[] | undefined;
  /** Policies that allowances do not lift. */
  readonly required?: readonly string[] | undefined;
}

/** Loads all policies of a session. */
export async function loadPolicies(
  paths: readonly string[],
  { previous = [], cwd, workspace, allowances, required = [] }: LoadAllOptions = {},
): Promise<Policy[]> {
  const loaded: Policy[] = [];
  // One after the other: each ends the bundler's process, and another load would then wait for it for ever.
  for (const path of paths) {
    const before = previous.find((policy) => policy.file === resolve(path));
    loaded.push(
      await loadPolicy(path, {
        ...(before && { previous: before }),
        ...(cwd !== undefined && { cwd }),
        ...(workspace !== undefined && { workspace }),
        ...(allowances && !required.includes(path) && { allowances }),
      }),
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
    if (errno === "ENOENT" && isPolicyName(path))
      throw new HermesError("POLICY_UNKNOWN", { name: path, known: shippedPolicies().join(", ") }, { cause });
    throw new HermesError("POLICY_NOT_FOUND", { file: path, errno }, { cause });
  }
}
