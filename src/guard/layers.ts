import type { Layer } from "./layer.js";

/** In the order in which they are asked and shown; the strictest answer of all holds. */
export const LAYERS: readonly Layer[] = [];
