export { CallReader, MORE, type RawCall, type Result } from "./decode.js";
export { DwarfPrototypes } from "./dwarf.js";
export { Prototypes } from "./prototypes.js";
export { Renderer, type Shown } from "./render.js";
export type { CType, Parameter, Prototype } from "./types.js";
export { Cut, type CValue } from "./values.js";
