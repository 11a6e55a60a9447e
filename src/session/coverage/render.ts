import { escapeControl } from "../../nouns/text.js";
import type { CoverageReport, ModuleReport, Share } from "./report.js";

export const COVERAGE_FORMATS = ["text", "json", "lcov"] as const;

const percent = ({ found, hit }: Share) => (found === 0 ? "–" : `${((100 * hit) / found).toFixed(1)} %`);
const share = (part: Share) => `${percent(part)} (${part.hit} of ${part.found})`;

/** For people: each module, and its functions by how much of them was run. */
export function renderText(report: CoverageReport): string {
  return report.modules.map((module) => moduleText(module, report)).join("\n");
}

function moduleText(module: ModuleReport, { unit, counted }: CoverageReport): string {
  const parts = [`functions ${share(module.functions)}`];
  if (unit === "blocks") parts.push(`blocks ${share(module.blocks)}`);
  if (module.lines) parts.push(`lines ${share(module.lines)}`);
  const lines = [`${escapeControl(module.path)}: ${parts.join(", ")}`];
  if (module.left !== undefined) lines.push(`  not looked at: ${escapeControl(module.left)}`);
  const hit = module.list.filter(({ hits, blocks }) => hits > 0 || blocks.some(([, , count]) => count > 0));
  if (counted) hit.sort((a, b) => b.hits - a.hits);
  for (const { name, hits, blocks } of hit) {
    const covered = { found: blocks.length, hit: blocks.filter(([, , count]) => count > 0).length };
    const about = [
      ...(counted ? [String(hits).padStart(12)] : []),
      ...(unit === "blocks" ? [percent(covered).padStart(8)] : []),
    ];
    lines.push(`  ${[...about, escapeControl(name)].join("  ")}`);
  }
  return `${lines.join("\n")}\n`;
}

/**
 * The form that lcov, genhtml and editors read. Where the file says which lines its code comes from, they are those of
 * the real source; else of a listing of its blocks, which `pseudo` is given to keep.
 */
export function renderLcov(
  report: CoverageReport,
  pseudo: (module: ModuleReport, listing: string) => string,
): string {
  return report.modules
    .filter(({ list }) => list.length > 0)
    .map((module) => (module.sources ? sourceRecords(module) : blockRecord(module, pseudo)))
    .join("");
}

function sourceRecords(module: ModuleReport): string {
  const files = Object.entries(module.sources!).sort(([a], [b]) => (a < b ? -1 : 1));
  return files
    .map(([file, lines]) =>
      lcovRecord(
        file,
        module.list.filter((each) => each.file === file).map(({ name, line, hits }) => [line!, name, hits]),
        Object.entries(lines).map(([line, hits]) => [Number(line), hits]),
      ),
    )
    .join("");
}

function blockRecord(
  module: ModuleReport,
  pseudo: (module: ModuleReport, listing: string) => string,
): string {
  const functions: [number, string, number][] = [];
  const lines: [number, number][] = [];
  const listing: string[] = [];
  for (const { name, address, hits, blocks } of module.list) {
    functions.push([listing.length + 1, name, hits]);
    for (const [at, size, count] of blocks) {
      const offset = at === address ? "" : `+0x${(at - address).toString(16)}`;
      listing.push(`0x${at.toString(16)} ${escapeControl(name)}${offset} (${size} bytes)`);
      lines.push([listing.length, count]);
    }
  }
  return lcovRecord(pseudo(module, `${listing.join("\n")}\n`), functions, lines);
}

type Counted = readonly [line: number, hits: number];

function lcovRecord(
  file: string,
  functions: readonly (readonly [line: number, name: string, hits: number])[],
  lines: readonly Counted[],
): string {
  const flat = (name: string) => escapeControl(name).replace(/[\n,]/g, "_");
  const hitLines = lines.filter(([, hits]) => hits > 0).length;
  return [
    "TN:",
    `SF:${escapeControl(file).replaceAll("\n", "_")}`,
    ...functions.map(([line, name]) => `FN:${line},${flat(name)}`),
    ...functions.map(([, name, hits]) => `FNDA:${hits},${flat(name)}`),
    `FNF:${functions.length}`,
    `FNH:${functions.filter(([, , hits]) => hits > 0).length}`,
    ...lines.toSorted((a, b) => a[0] - b[0]).map(([line, hits]) => `DA:${line},${hits}`),
    `LF:${lines.length}`,
    `LH:${hitLines}`,
    "end_of_record",
    "",
  ].join("\n");
}
