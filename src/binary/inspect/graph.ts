import { HermesError } from "../../nouns/errors.js";
import { iced } from "../code/iced.js";
import type { Elf } from "../elf/index.js";
import { type Block, controlFlow, type Edge, type FlowCall } from "./cfg.js";
import { MachineCode } from "./code.js";
import { type CodeFunction, type RecoveredFunctions, recoverFunctions } from "./functions.js";
import type { JumpTable } from "./jump-tables.js";
import { functionName } from "./syscalls.js";

/** The control flow of a function with its instructions: the form of `hermes inspect --cfg NAME --format json`. */
export interface FlowGraph {
  readonly file: string;
  readonly function: CodeFunction;
  /** No jump in it goes to an unknown place. */
  readonly complete: boolean;
  /** Where control comes in: the first instruction, places that others jump to, places where exceptions land. */
  readonly roots: readonly number[];
  readonly blocks: readonly GraphBlock[];
  readonly tables: readonly JumpTable[];
}

export interface GraphBlock {
  readonly address: number;
  readonly size: number;
  readonly end: Block["end"];
  readonly edges: readonly Edge[];
  readonly instructions: readonly {
    readonly address: number;
    readonly text: string;
    readonly calls?: string;
  }[];
}

/** Finds a function by name or address and follows its control flow. */
export function flowGraph(elf: Elf, wanted: string, progress?: (share: number) => void): FlowGraph {
  const code = new MachineCode(elf);
  const formatter = new (iced().Formatter)(iced().FormatterSyntax.Intel);
  try {
    formatter.uppercaseHex = false;
    formatter.branchLeadingZeros = false;
    formatter.showBranchSize = false;
    formatter.hexPrefix = "0x";
    formatter.hexSuffix = "";
    formatter.spaceAfterOperandSeparator = true;
    const functions = recoverFunctions(elf, code, progress);
    const found = find(elf, functions, wanted);
    const flow = controlFlow(elf, code, functions, found);
    const slots = new Map(elf.relocations.map(({ address, symbol }) => [address, symbol]));
    const callee = ({ to, slot }: FlowCall) =>
      to === undefined ? (slot === undefined ? undefined : slots.get(slot)) : nameAt(functions, to);
    const blocks = [...flow.blocks.values()].map((block): GraphBlock => {
      const calls = new Map(block.calls.map((call) => [call.from, callee(call)]));
      const instructions: { address: number; text: string; calls?: string }[] = [];
      code.seek(block.start);
      for (let i = 0; i < block.instructions && code.next(); i++) {
        const name = calls.get(code.address);
        const text = formatter.format(code.instruction);
        instructions.push({ address: code.address, text, ...(name !== undefined && { calls: name }) });
      }
      return { address: block.start, size: block.size, end: block.end, edges: block.edges, instructions };
    });
    const { complete, roots, tables } = flow;
    return { file: elf.path, function: found, complete, roots, blocks, tables };
  } finally {
    formatter.free();
    code.free();
  }
}

function nameAt(functions: RecoveredFunctions, address: number): string | undefined {
  const found = functions.at(address);
  if (found === undefined) return undefined;
  return found.address === address
    ? functionName(found)
    : `${functionName(found)}+0x${(address - found.address).toString(16)}`;
}

/** By name, by address (0x…), "entry", or as main even in a stripped program would be: not guessed. */
function find(elf: Elf, functions: RecoveredFunctions, wanted: string): CodeFunction {
  const address =
    wanted === "entry" ? elf.entry : /^0x[0-9a-f]{1,13}$/i.test(wanted) ? Number(wanted) : undefined;
  const symbol = elf.symbols.byName(wanted).find(({ defined }) => defined);
  const found =
    address !== undefined
      ? functions.at(address)
      : (functions.list.find(({ name }) => name === wanted) ?? (symbol && functions.at(symbol.address)));
  if (found !== undefined) return found;
  const near = functions.list
    .filter(({ name }) => name?.toLowerCase().includes(wanted.toLowerCase()))
    .slice(0, 4);
  const hint =
    near.length > 0 ? `; there is ${near.map(functionName).join(", ")}` : "; --functions lists them";
  throw new HermesError("INSPECT_FUNCTION", { file: elf.path, name: wanted, hint });
}
