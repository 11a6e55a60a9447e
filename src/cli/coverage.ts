import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { mergeReports, readReport } from "../coverage/merge.js";
import { FORMATS, renderLcov, renderText } from "../coverage/render.js";
import type { CoverageReport, ModuleReport } from "../coverage/report.js";
import { HermesError } from "../errors.js";
import type { Thread } from "../session/thread.js";
import { exit, say } from "./output.js";
import { runCommand } from "./run.js";
import { choice, usage } from "./values.js";

export interface CoverageFlags {
  blocks?: boolean;
  functions?: boolean;
  module?: string[];
  count?: boolean;
  fast?: boolean;
  merge?: string[];
  output?: string;
  format?: string;
  policy?: string[];
  quiet?: boolean;
}

/** `hermes coverage`: which of a program's functions, blocks and lines were run. */
export async function coverageCommand(
  words: string[],
  flags: CoverageFlags,
  thread?: Thread,
): Promise<never> {
  const format = formatOf(flags);
  const earlier = (flags.merge ?? []).map(readReport);
  if (words.length === 0 && earlier.length === 0)
    throw usage("there is no command to run: hermes coverage [options] -- COMMAND [ARGUMENTS]");
  if (flags.blocks && (flags.functions || flags.count))
    throw usage("--blocks goes neither with --functions nor with --count: it is functions that are counted");
  if (flags.fast && !flags.count) throw usage("--fast goes with --count");
  const finish = (reports: readonly CoverageReport[]) =>
    write(mergeReports([...earlier, ...reports]), format, flags.output);
  if (words.length === 0) {
    finish([]);
    exit(0);
  }
  const coverage = {
    unit: flags.functions || flags.count ? ("functions" as const) : ("blocks" as const),
    modules: flags.module ?? ["app"],
    count: flags.count ?? false,
    fast: flags.fast ?? false,
  };
  const run = {
    ...(flags.policy && { policy: flags.policy }),
    traceBytes: "0",
    traceOverflow: "wait",
    onTraceError: "continue",
    fence: "none",
    door: "auto",
    reload: true,
    orphans: "wait",
    ask: "terminal",
    askTimeout: "60s",
    quiet: true,
  };
  return runCommand(words, run, thread, {
    coverage,
    ended: ({ coverage: report }) => finish(report ? [report] : []),
  });
}

function formatOf({ format, output }: CoverageFlags) {
  if (format !== undefined) return choice("--format", format, FORMATS);
  if (output?.endsWith(".json")) return "json";
  return output?.endsWith(".info") || output?.endsWith(".lcov") ? "lcov" : "text";
}

/** The program's own stdout is never touched: without a file, it goes to stderr. */
function write(report: CoverageReport, format: (typeof FORMATS)[number], output: string | undefined): void {
  const text =
    format === "json"
      ? `${JSON.stringify(report)}\n`
      : format === "lcov"
        ? renderLcov(report, (module, listing) => keepListing(module, listing, output))
        : renderText(report);
  if (output === undefined) say(text);
  else put(output, text);
}

/** Of code without source there is a listing beside the report, so that other tools have something to show. */
function keepListing(module: ModuleReport, listing: string, output: string | undefined): string {
  if (output === undefined) return `${module.path}.blocks`;
  const folder = `${resolve(output)}.d`;
  const file = join(folder, `${basename(module.path)}-${module.buildId?.slice(0, 12) ?? "code"}.txt`);
  put(file, listing, folder);
  return file;
}

function put(file: string, text: string, folder?: string): void {
  try {
    if (folder !== undefined) mkdirSync(folder, { recursive: true });
    writeFileSync(file, text);
  } catch (error) {
    const errno = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new HermesError("OUTPUT", { file, errno }, { cause: error });
  }
}
