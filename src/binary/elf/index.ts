export { BadDwarf, DwarfBytes, DwarfCursor, unlessBroken } from "./dwarf-cursor.js";
export {
  formOf,
  IMPLICIT_CONST,
  INDIRECT,
  readFormNumber,
  type TextSections,
  textSection,
  type UnitFormat,
} from "./dwarf-form.js";
export { OMITTED, readPointer } from "./dwarf-pointer.js";
export { DT, mapped } from "./dynamic.js";
export { Elf, requireX64 } from "./elf.js";
export { MOST_TEXT, nameAt } from "./fields.js";
export type { Note } from "./notes.js";
export type {} from "./plt.js";
export type {} from "./relocations.js";
export { runtimeFrames, sectionFrames } from "./runtime-frames.js";
export {
  PF_W,
  PF_X,
  SHF_ALLOC,
  SHF_EXECINSTR,
  SHT_NOBITS,
} from "./sections.js";
export type {} from "./symbol-table.js";
export type { ElfSymbol } from "./symbols.js";
