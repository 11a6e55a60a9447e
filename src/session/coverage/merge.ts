import { readFileSync } from "node:fs";
import { HermesError } from "../../nouns/errors.js";
import {
  COVERAGE_VERSION,
  type CoverageReport,
  type FunctionReport,
  type ModuleReport,
  withShares,
} from "./report.js";

/** A report of an earlier run. */
export function readReport(file: string): CoverageReport {
  let report: CoverageReport;
  try {
    report = JSON.parse(readFileSync(file, "utf8")) as CoverageReport;
  } catch (error) {
    throw new HermesError("COVERAGE", { file, message: (error as Error).message }, { cause: error });
  }
  if (report?.hermes !== "coverage" || !Array.isArray(report.modules))
    throw new HermesError("COVERAGE", { file, message: "it is no coverage in JSON" });
  if (report.version !== COVERAGE_VERSION)
    throw new HermesError("COVERAGE", { file, message: `it is of version ${report.version}` });
  return report;
}

/** Several runs as one: what any of them ran was run; hits are added. Another build of a file is another file. */
export function mergeReports(reports: readonly CoverageReport[]): CoverageReport {
  const modules = new Map<string, ModuleReport>();
  for (const module of reports.flatMap((report) => report.modules)) {
    const key = `${module.path} ${module.buildId ?? ""}`;
    const known = modules.get(key);
    modules.set(key, known ? mergeModules(known, module) : module);
  }
  return {
    hermes: "coverage",
    version: COVERAGE_VERSION,
    unit: reports.some(({ unit }) => unit === "blocks") ? "blocks" : "functions",
    counted: reports.every(({ counted }) => counted),
    modules: [...modules.values()],
  };
}

function mergeModules(a: ModuleReport, b: ModuleReport): ModuleReport {
  const list = new Map(a.list.map((each) => [each.address, each]));
  for (const each of b.list) {
    const known = list.get(each.address);
    list.set(each.address, known ? mergeFunctions(known, each) : each);
  }
  const sources = mergeSources(a.sources, b.sources);
  const { functions: _, blocks: _blocks, lines: _lines, ...rest } = a;
  return withShares({
    ...rest,
    list: [...list.values()].sort((one, other) => one.address - other.address),
    ...(sources && { sources }),
  });
}

function mergeFunctions(a: FunctionReport, b: FunctionReport): FunctionReport {
  const blocks = new Map(a.blocks.map((block) => [block[0], block]));
  for (const [address, size, hits] of b.blocks)
    blocks.set(address, [address, size, hits + (blocks.get(address)?.[2] ?? 0)]);
  return {
    ...a,
    hits: a.hits + b.hits,
    blocks: [...blocks.values()].sort((one, other) => one[0] - other[0]),
  };
}

type Sources = ModuleReport["sources"];

function mergeSources(a: Sources, b: Sources): Sources {
  if (!a || !b) return a ?? b;
  const all: Record<string, Record<string, number>> = Object.create(null);
  for (const [file, lines] of [...Object.entries(a), ...Object.entries(b)]) {
    all[file] ??= Object.create(null) as Record<string, number>;
    const sum = all[file];
    for (const [line, hits] of Object.entries(lines)) sum[line] = (sum[line] ?? 0) + hits;
  }
  return all;
}
