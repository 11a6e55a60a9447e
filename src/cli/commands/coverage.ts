import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { HermesError } from "../../nouns/errors.js";
import { mergeReports, readReport } from "../../session/coverage/merge.js";
import { COVERAGE_FORMATS, renderLcov, renderText } from "../../session/coverage/render.js";
import type { CoverageReport, ModuleReport } from "../../session/coverage/report.js";
import type { Thread } from "../../session/thread.js";
import { choice, usageError } from "../options/values.js";
import { exit, say } from "../views/output.js";
import { QUIET_RUN, runCommand } from "./run.js";

interface CoverageFlags {
  blocks?: boolean;
  functions?: boolean;
  module?: string[];
  count?: boolean;
  fast?: boolean;
  merge?: string[];
  output?: string;
  format?: string;
  policy?: string[];
  workspace?: string;
  quiet?: boolean;
}

/** `hermes coverage`: which functions, blocks and lines of a program ran. */
export async function coverageCommand(
  words: string[],
  flags: CoverageFlags,
  thread?: Thread,
): Promise<never> {
  const format = formatOf(flags);
  const earlier = (flags.merge ?? []).map(readReport);
  if (words.length === 0 && earlier.length === 0)
    throw usageError("no command to run: hermes coverage [options] -- COMMAND [ARGUMENTS]");
  if (flags.blocks && (flags.functions || flags.count))
    throw usageError("--blocks cannot be combined with --functions or --count, which count functions");
  if (flags.fast && !flags.count) throw usageError("--fast needs --count");
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
    ...QUIET_RUN,
    ...(flags.policy && { policy: flags.policy }),
    ...(flags.workspace !== undefined && { workspace: flags.workspace }),
  };
  return runCommand(words, run, thread, {
    coverage,
    agent: "hermes coverage",
    ended: ({ coverage: report }) => finish(report ? [report] : []),
  });
}

function formatOf({ format, output }: CoverageFlags) {
  if (format !== undefined) return choice("--format", format, COVERAGE_FORMATS);
  if (output?.endsWith(".json")) return "json";
  return output?.endsWith(".info") || output?.endsWith(".lcov") ? "lcov" : "text";
}

/** The program's stdout stays untouched: without an output file, the report goes to stderr. */
function write(
  report: CoverageReport,
  format: (typeof COVERAGE_FORMATS)[number],
  output: string | undefined,
): void {
  const text =
    format === "json"
      ? `${JSON.stringify(report)}\n`
      : format === "lcov"
        ? renderLcov(report, (module, listing) => keepListing(module, listing, output))
        : renderText(report);
  if (output === undefined) say(text);
  else put(output, text);
}

/** For code without source, a disassembly listing is written beside the report, so that other tools can show it. */
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
