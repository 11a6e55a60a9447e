import { existsSync, readFileSync } from "node:fs";
import { HermesError } from "../../../nouns/errors.js";
import { parseSource } from "../../../nouns/yaml/parse.js";
import { type SourceKind, YamlSource } from "../../../nouns/yaml/source.js";
import type { GuardOptions } from "../guard.js";
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
  const user = read(userFile(places))?.config ?? defaultConfig();
  const project = read(projectFile(places));
  return project ? tightenConfig(user, project.config, project.source) : { config: user, atLeast: {} };
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
