import type { Elf } from "../../binary/elf/elf.js";
import { UnwindTable } from "./unwind-table.js";

/** The unwind tables of each file, read once. */
export class UnwindTables {
  readonly #tables = new WeakMap<Elf, UnwindTable>();

  of(elf: Elf): UnwindTable {
    let table = this.#tables.get(elf);
    if (!table) {
      table = UnwindTable.of(elf);
      this.#tables.set(elf, table);
    }
    return table;
  }
}
