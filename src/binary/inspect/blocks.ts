import { type Elf, requireX64 } from "../elf/index.js";
import { controlFlow } from "./cfg.js";
import { MachineCode } from "./code.js";
import { recoverFunctions } from "./functions.js";

interface BasicBlock {
  readonly start: number;
  readonly size: number;
  /** The first instruction of the function that it belongs to. */
  readonly function: number;
}

/**
 * The basic blocks of a file's code, by address: only such as are reached by following the code from where functions
 * begin, so that data between instructions is never taken for code; and none that begins within another's instruction
 * (the C library jumps over a lock prefix), so that a mark at its first byte harms no other.
 */
export function basicBlocks(elf: Elf, range?: { readonly from: number; readonly to: number }): BasicBlock[] {
  requireX64(elf);
  const code = new MachineCode(elf);
  try {
    const functions = recoverFunctions(elf, code);
    const blocks = new Map<number, BasicBlock>();
    for (const each of functions.list) {
      if (range !== undefined && (each.address >= range.to || each.address + each.size <= range.from))
        continue;
      for (const { start, size } of controlFlow(elf, code, functions, each).blocks.values())
        if (range === undefined || (start >= range.from && start < range.to))
          blocks.set(start, { start, size, function: each.address });
    }
    return apart([...blocks.values()].sort((a, b) => a.start - b.start));
  } finally {
    code.free();
  }
}

function apart(blocks: readonly BasicBlock[]): BasicBlock[] {
  let end = 0;
  return blocks.filter(({ start, size }) => {
    if (start < end) return false;
    end = start + size;
    return true;
  });
}
