import type { YamlPath, YamlSource } from "../../nouns/yaml/source.js";
import { PatternError } from "../match/glob.js";
import { parseSize } from "../match/quantity.js";
import type { PolicyFence } from "../policy.js";
import type { FenceSpec } from "./schema.js";
import type { Variables } from "./variables.js";

/** A policy's `fence:`, with this machine's paths. */
export function compileFence(spec: FenceSpec, source: YamlSource, variables: Variables): PolicyFence {
  const at = <T>(key: keyof FenceSpec, act: () => T): T => {
    try {
      return act();
    } catch (error) {
      const place: YamlPath = ["fence", key];
      throw error instanceof PatternError ? source.error(place, `\`${key}\`: ${error.message}`) : error;
    }
  };
  const placesOf = (key: "readable" | "writable" | "also_writable" | "hidden") =>
    spec[key] && at(key, () => [spec[key]!].flat().flatMap((text) => variables.places(text)));
  const places = (key: "readable" | "writable" | "hidden") => {
    const found = placesOf(key);
    return found ? { [key]: found } : {};
  };
  const alsoWritable = placesOf("also_writable");
  const {
    level,
    network,
    processes,
    cpus,
    memory,
    connect_ports: connectPorts,
    bind_ports: bindPorts,
    keep_env: keepEnv,
    set_env: setEnv,
  } = spec;
  return {
    ...places("readable"),
    ...places("writable"),
    ...places("hidden"),
    ...(alsoWritable && { alsoWritable }),
    ...(level && { level }),
    ...(network && { network }),
    ...(connectPorts && { connectPorts }),
    ...(bindPorts && { bindPorts }),
    ...(processes !== undefined && { processes }),
    ...(cpus !== undefined && { cpus }),
    ...(keepEnv && { keepEnv }),
    ...(setEnv && { setEnv }),
    ...(memory !== undefined && { memory: at("memory", () => bytes(String(memory))) }),
  };
}

function bytes(text: string): number {
  const size = parseSize(text);
  if (size === undefined || size < 1n) throw new PatternError(`"${text}" is not a size such as 512MB`);
  return Number(size);
}
