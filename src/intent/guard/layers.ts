import { commandLayer } from "./command/layer.js";
import { patternsLayer } from "./config/patterns.js";
import { contentLayer } from "./content/layer.js";
import { credentialsLayer } from "./credentials/layer.js";
import { delegationLayer } from "./delegation/layer.js";
import { filesLayer } from "./files/layer.js";
import type { Layer } from "./layer.js";
import { mcpLayer } from "./mcp/layer.js";
import { memoryLayer } from "./memory/layer.js";
import { pathsLayer } from "./paths/layer.js";
import { pythonLayer } from "./python/layer.js";
import { skillsLayer } from "./skills/layer.js";
import { urlsLayer } from "./urls/layer.js";

/** In the order in which they run and show their findings. `guard.ts` says what each of them judges. */
export const LAYERS: readonly Layer[] = [
  commandLayer,
  pythonLayer,
  pathsLayer,
  filesLayer,
  credentialsLayer,
  urlsLayer,
  contentLayer,
  memoryLayer,
  skillsLayer,
  delegationLayer,
  mcpLayer,
  patternsLayer,
];
