import type { CpuidResult } from "../nouns/event.js";
import type { RegisterValues } from "../nouns/verdict.js";

type Register = keyof CpuidResult;

/** Where cpuid reports a feature: leaf, subleaf, register, and names by bit. */
const FEATURES: readonly [leaf: number, register: Register, names: Readonly<Record<string, number>>][] = [
  [
    1,
    "ecx",
    {
      ...{
        sse3: 0,
        pclmulqdq: 1,
        monitor: 3,
        vmx: 5,
        ssse3: 9,
        fma: 12,
        cx16: 13,
        pcid: 17,
        sse4_1: 19,
        sse4_2: 20,
      },
      ...{
        x2apic: 21,
        movbe: 22,
        popcnt: 23,
        aes: 25,
        xsave: 26,
        osxsave: 27,
        avx: 28,
        f16c: 29,
        rdrand: 30,
      },
      hypervisor: 31,
    },
  ],
  [1, "edx", { tsc: 4, cx8: 8, cmov: 15, mmx: 23, fxsr: 24, sse: 25, sse2: 26, htt: 28 }],
  [
    7,
    "ebx",
    {
      ...{
        fsgsbase: 0,
        sgx: 2,
        bmi1: 3,
        hle: 4,
        avx2: 5,
        bmi2: 8,
        erms: 9,
        rtm: 11,
        avx512f: 16,
        avx512dq: 17,
      },
      ...{
        rdseed: 18,
        adx: 19,
        avx512ifma: 21,
        clflushopt: 23,
        clwb: 24,
        avx512cd: 28,
        sha: 29,
        avx512bw: 30,
      },
      avx512vl: 31,
    },
  ],
  [
    7,
    "ecx",
    {
      ...{ avx512vbmi: 1, umip: 2, pku: 3, avx512vbmi2: 6, gfni: 8, vaes: 9, vpclmulqdq: 10, avx512vnni: 11 },
      ...{ avx512bitalg: 12, avx512vpopcntdq: 14, rdpid: 22 },
    },
  ],
  [7, "edx", { fsrm: 4, amxbf16: 22, avx512fp16: 23, amxtile: 24, amxint8: 25 }],
  [0x8000_0001, "ecx", { lahf: 0, svm: 2, abm: 5, sse4a: 6, xop: 11, fma4: 16 }],
  [0x8000_0001, "edx", { syscall: 11, nx: 20, rdtscp: 27, lm: 29 }],
  [0x8000_0007, "edx", { invariant_tsc: 8 }],
];

export interface Feature {
  readonly leaf: number;
  readonly register: Register;
  readonly bit: number;
}

const BY_NAME = new Map<string, Feature>(
  FEATURES.flatMap(([leaf, register, names]) =>
    Object.entries(names).map(([name, bit]) => [name, { leaf, register, bit }] as const),
  ),
);

export const FEATURE_NAMES: readonly string[] = [...BY_NAME.keys()];

export function featureNamed(name: string): Feature | undefined {
  return BY_NAME.get(name);
}

/** The cpuid result of a machine without these features; undefined where the leaf reports none of them. */
export function withoutFeatures(
  {
    leaf,
    subleaf,
    cpuid,
  }: { leaf: number | undefined; subleaf: number | undefined; cpuid: CpuidResult | undefined },
  features: readonly Feature[],
): RegisterValues | undefined {
  if (!cpuid || (leaf === 7 && subleaf !== 0)) return undefined;
  const registers: Partial<Record<Register, number>> = {};
  for (const { register, bit } of features.filter((feature) => feature.leaf === leaf))
    registers[register] = ((registers[register] ?? cpuid[register]) & ~(2 ** bit)) >>> 0;
  return Object.keys(registers).length > 0 ? registers : undefined;
}
