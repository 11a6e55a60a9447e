import { type Elf, runtimeFrames, sectionFrames } from "../elf/index.js";

/** A stretch of code that .eh_frame describes: one function, or a part of it that was moved away. */
export interface UnwindRange {
  readonly start: number;
  readonly size: number;
  /** Where the table of exception handlers is. */
  readonly handlers?: number;
}

/** No address is this large. */
const BEYOND = 2 ** 52;

/** Compilers write .eh_frame for all their code, also in stripped files: it shows where functions begin and end. */
export function unwindRanges(elf: Elf): UnwindRange[] {
  const ranges: UnwindRange[] = [];
  const frames = sectionFrames(elf) ?? runtimeFrames(elf)?.frames;
  frames?.each((part) => {
    const { from: start, to, common } = part;
    const size = to - start;
    if (!(size > 0 && start > 0 && to < BEYOND)) return;
    // A signal's trampoline begins a byte early, since unwinders look up a return address less one.
    if (common.isSignal) ranges.push({ start: start + 1, size: size - 1 });
    else {
      const handlers = part.handlers();
      ranges.push({ start, size, ...(handlers !== undefined && { handlers }) });
    }
  });
  return ranges.sort((a, b) => a.start - b.start);
}
