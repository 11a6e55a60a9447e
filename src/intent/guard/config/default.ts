import { type ConfigFile, configSchema } from "./schema.js";

/** The configuration where there is no file. The build computes it (scripts/default-config.mjs). */
export function defaultConfig(): ConfigFile {
  return configSchema.parse({});
}
