import type { CodePart, CoveredModule } from "./module.js";

/** Version of the JSON that docs/how-to/coverage.md describes. */
export const COVERAGE_VERSION = 1;

/** What was run of the programs that ran: the JSON form. */
export interface CoverageReport {
  readonly hermes: "coverage";
  readonly version: typeof COVERAGE_VERSION;
  /** What was looked at: every basic block, or only where functions begin. */
  readonly unit: "blocks" | "functions";
  /** Whether hits are how often, and not only whether. */
  readonly counted: boolean;
  readonly modules: readonly ModuleReport[];
}

export interface Share {
  readonly found: number;
  readonly hit: number;
}

export interface ModuleReport {
  readonly path: string;
  readonly buildId?: string;
  readonly functions: Share;
  readonly blocks: Share;
  readonly lines?: Share;
  /** What was not looked at, and why. */
  readonly left?: string;
  readonly list: readonly FunctionReport[];
  /** Lines of the source, where the file says which they are. */
  readonly sources?: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

export interface FunctionReport {
  readonly name: string;
  /** As in the file. */
  readonly address: number;
  readonly size: number;
  readonly hits: number;
  readonly file?: string;
  readonly line?: number;
  /** Address, size, hits. */
  readonly blocks: readonly (readonly [number, number, number])[];
}

export function reportModule(module: CoveredModule): ModuleReport {
  const list = module.functions.map((each): FunctionReport => {
    const [place] = module.lines.placesOf(each.blocks[0]!);
    return {
      name: each.name,
      address: each.address,
      size: each.size,
      hits: module.hits(each.address),
      ...(place && { file: place.file, line: place.line }),
      blocks: each.blocks.map((block) => [block.address, block.size, module.hits(block.address)] as const),
    };
  });
  const sources = sourcesOf(module);
  return withShares({
    path: module.path,
    ...(module.buildId !== undefined && { buildId: module.buildId }),
    ...(module.left !== undefined && { left: module.left }),
    list,
    ...(sources && { sources }),
  });
}

/** A line was run when a block with a statement of it was. Its hits are those of the most frequent one. */
function sourcesOf(module: CoveredModule): Record<string, Record<string, number>> | undefined {
  if (module.lines.isEmpty) return undefined;
  const sources: Record<string, Record<string, number>> = Object.create(null);
  const add = (block: CodePart) => {
    const hits = module.hits(block.address);
    for (const { file, line } of module.lines.placesOf(block)) {
      sources[file] ??= Object.create(null) as Record<string, number>;
      const lines = sources[file];
      lines[line] = Math.max(lines[line] ?? 0, hits);
    }
  };
  for (const { blocks } of module.functions) for (const block of blocks) add(block);
  return sources;
}

type Unfinished = Omit<ModuleReport, "functions" | "blocks" | "lines">;

/** With the shares worked out. */
export function withShares(module: Unfinished): ModuleReport {
  const lines = Object.values(module.sources ?? {}).flatMap((each) => Object.values(each));
  return {
    ...module,
    functions: share(module.list.map(({ hits }) => hits)),
    blocks: share(module.list.flatMap(({ blocks }) => blocks.map(([, , hits]) => hits))),
    ...(module.sources && { lines: share(lines) }),
  };
}

function share(hits: readonly number[]): Share {
  return { found: hits.length, hit: hits.filter((count) => count > 0).length };
}
