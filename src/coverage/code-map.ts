import type { Elf } from "../elf/elf.js";
import { controlFlow } from "../inspect/cfg.js";
import { MachineCode } from "../inspect/code.js";
import { type CodeFunction, recoverFunctions } from "../inspect/functions.js";
import { lineRanges } from "./lines.js";
import { type CodePart, type CoveredFunction, CoveredModule } from "./module.js";
import { SourceLines } from "./source-lines.js";

/** What is only guessed to be code is not touched: a byte of data that we changed would change the program. */
const GUESSES: ReadonlySet<string> = new Set(["prologue", "pointer"]);
/** Stubs that the linker made: nobody wrote them. */
const LINKED: ReadonlySet<string> = new Set(["plt"]);

/** The functions of a file, and their blocks if they are wanted. */
export function mapCode(elf: Elf, path: string, unit: "blocks" | "functions"): CoveredModule {
  const code = new MachineCode(elf);
  try {
    const functions = recoverFunctions(elf, code);
    const known = functions.list.filter(
      ({ from }) =>
        !from.every((source) => GUESSES.has(source)) && !from.every((source) => LINKED.has(source)),
    );
    const guessed = functions.list.filter(({ from }) => from.every((source) => GUESSES.has(source))).length;
    const owned = new Set<number>();
    const covered = known.map((each): CoveredFunction => {
      const blocks =
        unit === "functions"
          ? [{ address: each.address, size: each.size }]
          : blocksOf(code, controlFlow(elf, code, functions, each), each).filter(({ address }) =>
              claim(owned, address),
            );
      return {
        name: each.name ?? `0x${each.address.toString(16)}`,
        address: each.address,
        size: each.size,
        blocks,
      };
    });
    return new CoveredModule(
      path,
      elf.buildId,
      covered.filter(({ blocks }) => blocks.length > 0),
      new SourceLines(lineRanges(elf)),
      guessed > 0 ? `${guessed} places that look like functions, but nothing leads to them` : undefined,
    );
  } finally {
    code.free();
  }
}

/** A block belongs to the function that is first seen to have it. */
function claim(owned: Set<number>, address: number): boolean {
  if (owned.has(address)) return false;
  owned.add(address);
  return true;
}

/**
 * Basic blocks, parted behind each call: a call that does not come back (exit, longjmp, an exception) leaves the rest of
 * its block unrun.
 */
function blocksOf(code: MachineCode, flow: ReturnType<typeof controlFlow>, of: CodeFunction): CodePart[] {
  const parts: CodePart[] = [];
  for (const { start, size, calls } of flow.blocks.values()) {
    const end = start + size;
    const starts = [start];
    for (const { from } of calls) {
      const next = code.seek(from) && code.next() ? from + code.length : end;
      if (next > starts.at(-1)! && next < end) starts.push(next);
    }
    starts.forEach((address, i) => {
      parts.push({ address, size: (starts[i + 1] ?? end) - address });
    });
  }
  parts.sort((a, b) => a.address - b.address);
  // Where it is entered comes first, also when parts of it lie before that.
  const entry = parts.findIndex(({ address }) => address === of.address);
  return entry > 0 ? [parts[entry]!, ...parts.slice(0, entry), ...parts.slice(entry + 1)] : parts;
}
