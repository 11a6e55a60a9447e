import { writeFileSync } from "node:fs";
import { HermesError } from "../../nouns/errors.js";
import { analyze } from "../../offline/analyze/analyze.js";
import { Events } from "../../offline/analyze/events.js";
import { formatBytes } from "../../offline/analyze/format.js";
import { htmlReport } from "../../offline/analyze/html.js";
import { renderAnalysis } from "../views/analysis.js";
import { print, say } from "../views/output.js";
import { Progress } from "../views/progress.js";

interface Flags {
  json?: boolean;
  html?: string;
  all?: boolean;
}

/** The analysis of a trace: as text, as JSON, or as a web page. */
export async function analyzeCommand(file: string, flags: Flags): Promise<number> {
  const events = flags.html === undefined ? undefined : new Events();
  const progress = new Progress("records");
  const report = await analyze(file, (record, process) => {
    progress.step();
    if (process && record.kind === "syscall") events?.take(record, process);
  });
  progress.clear();
  if (events) write(flags.html!, htmlReport(report, events.table()));
  if (flags.json) print(`${JSON.stringify(report)}\n`);
  else if (!events) print(renderAnalysis(report, flags.all === true));
  return 0;
}

function write(file: string, html: string): void {
  try {
    writeFileSync(file, html, { mode: 0o600 });
  } catch (cause) {
    const errno = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new HermesError("EVENTS", { file, message: `cannot be written: ${errno}` }, { cause });
  }
  say(`hermes: ${file} (${formatBytes(Buffer.byteLength(html))})\n`);
}
