import { writeFileSync } from "node:fs";
import { analyze } from "../analyze/analyze.js";
import { Events } from "../analyze/events.js";
import { htmlReport } from "../analyze/html.js";
import { HermesError } from "../errors.js";
import { renderAnalysis } from "./analysis.js";
import { print, say } from "./output.js";

interface Flags {
  json?: boolean;
  html?: string;
  all?: boolean;
}

/** What a trace tells: for a person, as data, or as a page to look through. */
export async function analyzeCommand(file: string, flags: Flags): Promise<number> {
  const events = flags.html === undefined ? undefined : new Events();
  const report = await analyze(file, (record, process) => {
    if (process && record.kind === "syscall") events?.take(record, process);
  });
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
  say(`hermes: ${file} (${(html.length / 1e6).toFixed(1)} MB)\n`);
}
