import { DT, type Elf, PF_W, PF_X } from "../elf/index.js";
import type { MachineCode } from "./code.js";

/** What makes a program's mistakes harder to use. */
export interface Hardening {
  /** Loaded at a random address (PIE). */
  readonly pie: boolean;
  /** Whether the loader's tables are read-only while the program runs: all, some, or none of them. */
  readonly relro: "full" | "partial" | "none";
  /** Functions check that their stack was not overwritten. */
  readonly canary: boolean;
  /** Checked variants of C functions that it imports. */
  readonly fortified: readonly string[];
  /** Such functions that it imports without the check. */
  readonly unfortified: readonly string[];
  /** No code runs on the stack. */
  readonly nx: boolean;
  /** Marked for Intel's CET: indirect branches, shadow stacks. */
  readonly ibt: boolean;
  readonly shadowStack: boolean;
  /** Where libraries are looked for first, as written. */
  readonly rpath?: string;
  readonly runpath?: string;
  /** Code is changed while it is loaded. */
  readonly textRelocations: boolean;
  /** Memory that can be both written and run. */
  readonly writableCode: boolean;
}

const BIND_NOW = 8;
const NOW_1 = 1;
const TEXTREL = 4;

export function hardeningOf(elf: Elf, code: MachineCode | undefined): Hardening {
  const { dynamic } = elf;
  const stack = elf.segments.find(({ type }) => type === "stack");
  const imports = new Set(elf.relocations.map(({ symbol }) => symbol).filter((name) => name !== undefined));
  const fortified = [...imports].filter(
    (name) => /^__\w+_chk$/.test(name) && !name.startsWith("__stack_chk"),
  );
  const features = cetFeatures(elf);
  return {
    pie: elf.type === "pie",
    relro: relroOf(elf),
    canary: imports.has("__stack_chk_fail") || usesCanary(code),
    fortified: fortified.sort(),
    unfortified: FORTIFIABLE.filter((name) => imports.has(name)),
    nx: stack !== undefined && (stack.flags & PF_X) === 0,
    ibt: (features & 1) !== 0,
    shadowStack: (features & 2) !== 0,
    ...(dynamic.rpath !== undefined && { rpath: dynamic.rpath }),
    ...(dynamic.runpath !== undefined && { runpath: dynamic.runpath }),
    textRelocations: dynamic.values.has(DT.TEXTREL) || (dynamic.flags & TEXTREL) !== 0,
    writableCode: elf.segments.some(
      ({ type, flags }) => type === "load" && (flags & (PF_W | PF_X)) === (PF_W | PF_X),
    ),
  };
}

function relroOf(elf: Elf): Hardening["relro"] {
  const { values, flags, flags1 } = elf.dynamic;
  if (!elf.segments.some(({ type }) => type === "relro")) return "none";
  const now = values.has(DT.BIND_NOW) || (flags & BIND_NOW) !== 0 || (flags1 & NOW_1) !== 0;
  return now || !elf.dynamic.present ? "full" : "partial";
}

/** Reads of the canary from its place in thread storage, %fs:0x28: static and stripped programs have no name for it. */
function usesCanary(code: MachineCode | undefined): boolean {
  const place = Buffer.from([0x25, 0x28, 0, 0, 0]);
  return (code?.regions ?? []).some(({ bytes }) => {
    const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let at = view.indexOf(place, 4); at >= 0; at = view.indexOf(place, at + 1))
      if (view[at - 4] === 0x64 && (view[at - 3]! & 0xf8) === 0x48 && view[at - 2] === 0x8b) return true;
    return false;
  });
}

const PROPERTY_NOTE = 5;
const FEATURES = 0xc0000002;

function cetFeatures(elf: Elf): number {
  const note = elf.notes.find(({ owner, type }) => owner === "GNU" && type === PROPERTY_NOTE);
  if (note === undefined) return 0;
  const fields = elf.fields(note.data);
  const align = elf.bits / 8;
  for (let at = 0; at + 12 <= fields.length; ) {
    const size = fields.u32(at + 4);
    if (fields.u32(at) === FEATURES && size >= 4) return fields.u32(at + 8);
    at += 8 + Math.ceil(size / align) * align;
  }
  return 0;
}

/** C functions that write to memory and have a checked variant. */
const FORTIFIABLE = [
  "fgets",
  "fread",
  "gets",
  "memcpy",
  "memmove",
  "memset",
  "pread",
  "read",
  "readlink",
  "realpath",
  "recv",
  "recvfrom",
  "snprintf",
  "sprintf",
  "stpcpy",
  "strcat",
  "strcpy",
  "strncat",
  "strncpy",
  "vsnprintf",
  "vsprintf",
];
