/** The registers that stubs use, by their encoding. */
export const REG = {
  rax: 0,
  rcx: 1,
  rdx: 2,
  rbx: 3,
  rsp: 4,
  rsi: 6,
  rdi: 7,
  r8: 8,
  r9: 9,
  r10: 10,
  r11: 11,
} as const;
type Register = (typeof REG)[keyof typeof REG];

const GS = 0x65;

/**
 * Emits the few instructions that stubs need. Memory operands lie in the thread's lane: at a fixed offset, or
 * (`at`) in the record whose offset is in rcx.
 */
export class Assembler {
  readonly #bytes: number[] = [];
  readonly #labels = new Map<string, number>();
  readonly #jumps: { readonly at: number; readonly label: string }[] = [];

  get length(): number {
    return this.#bytes.length;
  }

  raw(...bytes: number[]): this {
    this.#bytes.push(...bytes);
    return this;
  }

  copy(bytes: Uint8Array): this {
    for (const byte of bytes) this.#bytes.push(byte);
    return this;
  }

  word(value: number): this {
    return this.raw(value & 0xff, (value >> 8) & 0xff, (value >> 16) & 0xff, (value >>> 24) & 0xff);
  }

  label(name: string): this {
    this.#labels.set(name, this.length);
    return this;
  }

  /** The offset of a placed label. */
  offset(name: string): number {
    return this.#labels.get(name)!;
  }

  #lane(wide: boolean, opcode: number[], register: number, offset: number): this {
    const rex = (wide ? 8 : 0) | (register >= 8 ? 4 : 0);
    return this.raw(GS, ...(rex ? [0x40 | rex] : []), ...opcode, 0x04 | ((register & 7) << 3), 0x25).word(
      offset,
    );
  }

  #at(wide: boolean, opcode: number[], register: number, offset: number): this {
    const rex = (wide ? 8 : 0) | (register >= 8 ? 4 : 0);
    return this.raw(GS, ...(rex ? [0x40 | rex] : []), ...opcode, 0x81 | ((register & 7) << 3)).word(offset);
  }

  load32(register: Register, offset: number): this {
    return this.#lane(false, [0x8b], register, offset);
  }

  subtract32(register: Register, offset: number): this {
    return this.#lane(false, [0x2b], register, offset);
  }

  exchangeAdd(register: Register, offset: number): this {
    return this.#lane(true, [0x0f, 0xc1], register, offset);
  }

  increment(offset: number): this {
    return this.#lane(true, [0xff], 0, offset);
  }

  store64At(register: Register, offset: number): this {
    return this.#at(true, [0x89], register, offset);
  }

  store32At(register: Register, offset: number): this {
    return this.#at(false, [0x89], register, offset);
  }

  load64At(register: Register, offset: number): this {
    return this.#at(true, [0x8b], register, offset);
  }

  /** Loads sixteen bits and clears the rest of the register. */
  load16At(register: Register, offset: number): this {
    return this.#at(false, [0x0f, 0xb7], register, offset);
  }

  put32At(offset: number, value: number): this {
    return this.#at(false, [0xc7], 0, offset).word(value);
  }

  put16At(offset: number, value: number): this {
    return this.raw(0x66)
      .#at(false, [0xc7], 0, offset)
      .raw(value & 0xff, (value >> 8) & 0xff);
  }

  /** A jump within the stub: conditional (`jae` and so on), or `jmp` without a condition. */
  jump(label: string, condition?: "below" | "not-below" | "above" | "equal"): this {
    if (condition === undefined) this.raw(0xe9);
    else this.raw(0x0f, { below: 0x82, "not-below": 0x83, above: 0x87, equal: 0x84 }[condition]);
    this.#jumps.push({ at: this.length, label });
    return this.word(0);
  }

  /** A jump to any address, without a register. */
  jumpFar(address: number): this {
    return this.raw(0xff, 0x25)
      .word(0)
      .word(address % 2 ** 32)
      .word(Math.floor(address / 2 ** 32));
  }

  /** The code, which runs at any address. */
  finish(): Uint8Array {
    const code = Uint8Array.from(this.#bytes);
    const view = new DataView(code.buffer);
    for (const { at, label } of this.#jumps) view.setInt32(at, this.offset(label) - (at + 4), true);
    return code;
  }
}
