import { command } from "./command/layer.js";
import { patterns } from "./config/patterns.js";
import { content } from "./content/layer.js";
import { credentials } from "./credentials/layer.js";
import { delegation } from "./delegation/layer.js";
import { files } from "./files/layer.js";
import type { Layer } from "./layer.js";
import { mcp } from "./mcp/layer.js";
import { memory } from "./memory/layer.js";
import { paths } from "./paths/layer.js";
import { python } from "./python/layer.js";
import { skills } from "./skills/layer.js";
import { urls } from "./urls/layer.js";

/** In the order in which they are asked and shown; the strictest answer of all holds. */
export const LAYERS: readonly Layer[] = [
  command,
  python,
  paths,
  files,
  credentials,
  urls,
  content,
  memory,
  skills,
  delegation,
  mcp,
  patterns,
];
