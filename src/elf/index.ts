export { DT, type Dynamic, mapped } from "./dynamic.js";
export { Elf, type ElfType, requireX64 } from "./elf.js";
export { Fields, MOST_TEXT, nameAt } from "./fields.js";
export { globMatches } from "./glob.js";
export type { Note } from "./notes.js";
export {
  EXECUTE,
  READ,
  type Section,
  type Segment,
  type SegmentType,
  SHF_ALLOC,
  SHF_COMPRESSED,
  SHF_EXECINSTR,
  SHT_NOBITS,
  WRITE,
} from "./parts.js";
export type { PltEntry } from "./plt.js";
export type { Relocation } from "./relocations.js";
export type { SymbolTable } from "./symbol-table.js";
export type { ElfSymbol, SymbolBinding, SymbolType } from "./symbols.js";
