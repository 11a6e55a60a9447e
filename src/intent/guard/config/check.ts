import { checkShape } from "../../../nouns/yaml/shape.js";
import type { YamlSource } from "../../../nouns/yaml/source.js";
import { plainMessage } from "./messages.js";
import { type ConfigFile, configSchema, keysAt } from "./schema.js";

export function checkConfig(source: YamlSource): ConfigFile {
  if (source.value === undefined) return configSchema.parse({});
  return checkShape(source, configSchema, { at: keysAt }, plainMessage);
}
