import { type REGISTER, USER_REGISTERS } from "./layout.js";

const WORD = 2 ** 32;

export type UserRegisterName = keyof typeof REGISTER;

/** The registers of one stopped thread, in memory that may be shared with C. Addresses are numbers: they are below 2^47. */
export class RegisterFile {
  readonly bytes: Uint8Array;
  readonly #u32: Uint32Array;
  readonly #i32: Int32Array;
  readonly #u64: BigUint64Array;

  constructor(memory: ArrayBufferLike = new ArrayBuffer(USER_REGISTERS * 8), offset = 0) {
    this.bytes = new Uint8Array(memory, offset, USER_REGISTERS * 8);
    this.#u32 = new Uint32Array(memory, offset, USER_REGISTERS * 2);
    this.#i32 = new Int32Array(memory, offset, USER_REGISTERS * 2);
    this.#u64 = new BigUint64Array(memory, offset, USER_REGISTERS);
  }

  /** As an unsigned number: exact for addresses. */
  get(i: number): number {
    return this.#u32[i * 2 + 1]! * WORD + this.#u32[i * 2]!;
  }

  /** As a signed number: exact up to 2^53. */
  signed(i: number): number {
    return this.#i32[i * 2 + 1]! * WORD + this.#u32[i * 2]!;
  }

  exact(i: number): bigint {
    return this.#u64[i]!;
  }

  set(i: number, value: number | bigint): void {
    if (typeof value === "number" && value >= 0 && Number.isSafeInteger(value)) {
      this.#u32[i * 2] = value % WORD;
      this.#u32[i * 2 + 1] = value / WORD;
    } else this.#u64[i] = BigInt.asUintN(64, BigInt(value));
  }
}
