import { existsSync, readFileSync } from "node:fs";
import { TOOLS_POLICY } from "../../../nouns/allowance.js";
import { HermesError } from "../../../nouns/errors.js";
import { parseSource } from "../../../nouns/yaml/parse.js";
import { type SourceKind, YamlSource } from "../../../nouns/yaml/source.js";
import type { GuardOptions } from "../guard.js";
import { allowancesOf } from "./allow.js";
import { checkConfig } from "./check.js";
import { type Places, projectFile, userFile, userFiles } from "./config-files.js";
import { defaultConfig } from "./default.js";
import { compilePatterns } from "./patterns.js";
import type { ConfigFile } from "./schema.js";
import { withCurrentKeys } from "./seed-keys.js";
import { type MergedConfig, tightenConfig } from "./tighten.js";

const CONFIG: SourceKind = { syntax: "CONFIG", invalid: "CONFIG" };

export { type Places, projectFile, userFile };

/** The configuration of this user in this project. A missing file has no effect; an invalid one is an error. */
export function loadConfig(places: Places): MergedConfig {
  const [own, older] = userFiles(places) as [string, string];
  if (existsSync(own) && existsSync(older))
    throw new HermesError("CONFIG", {
      file: older,
      message: `${own} exists too, and only one of them can hold: move what should hold to one, and remove the other`,
    });
  const user = withAllowedAddresses(read(userFile(places))?.config ?? defaultConfig(), places);
  const project = read(projectFile(places));
  return project ? tightenConfig(user, project.config, project.source) : { config: user, atLeast: {} };
}

/** `allow: [{ connect: … }]` and `urls.allow` are one list for the guard and the runtime check. */
function withAllowedAddresses(config: ConfigFile, { workspace, home }: Places): ConfigFile {
  const allowed = allowancesOf(config.allow, workspace, home).flatMap(({ does, what, policies }) =>
    does === "connect" && typeof what === "string" && policies.includes(TOOLS_POLICY) ? [what] : [],
  );
  if (allowed.length === 0) return config;
  return { ...config, urls: { ...config.urls, allow: [...config.urls.allow, ...allowed] } };
}

function read(file: string): { source: YamlSource; config: ConfigFile } | undefined {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    const message = cause instanceof TypeError ? "it is not UTF-8" : `cannot read it: ${code}`;
    throw new HermesError("CONFIG", { file, message }, { cause });
  }
  const { root } = parseSource(file, text, CONFIG);
  const source = new YamlSource(file, text, withCurrentKeys(root), CONFIG);
  return { source, config: checkConfig(source) };
}

/** The guard's options from it. */
export async function guardOptions(places: Places): Promise<ConfiguredOptions> {
  return optionsOf(loadConfig(places));
}

type ConfiguredOptions = Pick<GuardOptions, "profile" | "actions" | "atLeast" | "config">;

/** The guard's options from a configuration that was read before, perhaps in another thread. */
export async function optionsOf({ config, atLeast }: MergedConfig): Promise<ConfiguredOptions> {
  const { profile, actions, file_read_max_chars, patterns, resident: _, ...sections } = config;
  return {
    profile,
    actions,
    atLeast,
    config: {
      ...sections,
      files: { ...sections.files, read_max_chars: file_read_max_chars },
      patterns: await compilePatterns(patterns),
    },
  };
}
