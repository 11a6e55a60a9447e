import { writeFileSync } from "node:fs";
import { type Elf, requireX64 } from "../../binary/elf/index.js";
import { toDot } from "../../binary/inspect/dot.js";
import { flowGraph } from "../../binary/inspect/graph.js";
import { inspect, openElf } from "../../binary/inspect/inspect.js";
import { suggestedPolicy } from "../../binary/inspect/suggest.js";
import { toSvg } from "../../binary/inspect/svg.js";
import { HermesError } from "../../nouns/errors.js";
import { choice, usageError } from "../options/values.js";
import { renderFunctions, renderInspection } from "../views/inspection.js";
import { paint, print, say } from "../views/output.js";
import { Progress } from "../views/progress.js";

interface Flags {
  json?: boolean;
  all?: boolean;
  functions?: boolean;
  cfg?: string;
  format?: string;
  output?: string;
  suggestPolicy?: string;
}

/** Analyzes a program's file. */
export async function inspectCommand(file: string, flags: Flags): Promise<number> {
  if (flags.format !== undefined && flags.cfg === undefined) throw usageError("--format needs --cfg");
  const format = choice("--format", flags.format ?? "dot", ["dot", "svg", "json"]);
  const elf = openElf(file);
  const meter = new Progress("parts");
  const share = (what: string, part: number) => meter.show(`${what} ${Math.round(part * 100)} %`);
  try {
    if (flags.cfg !== undefined) {
      write(
        flags.output,
        graphText(elf, flags.cfg, format, (part) => share("functions", part)),
        meter,
      );
      return 0;
    }
    const report = inspect(elf, { functions: flags.functions === true, progress: share });
    meter.clear();
    if (flags.suggestPolicy !== undefined) {
      const policy = suggestedPolicy(report);
      if (flags.suggestPolicy === "-") {
        print(policy);
        return 0;
      }
      save(flags.suggestPolicy, policy);
      say(`hermes: wrote a suggested policy to ${flags.suggestPolicy}\n`);
      if (!flags.json && flags.output === undefined) return 0;
    }
    const colour = paint(flags.output === undefined ? 1 : -1);
    const text = flags.json
      ? `${JSON.stringify(report)}\n`
      : flags.functions
        ? renderFunctions(report)
        : renderInspection(report, flags.all === true, colour);
    write(flags.output, text, meter);
  } finally {
    meter.clear();
    elf.close();
  }
  return 0;
}

function graphText(
  elf: Elf,
  wanted: string,
  format: "dot" | "svg" | "json",
  progress: (share: number) => void,
): string {
  requireX64(elf);
  const graph = flowGraph(elf, wanted, progress);
  if (format === "json") return `${JSON.stringify(graph)}\n`;
  return format === "dot" ? toDot(graph) : toSvg(graph);
}

function write(output: string | undefined, text: string, meter: { clear(): void }): void {
  meter.clear();
  if (output === undefined || output === "-") print(text);
  else save(output, text);
}

function save(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (cause) {
    const errno = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new HermesError("OUTPUT", { file, errno }, { cause });
  }
}
