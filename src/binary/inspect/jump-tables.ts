import type { Instruction, Mnemonic, Register } from "iced-x86";
import { iced } from "../code/iced.js";
import { type Elf, PF_W } from "../elf/index.js";
import type { Block, Edge } from "./cfg.js";
import { Flow, type MachineCode } from "./code.js";
import { full, isImmediate, written } from "./registers.js";

/** A table of addresses that a switch jumps through. */
export interface JumpTable {
  /** The instruction that jumps. */
  readonly jump: number;
  readonly table: number;
  readonly targets: readonly number[];
}

/** How a table holds its addresses: whole, or as distances from a place. */
interface Load {
  readonly table: number;
  readonly count: number;
  readonly width: 4 | 8;
  readonly base: number | undefined;
}

const MOST_ENTRIES = 4096;
const LONGEST_WAY = 6;

/**
 * The table of a jump, if it is proven: on the only way to it an index is compared with a number or cut to some bits, a
 * read-only table is read at that index, and all its entries lead into the function.
 */
export function jumpTable(
  elf: Elf,
  code: MachineCode,
  before: Predecessors,
  roots: readonly number[],
  block: Block,
  inside: (address: number) => boolean,
): JumpTable | undefined {
  const tracker = new Tracker();
  for (const { way, enters } of onlyWay(before, roots, block)) {
    code.seek(way.start);
    for (let i = 0; i < way.instructions && code.next(); i++) tracker.step(code);
    tracker.leave(enters);
  }
  const load = tracker.jump;
  if (load === undefined) return undefined;
  const targets = readTable(elf, load);
  if (targets === undefined || !targets.every(inside)) return undefined;
  return { jump: tracker.jumpAt, table: load.table, targets };
}

/** The blocks that must have run before, oldest first: each has no other way in. */
function onlyWay(before: Predecessors, roots: readonly number[], last: Block) {
  const ways: { way: Block; enters: "fall" | "taken" | "jump" | "end" }[] = [{ way: last, enters: "end" }];
  for (let block = last; ways.length < LONGEST_WAY && !roots.includes(block.start); ) {
    const entries = before.get(block.start) ?? [];
    if (entries.length !== 1) break;
    const { from, kind } = entries[0]!;
    if (kind === "switch" || ways.some(({ way }) => way === from)) break;
    ways.unshift({ way: from, enters: kind });
    block = from;
  }
  return ways;
}

/** From where each block is reached. */
type Predecessors = ReadonlyMap<number, readonly { readonly from: Block; readonly kind: Edge["kind"] }[]>;

export function predecessors(blocks: ReadonlyMap<number, Block>): Predecessors {
  const before = new Map<number, { from: Block; kind: Edge["kind"] }[]>();
  for (const from of blocks.values())
    for (const { to, kind } of from.edges) {
      const known = before.get(to);
      if (known === undefined) before.set(to, [{ from, kind }]);
      else known.push({ from, kind });
    }
  return before;
}

function readTable(elf: Elf, { table, count, width, base }: Load): number[] | undefined {
  if (count > MOST_ENTRIES || isWritable(elf, table, count * width)) return undefined;
  const bytes = elf.bytesAt(table, count * width);
  if (bytes === undefined) return undefined;
  const fields = elf.fields(bytes);
  return Array.from({ length: count }, (_, i) => {
    if (base !== undefined) return base + fields.i32(i * 4);
    return width === 8 ? fields.u64(i * 8) : fields.u32(i * 4);
  });
}

/** What the loader makes read-only before the program runs counts as such. */
function isWritable(elf: Elf, address: number, size: number): boolean {
  const segment = elf.segmentAt(address);
  if (segment === undefined) return true;
  if ((segment.flags & PF_W) === 0) return false;
  const relro = elf.segments.find(({ type }) => type === "relro");
  return relro === undefined || address < relro.address || address + size > relro.address + relro.memorySize;
}

/** The largest an index can be, looking at so many of its lower bits. */
interface Bound {
  readonly limit: number;
  readonly bits: number;
}

/** Follows an index from its comparison to the jump. Forgets registers that an unknown instruction changes. */
class Tracker {
  readonly #index = new Map<Register, Bound>();
  /** Registers that hold an address of this file. */
  readonly #address = new Map<Register, number>();
  readonly #loads = new Map<Register, Load>();
  /** Registers whose upper half is zero: what writes the lower half clears it. */
  readonly #narrow = new Set<Register>();
  #compared: { register: Register; bound: Bound } | undefined;
  #last: Mnemonic | undefined;
  jump: Load | undefined;
  jumpAt = 0;

  step(code: MachineCode): void {
    const { OpKind, Register, RegisterExt } = iced();
    const i = code.instruction;
    this.#last = i.mnemonic;
    if (code.flow === Flow.BRANCH) return;
    if (code.flow === Flow.INDIRECT) {
      this.jumpAt = code.address;
      this.jump = i.op0Kind === OpKind.Register ? this.#loads.get(i.op0Register) : this.#load(i, 8);
      return;
    }
    const to = i.opCount > 0 && i.op0Kind === OpKind.Register ? i.op0Register : Register.None;
    const learned = this.#learn(i, to);
    const { registers, flags } = written(i);
    for (const register of registers) this.#forget(register);
    if (flags) this.#compared = undefined;
    if (code.flow === Flow.CALL || code.flow === Flow.CALL_INDIRECT || code.flow === Flow.SYSCALL)
      this.#forgetAll();
    if (to !== Register.None && registers.includes(full(to)) && RegisterExt.isGPR32(to))
      this.#narrow.add(full(to));
    learned?.();
  }

  /** What is known beyond a branch: how large the index can be. */
  leave(enters: "fall" | "taken" | "jump" | "end"): void {
    const compared = this.#compared;
    const op = this.#last;
    if (compared === undefined) return;
    const { Mnemonic } = iced();
    const over = enters === "fall" ? op === Mnemonic.Ja : enters === "taken" && op === Mnemonic.Jbe;
    const atLeast = enters === "fall" ? op === Mnemonic.Jae : enters === "taken" && op === Mnemonic.Jb;
    const limit = over ? compared.bound.limit : atLeast ? compared.bound.limit - 1 : -1;
    if (limit >= 0 && limit < MOST_ENTRIES) this.#index.set(compared.register, { ...compared.bound, limit });
  }

  /** What an instruction proves. It is recorded after the registers that it overwrites are forgotten. */
  #learn(i: Instruction, to: Register): (() => void) | undefined {
    const { Mnemonic, OpKind, Register, RegisterExt } = iced();
    if (to === Register.None) return undefined;
    const target = full(to);
    const number = isImmediate(i.op1Kind) ? Number(i.immediate(1)) : undefined;
    const from = i.opCount > 1 && i.op1Kind === OpKind.Register ? i.op1Register : Register.None;
    switch (i.mnemonic) {
      case Mnemonic.Cmp: {
        if (number === undefined) return undefined;
        const bound = { limit: number, bits: RegisterExt.size(to) * 8 };
        return () => {
          this.#compared = { register: target, bound };
        };
      }
      case Mnemonic.And:
        if (number === undefined || number >= MOST_ENTRIES || RegisterExt.size(to) < 4) return undefined;
        return () => this.#index.set(target, { limit: number, bits: 64 });
      case Mnemonic.Lea: {
        if (!i.isIpRelMemoryOperand) return undefined;
        const address = Number(i.ipRelMemoryAddress);
        return () => this.#address.set(target, address);
      }
      case Mnemonic.Add: {
        const load = this.#loads.get(target) ?? this.#loads.get(from);
        const base = this.#loads.has(target) ? this.#address.get(from) : this.#address.get(target);
        if (load?.width !== 4 || load.base !== undefined || base === undefined || RegisterExt.size(to) !== 8)
          return undefined;
        return () => this.#loads.set(target, { ...load, base });
      }
      case Mnemonic.Mov:
      case Mnemonic.Movzx:
      case Mnemonic.Movsxd:
        return this.#move(i, to, from, number);
    }
    return undefined;
  }

  #move(i: Instruction, to: Register, from: Register, number: number | undefined): (() => void) | undefined {
    const { Mnemonic, OpKind, RegisterExt } = iced();
    const target = full(to);
    if (RegisterExt.size(to) < 4) return undefined;
    if (i.op1Kind === OpKind.Memory) {
      const load =
        RegisterExt.size(to) === 8 ? this.#load(i, i.mnemonic === Mnemonic.Movsxd ? 4 : 8) : undefined;
      return load && (() => this.#loads.set(target, load));
    }
    if (number !== undefined) return () => this.#address.set(target, number);
    const bits = RegisterExt.size(from) * 8;
    const bound = this.#index.get(full(from));
    const [address, load] = [this.#address.get(from), this.#loads.get(from)];
    // Copied with zeroes above (or, being small, with its sign): the bound is now one of the whole register.
    if (bound !== undefined && bits <= 32 && bound.bits >= bits && bound.limit < 2 ** (bits - 1))
      return () => this.#index.set(target, { limit: bound.limit, bits: 64 });
    if (bound !== undefined && bits === 64) return () => this.#index.set(target, bound);
    if (address !== undefined) return () => this.#address.set(target, address);
    return load && (() => this.#loads.set(target, load));
  }

  /** table(,index,4) or (table,index,4), the index known as a whole. */
  #load(i: Instruction, width: 4 | 8): Load | undefined {
    const { Register } = iced();
    if (i.memoryIndex === Register.None || i.memoryIndexScale !== width) return undefined;
    if (i.segmentPrefix !== Register.None) return undefined;
    const bound = this.#index.get(i.memoryIndex);
    if (bound === undefined || !(bound.bits === 64 || (bound.bits === 32 && this.#narrow.has(i.memoryIndex))))
      return undefined;
    const displacement = Number(i.memoryDisplacement);
    const base = i.memoryBase === Register.None ? 0 : this.#address.get(i.memoryBase);
    if (base === undefined || (base !== 0 && displacement !== 0)) return undefined;
    return { table: base + displacement, count: bound.limit + 1, width, base: undefined };
  }

  #forget(register: Register): void {
    this.#index.delete(register);
    this.#address.delete(register);
    this.#loads.delete(register);
    this.#narrow.delete(register);
    if (this.#compared?.register === register) this.#compared = undefined;
  }

  #forgetAll(): void {
    this.#index.clear();
    this.#address.clear();
    this.#loads.clear();
    this.#narrow.clear();
    this.#compared = undefined;
  }
}
