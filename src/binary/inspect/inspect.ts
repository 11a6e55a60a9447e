import { HermesError } from "../../nouns/errors.js";
import { Elf } from "../elf/index.js";
import { capabilitiesOf } from "./capabilities.js";
import { MachineCode } from "./code.js";
import { type RecoveredFunctions, recoverFunctions } from "./functions.js";
import { hardeningOf } from "./hardening.js";
import { comments, languagesOf } from "./languages.js";
import { librariesOf } from "./libraries.js";
import { notElfError } from "./not-elf.js";
import { packingOf } from "./packing.js";
import type { FunctionSummary, Inspection, Linked } from "./report.js";
import { type Text, textsOf } from "./strings.js";
import { syscallSites } from "./syscalls.js";

interface InspectOptions {
  /** List all functions. */
  readonly functions?: boolean;
  /** What is done now, and how much of it. */
  readonly progress?: (what: string, share: number) => void;
}

/** Opens a file to be inspected; says what it is when it is no ELF file. */
export function openElf(path: string): Elf {
  try {
    return Elf.open(path);
  } catch (error) {
    throw error instanceof HermesError && error.code === "ELF_KIND" ? notElfError(path) : error;
  }
}

/** Analyses a file without running it. */
export function inspect(elf: Elf, options: InspectOptions = {}): Inspection {
  const progress = options.progress ?? (() => {});
  const problems = [...elf.problems];
  const code = elf.isX64 && elf.type !== "core" ? new MachineCode(elf) : undefined;
  if (code === undefined)
    problems.push(
      elf.type === "core"
        ? "a memory image: it has no code of its own"
        : `its code is for ${elf.machine}, and not looked at`,
    );
  try {
    const functions = code && recoverFunctions(elf, code, (share) => progress("functions", share));
    progress("system calls", 0);
    const syscalls = code && functions && syscallSites(elf, code, functions);
    const strings = textsOf(elf, (share) => progress("strings", share)).map(masked);
    const { imports, exports } = linked(elf);
    progress("libraries", 0);
    const libraries = librariesOf(elf);
    const names = imports.map(({ name }) => name);
    return {
      ...identity(elf),
      compilers: comments(elf),
      languages: languagesOf(elf),
      hardening: hardeningOf(elf, code),
      libraries,
      imports,
      exports,
      strings,
      ...(syscalls !== undefined && { syscalls }),
      ...(functions !== undefined && { functions: summaryOf(functions, options.functions === true) }),
      packing: packingOf(elf),
      capabilities: capabilitiesOf(names, syscalls?.sites ?? [], strings, libraries),
      problems,
    };
  } finally {
    code?.free();
  }
}

function identity(elf: Elf) {
  const { interpreter, soname, buildId, debugFile } = elf;
  const isFull = elf.sections.some(({ type, size }) => type === 2 && size > 0) || debugFile !== undefined;
  return {
    file: elf.path,
    size: elf.size,
    type: elf.type,
    machine: elf.machine,
    bits: elf.bits,
    endian: elf.littleEndian ? ("little" as const) : ("big" as const),
    entry: Number.isFinite(elf.entry) ? elf.entry : 0,
    ...(interpreter !== undefined && { interpreter }),
    ...(soname !== undefined && { soname }),
    ...(buildId !== undefined && { buildId }),
    symbols: isFull
      ? ("full" as const)
      : elf.symbols.dynamic().length > 0
        ? ("dynamic" as const)
        : ("none" as const),
    ...(debugFile !== undefined && { debugFile: debugFile.path }),
    static: interpreter === undefined && (elf.type === "executable" || elf.type === "pie"),
  };
}

function linked(elf: Elf): { imports: Linked[]; exports: Linked[] } {
  const imports: Linked[] = [];
  const exports: Linked[] = [];
  for (const { name, version, type, address, defined, exported } of elf.symbols.dynamic()) {
    const known = { name, ...(version !== undefined && { version }), type };
    if (!defined && name !== "") imports.push(known);
    else if (exported) exports.push({ ...known, address });
  }
  return { imports, exports };
}

function summaryOf(functions: RecoveredFunctions, all: boolean): FunctionSummary {
  const { list, calls } = functions;
  const isRecovered = (from: readonly string[]) =>
    from.every(
      (source) => source === "call" || source === "jump" || source === "pointer" || source === "prologue",
    );
  return {
    count: list.length,
    named: list.filter(({ name }) => name !== undefined).length,
    recovered: list.filter(({ from }) => isRecovered(from)).length,
    calls: calls.length,
    ...(all && { list }),
  };
}

/** A report must not become the place where a secret is found. */
function masked(text: Text): Text {
  return text.kind === "key" && !text.text.startsWith("-----")
    ? { ...text, text: `${text.text.slice(0, 8)}…` }
    : text;
}
