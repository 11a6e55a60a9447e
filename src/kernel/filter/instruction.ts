/** struct sock_filter: one classic BPF instruction. */
export interface Instruction {
  code: number;
  jt: number;
  jf: number;
  k: number;
}

/** The classic BPF instructions that this compiler uses. The kernel's seccomp checker accepts all of them. */
export const BPF_OP = {
  LOAD_WORD: 0x20, // BPF_LD | BPF_W | BPF_ABS
  AND: 0x54, // BPF_ALU | BPF_AND | BPF_K
  JUMP: 0x05, // BPF_JMP | BPF_JA
  JEQ: 0x15, // BPF_JMP | BPF_JEQ | BPF_K
  JGT: 0x25, // BPF_JMP | BPF_JGT | BPF_K
  JGE: 0x35, // BPF_JMP | BPF_JGE | BPF_K
  JSET: 0x45, // BPF_JMP | BPF_JSET | BPF_K
  RETURN: 0x06, // BPF_RET | BPF_K
} as const;

/** BPF_MAXINSNS */
export const MAX_INSTRUCTIONS = 4096;
/** jt and jf are __u8. */
export const MAX_BRANCH = 255;

const INSTRUCTION_SIZE = 8;

/** The program as `struct sock_filter[]`, little endian. */
export function encodeFilter(program: readonly Instruction[]): Uint8Array {
  const bytes = new Uint8Array(program.length * INSTRUCTION_SIZE);
  const view = new DataView(bytes.buffer);
  program.forEach(({ code, jt, jf, k }, index) => {
    const at = index * INSTRUCTION_SIZE;
    view.setUint16(at, code, true);
    view.setUint8(at + 2, jt);
    view.setUint8(at + 3, jf);
    view.setUint32(at + 4, k, true);
  });
  return bytes;
}
