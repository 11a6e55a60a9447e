import type { Elf } from "../../binary/elf/elf.js";
import { type ControlFlow, controlFlow } from "../../binary/inspect/cfg.js";
import { MachineCode } from "../../binary/inspect/code.js";
import { type CodeFunction, recoverFunctions } from "../../binary/inspect/functions.js";
import { counted } from "../../nouns/counted.js";
import { lineRanges } from "./lines.js";
import { type CodePart, type CoveredFunction, CoveredModule } from "./module.js";
import { SourceLines } from "./source-lines.js";

/** What is only guessed to be code is not touched: a byte of data that we changed would change the program. */
const GUESSES: ReadonlySet<string> = new Set(["prologue", "pointer"]);

/** The functions of a file, and their blocks if they are wanted; else only where each begins. */
export function mapCode(elf: Elf, path: string, unit: "blocks" | "functions"): CoveredModule {
  const code = new MachineCode(elf);
  try {
    const functions = recoverFunctions(elf, code);
    // The linker made the stubs for calls into other files: they have no source.
    const own = functions.list.filter(({ address }) => !code.regionAt(address)?.name.startsWith(".plt"));
    const isGuessed = ({ from }: CodeFunction) => from.every((source) => GUESSES.has(source));
    const known = own.filter((each) => !isGuessed(each));
    const guessed = own.length - known.length;
    const lines = new SourceLines(lineRanges(elf));
    const owned = new Set<number>();
    let unknown = 0;
    const covered = known.map((each): CoveredFunction => {
      if (unit === "functions") return { ...named(each), blocks: [{ address: each.address, size: 1 }] };
      const flow = controlFlow(elf, code, functions, each);
      const found = withLines(blocksOf(code, flow), each, lines);
      if (!flow.complete && lines.isEmpty) unknown++;
      const blocks = entryFirst(found, each).filter(({ address }) => claim(owned, address));
      return { ...named(each), blocks };
    });
    return new CoveredModule(
      path,
      elf.buildId,
      covered.filter(({ blocks }) => blocks.length > 0),
      lines,
      leftOut(guessed, unknown),
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
function blocksOf(code: MachineCode, flow: ControlFlow): CodePart[] {
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
  return parts.sort((a, b) => a.address - b.address);
}

/**
 * Where a jump leads that goes through a register cannot always be proven. What the compiler says is the beginning of a
 * line is code all the same: such places are blocks, up to the next.
 */
function withLines(parts: CodePart[], { address, size }: CodeFunction, lines: SourceLines): CodePart[] {
  const end = address + size;
  const isKnown = (at: number) => parts.some((part) => at >= part.address && at < part.address + part.size);
  const gaps = lines.addressesIn({ address, size }).filter((at) => !isKnown(at));
  if (gaps.length === 0) return parts;
  const starts = [...parts.map((part) => part.address), ...gaps].sort((a, b) => a - b);
  const next = (at: number) => starts.find((start) => start > at) ?? end;
  return [...parts, ...gaps.map((at) => ({ address: at, size: next(at) - at }))].sort(
    (a, b) => a.address - b.address,
  );
}

/** Where it is entered comes first, also when parts of it lie before that. */
function entryFirst(parts: CodePart[], of: CodeFunction): CodePart[] {
  const entry = parts.findIndex(({ address }) => address === of.address);
  return entry > 0 ? [parts[entry]!, ...parts.slice(0, entry), ...parts.slice(entry + 1)] : parts;
}

function named({ name, address, size }: CodeFunction) {
  return { name: name ?? `0x${address.toString(16)}`, address, size };
}

function leftOut(guessed: number, unknown: number): string | undefined {
  const parts = [
    ...(guessed > 0
      ? [
          `${counted(guessed, "place")} that ${guessed === 1 ? "looks like a function" : "look like functions"}, but nothing leads there`,
        ]
      : []),
    ...(unknown > 0 ? [`what jumps of ${counted(unknown, "function")} lead to that nothing proves`] : []),
  ];
  return parts.length > 0 ? parts.join("; ") : undefined;
}
