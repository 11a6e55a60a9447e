import type { Elf } from "../elf/index.js";
import { Flow, type MachineCode } from "./code.js";
import type { CodeFunction, RecoveredFunctions } from "./functions.js";
import { type JumpTable, jumpTable, predecessors } from "./jump-tables.js";
import { landingPads } from "./landing-pads.js";

/** How control goes from one block to another. */
export interface Edge {
  readonly to: number;
  readonly kind: "jump" | "taken" | "fall" | "switch";
}

export interface FlowCall {
  readonly from: number;
  /** Unknown when it goes through a register or memory. */
  readonly to?: number;
  /** The place in memory that it goes through: often one that the loader fills in. */
  readonly slot?: number;
}

/** Instructions that run one after the other: entered at the first, left after the last. */
export interface Block {
  readonly start: number;
  readonly size: number;
  readonly instructions: number;
  readonly edges: readonly Edge[];
  readonly calls: readonly FlowCall[];
  /** How it ends: on in the function, back to the caller, into another function, to an unknown place, or not at all. */
  readonly end: "on" | "return" | "tail" | "unknown" | "stop";
}

export interface ControlFlow {
  readonly function: CodeFunction;
  /** By address. */
  readonly blocks: ReadonlyMap<number, Block>;
  /** Where control comes in: the first instruction, and where others jump to or exceptions land. */
  readonly roots: readonly number[];
  readonly tables: readonly JumpTable[];
  /** No jump of it goes to an unknown place. */
  readonly complete: boolean;
}

const MOST_ROUNDS = 12;
const MOST_INSTRUCTIONS = 2_000_000;

/** The control flow of one function, by following it from where it is entered; never into bytes that are not proven to be code. */
export function controlFlow(
  elf: Elf,
  code: MachineCode,
  functions: RecoveredFunctions,
  of: CodeFunction,
): ControlFlow {
  const end = of.address + of.size;
  const inside = (address: number) => address >= of.address && address < end;
  const unwind = functions.unwind.get(of.address);
  const entered = [
    ...(unwind ? landingPads(elf, unwind) : []),
    ...functions.entrancesWithin(of.address, end),
  ].filter(inside);
  const roots = [...new Set([of.address, ...entered])];
  let tables = new Map<number, JumpTable>();
  let blocks = build(code, of, roots, tables);
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const found = new Map<number, JumpTable>();
    const indirect = [...blocks.values()].filter(
      ({ end, edges }) => end === "unknown" || edges.some(({ kind }) => kind === "switch"),
    );
    const before = indirect.length > 0 ? predecessors(blocks) : new Map();
    for (const block of indirect) {
      const table = jumpTable(elf, code, before, roots, block, inside);
      if (table !== undefined) found.set(table.jump, table);
    }
    if (same(found, tables)) return result(of, blocks, roots, tables);
    tables = found;
    blocks = build(code, of, roots, tables);
  }
  // New edges can take the proof from a table, and it in turn the edges: then none is believed.
  return result(of, build(code, of, roots, new Map()), roots, new Map());
}

function result(
  of: CodeFunction,
  blocks: ReadonlyMap<number, Block>,
  roots: readonly number[],
  tables: ReadonlyMap<number, JumpTable>,
): ControlFlow {
  const complete = [...blocks.values()].every(({ end }) => end !== "unknown");
  return { function: of, blocks, roots, tables: [...tables.values()], complete };
}

const same = (a: ReadonlyMap<number, JumpTable>, b: ReadonlyMap<number, JumpTable>) =>
  a.size === b.size &&
  [...a].every(([jump, { table, targets }]) => {
    const other = b.get(jump);
    return other?.table === table && other.targets.length === targets.length;
  });

interface Step {
  readonly length: number;
  readonly flow: Flow;
  readonly target: number;
  readonly slot: number;
}

/** First all instructions that can be reached, then blocks of them. */
function build(
  code: MachineCode,
  of: CodeFunction,
  roots: readonly number[],
  tables: ReadonlyMap<number, JumpTable>,
): Map<number, Block> {
  const end = of.address + of.size;
  const inside = (address: number) => address >= of.address && address < end;
  const steps = new Map<number, Step>();
  const leaders = new Set<number>(roots);
  const open = [...roots];
  const lead = (address: number) => {
    if (!inside(address)) return;
    if (!steps.has(address)) open.push(address);
    leaders.add(address);
  };
  for (let from = open.pop(); from !== undefined && steps.size < MOST_INSTRUCTIONS; from = open.pop()) {
    if (steps.has(from) || !code.seek(from)) continue;
    while (code.next() && inside(code.address) && !steps.has(code.address)) {
      const { address, length, flow, target, slot } = code;
      steps.set(address, { length, flow, target, slot });
      if (flow === Flow.JUMP || flow === Flow.BRANCH) lead(target);
      for (const to of tables.get(address)?.targets ?? []) lead(to);
      if (flow === Flow.BRANCH) leaders.add(address + length);
      if (flow === Flow.JUMP || flow === Flow.INDIRECT || flow === Flow.RETURN || flow === Flow.STOP) break;
    }
  }
  const blocks = new Map<number, Block>();
  for (const start of [...leaders].sort((a, b) => a - b))
    if (steps.has(start)) blocks.set(start, blockAt(start, steps, leaders, tables, inside));
  return blocks;
}

function blockAt(
  start: number,
  steps: ReadonlyMap<number, Step>,
  leaders: ReadonlySet<number>,
  tables: ReadonlyMap<number, JumpTable>,
  inside: (address: number) => boolean,
): Block {
  const calls: FlowCall[] = [];
  let at = start;
  let instructions = 0;
  const done = (end: Block["end"], edges: readonly Edge[] = []): Block => ({
    start,
    size: at - start,
    instructions,
    edges,
    calls,
    end,
  });
  for (;;) {
    const step = steps.get(at);
    if (step === undefined) return done("stop"); // out of the function: what was called before does not return
    const here = at;
    at += step.length;
    instructions += 1;
    const onward: Edge[] = steps.has(at) ? [{ to: at, kind: "fall" }] : [];
    switch (step.flow) {
      case Flow.CALL:
        calls.push({ from: here, to: step.target });
        break;
      case Flow.CALL_INDIRECT:
        calls.push({ from: here, ...(step.slot !== 0 && { slot: step.slot }) });
        break;
      case Flow.JUMP:
        return inside(step.target)
          ? done("on", [{ to: step.target, kind: "jump" }])
          : tail(done, calls, here, step.target);
      case Flow.BRANCH: {
        if (inside(step.target)) return done("on", [{ to: step.target, kind: "taken" }, ...onward]);
        calls.push({ from: here, to: step.target });
        return done("on", onward);
      }
      case Flow.INDIRECT: {
        const targets = tables.get(here)?.targets;
        if (targets === undefined && step.slot !== 0) {
          calls.push({ from: here, slot: step.slot });
          return done("tail");
        }
        if (targets === undefined) return done("unknown");
        return done(
          "on",
          [...new Set(targets)].map((to) => ({ to, kind: "switch" })),
        );
      }
      case Flow.RETURN:
        return done("return");
      case Flow.STOP:
        return done("stop");
    }
    if (leaders.has(at) && steps.has(at)) return done("on", onward);
  }
}

function tail(done: (end: Block["end"]) => Block, calls: FlowCall[], from: number, to: number): Block {
  calls.push({ from, to });
  return done("tail");
}
