import { BadDwarf, type DwarfCursor } from "../../binary/elf/dwarf-cursor.js";
import { type Bases, readPointer } from "../../binary/elf/dwarf-pointer.js";
import type { FunctionPart } from "../../binary/elf/frames.js";

/** Registers as DWARF numbers them on x86-64; the return address has a number of its own. */
export const DWARF_REGISTERS = 17;
export const RBP = 6;
export const RSP = 7;
export const RETURN_ADDRESS = 16;

/** Where the value that a register had in the caller is found. */
type RegisterRule =
  | { readonly kind: "same" }
  | { readonly kind: "undefined" }
  /** In memory, that far from the CFA. */
  | { readonly kind: "offset"; readonly offset: number }
  /** The CFA plus an offset. */
  | { readonly kind: "value-offset"; readonly offset: number }
  | { readonly kind: "register"; readonly register: number }
  /** In memory where an expression says, or the value of the expression. */
  | { readonly kind: "expression" | "value-expression"; readonly expression: Expression };

export interface Expression {
  readonly code: DwarfCursor;
}

/** How to come from one instruction of a function to its caller: the canonical frame address (CFA), and the registers. */
export interface UnwindRow {
  readonly cfaRegister: number;
  readonly cfaOffset: number;
  readonly cfaExpression: Expression | undefined;
  /** Register, offset, register, offset …: what nearly all rules are. */
  readonly saved: Int32Array;
  readonly others: readonly { readonly register: number; readonly rule: RegisterRule }[];
  /** The caller was interrupted by a signal: it stands at an instruction, not behind a call. */
  readonly isSignal: boolean;
  /** The tables mark it as the outermost frame. */
  readonly isOutermost: boolean;
}

const MOST_REMEMBERED = 64;
const SAME: RegisterRule = { kind: "same" };
const UNDEFINED: RegisterRule = { kind: "undefined" };

interface State {
  cfaRegister: number;
  cfaOffset: number;
  cfaExpression: Expression | undefined;
  rules: (RegisterRule | undefined)[];
}

/** Runs the tables' little program up to an address of the function. */
export function rowAt(part: FunctionPart, address: number, data: number): UnwindRow {
  const run = new Program(part, address, { data, function: part.from });
  run.run(part.common.code());
  run.initialised();
  run.run(part.code());
  return run.row();
}

class Program {
  readonly #part: FunctionPart;
  readonly #address: number;
  readonly #bases: Bases;
  #location: number;
  #state: State = { cfaRegister: -1, cfaOffset: 0, cfaExpression: undefined, rules: [] };
  #initial: readonly (RegisterRule | undefined)[] = [];
  readonly #remembered: State[] = [];

  constructor(part: FunctionPart, address: number, bases: Bases) {
    this.#part = part;
    this.#address = address;
    this.#location = part.from;
    this.#bases = bases;
  }

  initialised(): void {
    this.#initial = [...this.#state.rules];
  }

  run(code: DwarfCursor): void {
    while (code.more) {
      const op = code.u8();
      const low = op & 63;
      switch (op >> 6) {
        case 1:
          if (!this.#advance(this.#location + low * this.#part.common.codeAlign)) return;
          break;
        case 2:
          this.#offset(low, code.uleb() * this.#part.common.dataAlign);
          break;
        case 3:
          this.#set(low, this.#initial[low]);
          break;
        default:
          if (!this.#step(op, code)) return;
      }
    }
  }

  /** False when the new location lies behind the wanted address: the current row is the result. */
  #advance(location: number): boolean {
    if (location > this.#address) return false;
    this.#location = location;
    return true;
  }

  #set(register: number, rule: RegisterRule | undefined): void {
    if (register < DWARF_REGISTERS) this.#state.rules[register] = rule;
  }

  #offset(register: number, offset: number): void {
    this.#set(register, { kind: "offset", offset });
  }

  #expression(code: DwarfCursor): Expression {
    return { code: code.block(code.uleb()) };
  }

  #step(op: number, code: DwarfCursor): boolean {
    const { codeAlign, dataAlign, pointerEncoding } = this.#part.common;
    const state = this.#state;
    switch (op) {
      case 0x00: // DW_CFA_nop
        break;
      case 0x01: // DW_CFA_set_loc
        return this.#advance(readPointer(code, pointerEncoding, this.#bases));
      case 0x02: // DW_CFA_advance_loc1, 2, 4
        return this.#advance(this.#location + code.u8() * codeAlign);
      case 0x03:
        return this.#advance(this.#location + code.u16() * codeAlign);
      case 0x04:
        return this.#advance(this.#location + code.u32() * codeAlign);
      case 0x05: // DW_CFA_offset_extended
        this.#offset(code.uleb(), code.uleb() * dataAlign);
        break;
      case 0x06: {
        // DW_CFA_restore_extended
        const register = code.uleb();
        this.#set(register, this.#initial[register]);
        break;
      }
      case 0x07: // DW_CFA_undefined
        this.#set(code.uleb(), UNDEFINED);
        break;
      case 0x08: // DW_CFA_same_value
        this.#set(code.uleb(), SAME);
        break;
      case 0x09: // DW_CFA_register
        this.#set(code.uleb(), { kind: "register", register: code.uleb() });
        break;
      case 0x0a: // DW_CFA_remember_state
        if (this.#remembered.length >= MOST_REMEMBERED) throw new BadDwarf("too much to remember");
        this.#remembered.push({ ...state, rules: [...state.rules] });
        break;
      case 0x0b: {
        // DW_CFA_restore_state
        const before = this.#remembered.pop();
        if (!before) throw new BadDwarf("nothing to restore");
        this.#state = before;
        break;
      }
      case 0x0c: // DW_CFA_def_cfa
        this.#cfa(code.uleb(), code.uleb());
        break;
      case 0x0d: // DW_CFA_def_cfa_register
        this.#cfa(code.uleb(), state.cfaOffset);
        break;
      case 0x0e: // DW_CFA_def_cfa_offset
        state.cfaOffset = code.uleb();
        break;
      case 0x0f: // DW_CFA_def_cfa_expression
        state.cfaExpression = this.#expression(code);
        break;
      case 0x10: // DW_CFA_expression
        this.#set(code.uleb(), { kind: "expression", expression: this.#expression(code) });
        break;
      case 0x11: // DW_CFA_offset_extended_sf
        this.#offset(code.uleb(), code.sleb() * dataAlign);
        break;
      case 0x12: // DW_CFA_def_cfa_sf
        this.#cfa(code.uleb(), code.sleb() * dataAlign);
        break;
      case 0x13: // DW_CFA_def_cfa_offset_sf
        state.cfaOffset = code.sleb() * dataAlign;
        break;
      case 0x14: // DW_CFA_val_offset
        this.#set(code.uleb(), { kind: "value-offset", offset: code.uleb() * dataAlign });
        break;
      case 0x15: // DW_CFA_val_offset_sf
        this.#set(code.uleb(), { kind: "value-offset", offset: code.sleb() * dataAlign });
        break;
      case 0x16: // DW_CFA_val_expression
        this.#set(code.uleb(), { kind: "value-expression", expression: this.#expression(code) });
        break;
      case 0x2e: // DW_CFA_GNU_args_size
        code.uleb();
        break;
      case 0x2f: // DW_CFA_GNU_negative_offset_extended
        this.#offset(code.uleb(), -code.uleb() * dataAlign);
        break;
      default:
        throw new BadDwarf(`an unknown instruction (${op})`);
    }
    return true;
  }

  #cfa(register: number, offset: number): void {
    if (register >= DWARF_REGISTERS) throw new BadDwarf("an unknown register");
    this.#state.cfaRegister = register;
    this.#state.cfaOffset = offset;
    this.#state.cfaExpression = undefined;
  }

  row(): UnwindRow {
    const { cfaRegister, cfaOffset, cfaExpression, rules } = this.#state;
    if (cfaRegister < 0 && !cfaExpression) throw new BadDwarf("no frame address");
    const returns = this.#returnRule();
    rules[RETURN_ADDRESS] = returns;
    const saved: number[] = [];
    const others: { register: number; rule: RegisterRule }[] = [];
    rules.forEach((rule, register) => {
      if (rule?.kind === "offset" && Math.abs(rule.offset) < 2 ** 31) saved.push(register, rule.offset);
      else if (rule && rule.kind !== "same") others.push({ register, rule });
    });
    return {
      cfaRegister,
      cfaOffset,
      cfaExpression,
      saved: Int32Array.from(saved),
      others,
      isSignal: this.#part.common.isSignal,
      isOutermost: returns.kind === "undefined",
    };
  }

  /** The column of the return address need not be the last register. */
  #returnRule(): RegisterRule {
    const { returnRegister } = this.#part.common;
    const rule = this.#state.rules[returnRegister];
    if (returnRegister !== RETURN_ADDRESS && (!rule || rule.kind === "same"))
      return { kind: "register", register: returnRegister };
    if (!rule || rule.kind === "same") throw new BadDwarf("no rule for the return address");
    return rule;
  }
}
