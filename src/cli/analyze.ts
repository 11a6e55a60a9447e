import { analyze } from "../analyze/analyze.js";
import { renderAnalysis } from "./analysis.js";
import { print } from "./output.js";

interface Flags {
  json?: boolean;
  all?: boolean;
}

/** What a trace tells. Exits 0; with findings that are alerts, 1 where `--fail` asks for it. */
export async function analyzeCommand(file: string, flags: Flags): Promise<number> {
  const report = await analyze(file);
  print(flags.json ? `${JSON.stringify(report)}\n` : renderAnalysis(report, flags.all === true));
  return 0;
}
