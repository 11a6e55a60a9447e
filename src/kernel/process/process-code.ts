import type { Elf } from "../../binary/elf/elf.js";
import { type Frame, frameText } from "../../nouns/inside.js";
import { moduleName } from "../../policy/function-pattern.js";
import { type Module, Modules } from "./modules.js";
import { JitNames } from "./symbols-jit.js";
import type { CodeMap } from "./unwind.js";
import type { UnwindRow } from "./unwind-row.js";
import type { UnwindTables } from "./unwind-tables.js";

const MOST_PLACES = 50_000;
const NOTHING = new Modules([], []);
const FOUND_NAMES = ["registers", "tables", "frame-pointer", "signal"] as const;

/** Everything known about one code address. */
interface Place {
  readonly module: Module | undefined;
  readonly elf: Elf | undefined;
  readonly bias: number;
  readonly row: UnwindRow | undefined;
  /** Frames already shown for it, by how they were found. */
  readonly frames: (PlaceFrame | undefined)[];
}

/** The code of one process: which file holds an address, how to unwind from it, and its symbol. */
export class ProcessCode implements CodeMap {
  readonly #maps: () => string;
  readonly #read: (maps: string) => Modules;
  readonly #tables: UnwindTables;
  readonly #places = new Map<number, Place>();
  readonly #jit: JitNames;
  #modules: Modules = NOTHING;
  #text = "";
  #isOld = true;
  /** Read the maps at most once per walk, even if the stack is full of garbage. */
  #freshlyRead = false;

  /** `maps` reads the text of the process's maps, `read` parses it. */
  constructor(pid: number, maps: () => string, read: (maps: string) => Modules, tables: UnwindTables) {
    this.#maps = maps;
    this.#read = read;
    this.#tables = tables;
    this.#jit = new JitNames(pid);
  }

  /** Mappings may have changed since. */
  changed(): void {
    this.#isOld = true;
  }

  beginWalk(): void {
    this.#freshlyRead = false;
    if (this.#isOld) this.#refresh();
  }

  /** Cached facts stay valid while the maps are unchanged. */
  #refresh(): void {
    this.#freshlyRead = true;
    this.#isOld = false;
    const text = this.#maps();
    if (text === this.#text) return;
    this.#text = text;
    this.#modules = this.#read(text);
    this.#places.clear();
  }

  get modules(): Modules {
    return this.#modules;
  }

  row(address: number): UnwindRow | undefined {
    return this.#place(address).row;
  }

  isCode(address: number): boolean {
    return this.modules.isCode(address) || (this.#readAgain() && this.modules.isCode(address));
  }

  isVdso(address: number): boolean {
    return this.#place(address).module?.isVdso === true;
  }

  #place(address: number): Place {
    let place = this.#places.get(address);
    if (!place) {
      place = this.#look(address);
      if (this.#places.size >= MOST_PLACES) this.#places.clear();
      this.#places.set(address, place);
    }
    return place;
  }

  #look(address: number): Place {
    if (!this.modules.isCode(address)) this.#readAgain();
    const module = this.modules.at(address);
    const elf = module?.elf();
    const bias = module?.bias;
    if (!module || !elf || bias === undefined)
      return { module, elf: undefined, bias: 0, row: undefined, frames: [] };
    return { module, elf, bias, row: this.#tables.of(elf).row(address - bias), frames: [] };
  }

  /**
   * The program may have mapped code without our notice. False when the maps were read during this walk
   * already.
   */
  #readAgain(): boolean {
    if (this.#freshlyRead) return false;
    this.#refresh();
    return true;
  }

  frame(address: number, exact: boolean, found: number): Frame {
    const looked = address - (exact ? 0 : 1);
    const place = this.#place(looked);
    const key = found * 2 + (exact ? 1 : 0);
    place.frames[key] ??= new PlaceFrame(address, looked, place, FOUND_NAMES[found]!, this.#jit);
    return place.frames[key];
  }
}

/** Symbols are looked up on first use. */
class PlaceFrame implements Frame {
  readonly #address: number;
  readonly #looked: number;
  readonly #place: Place;
  readonly #jit: JitNames;
  #name: { readonly symbol: string; readonly from: number } | undefined | null = null;
  readonly found: Frame["found"];

  constructor(address: number, looked: number, place: Place, found: Frame["found"], jit: JitNames) {
    this.#address = address;
    this.#looked = looked;
    this.#place = place;
    this.found = found;
    this.#jit = jit;
  }

  get address(): bigint {
    return BigInt(this.#address);
  }

  get module(): string | undefined {
    return this.#place.module && moduleName(this.#place.module.path);
  }

  get path(): string | undefined {
    return this.#place.module?.path;
  }

  get isMain(): boolean {
    return this.#place.module?.isMain === true;
  }

  get offset(): number | undefined {
    return this.#place.elf ? this.#address - this.#place.bias : undefined;
  }

  get symbol(): string | undefined {
    return this.#named()?.symbol;
  }

  get symbolOffset(): number | undefined {
    const name = this.#named();
    return name && this.#address - name.from;
  }

  #named(): { readonly symbol: string; readonly from: number } | undefined {
    const { elf, bias } = this.#place;
    // The program may extend its list of JIT code at any time, so a missing name is looked up again.
    if (!elf) return this.#jit.at(this.#looked);
    if (this.#name === null) this.#name = symbolAt(elf, this.#looked - bias, bias);
    return this.#name;
  }

  toString(): string {
    return frameText(this);
  }
}

function symbolAt(elf: Elf, address: number, bias: number) {
  try {
    const symbol = elf.symbols.at(address);
    if (!symbol || symbol.type === "object") return undefined;
    return { symbol: symbol.name, from: symbol.address + bias };
  } catch {
    return undefined; // its tables are broken, or the file was closed: no name is better than a wrong one
  }
}
