/** struct seccomp_data: everything that a filter can see of a call. */
export interface SeccompData {
  /** An int in the kernel: -1 and 0xffffffff are the same number here. */
  nr: number;
  arch: number;
  instructionPointer: bigint;
  args: readonly bigint[];
}

export const SECCOMP_DATA_SIZE = 64;
export const SECCOMP_ARGUMENTS = 6;

/** EM_X86_64 | __AUDIT_ARCH_64BIT | __AUDIT_ARCH_LE */
export const AUDIT_ARCH_X86_64 = 0xc000003e;
/** EM_386 | __AUDIT_ARCH_LE: what int 0x80 reports, from a 64-bit program as well. */
export const AUDIT_ARCH_I386 = 0x40000003;
/** __X32_SYSCALL_BIT: x32 calls report AUDIT_ARCH_X86_64 and differ only by this bit of the number. */
export const X32_SYSCALL_BIT = 0x40000000;

export const NR_OFFSET = 0;
export const ARCH_OFFSET = 4;
export const IP_LOW = 8;
export const IP_HIGH = 12;

/** Offset of the low 32 bits of an argument (x86_64 is little endian). */
export const lowOffset = (arg: number): number => 16 + 8 * arg;
export const highOffset = (arg: number): number => 20 + 8 * arg;

/** The 32-bit word at a byte offset, as BPF_LD|BPF_W|BPF_ABS reads it. */
export function seccompWord(data: SeccompData, offset: number): number {
  if (offset === NR_OFFSET) return data.nr >>> 0;
  if (offset === ARCH_OFFSET) return data.arch >>> 0;
  const long = offset < 16 ? data.instructionPointer : (data.args[(offset - 16) >> 3] ?? 0n);
  return Number(BigInt.asUintN(32, offset % 8 === 0 ? long : long >> 32n));
}

/** `nr`, `arch`, `arg0.low`, `arg0.high`, ... */
export function wordName(offset: number): string {
  if (offset === NR_OFFSET) return "nr";
  if (offset === ARCH_OFFSET) return "arch";
  const half = offset % 8 === 0 ? "low" : "high";
  return offset < 16 ? `ip.${half}` : `arg${(offset - 16) >> 3}.${half}`;
}
