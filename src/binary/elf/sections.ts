/** A piece of the file that is mapped when the program starts, or that describes it. */
export interface Segment {
  readonly type: SegmentType;
  readonly flags: number;
  readonly offset: number;
  readonly address: number;
  readonly fileSize: number;
  readonly memorySize: number;
}

export interface Section {
  readonly name: string;
  readonly type: number;
  readonly flags: number;
  readonly address: number;
  readonly offset: number;
  readonly size: number;
  readonly link: number;
  readonly info: number;
  readonly entrySize: number;
}

type SegmentType =
  | "null"
  | "load"
  | "dynamic"
  | "interpreter"
  | "note"
  | "program-headers"
  | "tls"
  | "eh-frame"
  | "stack"
  | "relro"
  | "property"
  | "other";

const SEGMENT_TYPES = new Map<number, SegmentType>([
  [0, "null"],
  [1, "load"],
  [2, "dynamic"],
  [3, "interpreter"],
  [4, "note"],
  [6, "program-headers"],
  [7, "tls"],
  [0x6474e550, "eh-frame"],
  [0x6474e551, "stack"],
  [0x6474e552, "relro"],
  [0x6474e553, "property"],
]);

export const segmentType = (code: number): SegmentType => SEGMENT_TYPES.get(code) ?? "other";

/** Bits of a segment's flags. */
export const PF_X = 1;
export const PF_W = 2;

/** Types of sections, and bits of their flags. */
export const SHT_SYMTAB = 2;
export const SHT_NOBITS = 8;
export const SHF_ALLOC = 2;
export const SHF_EXECINSTR = 4;
export const SHF_COMPRESSED = 0x800;

/** Machines that Linux has, and that a file may be for. */
const MACHINES = new Map<number, string>([
  [2, "sparc"],
  [3, "i386"],
  [4, "m68k"],
  [8, "mips"],
  [20, "powerpc"],
  [21, "powerpc64"],
  [22, "s390"],
  [40, "arm"],
  [42, "sh"],
  [43, "sparc64"],
  [50, "ia64"],
  [62, "x86-64"],
  [183, "aarch64"],
  [243, "riscv"],
  [247, "bpf"],
  [258, "loongarch"],
]);

export const machineName = (code: number): string => MACHINES.get(code) ?? `machine ${code}`;
