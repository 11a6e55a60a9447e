export { CallReader, type Frame, MORE, type Result } from "./decode.js";
export { DwarfPrototypes } from "./dwarf.js";
export { Prototypes } from "./prototypes.js";
export { looksBare, Renderer, type Shown } from "./render.js";
export type { Failure, Parameter, Prototype, Type } from "./types.js";
export { Cut, type ReadMemory, type Value } from "./values.js";
