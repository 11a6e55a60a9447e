import { readTrace } from "../../record/trace/reader.js";
import type { TraceRecord } from "../../record/trace/records.js";
import { Facts } from "./facts.js";
import type { TracedProcess } from "./processes.js";
import { type AnalysisReport, reportOf } from "./report.js";
import { UsedSecrets } from "./secrets.js";

/** Receives the records too, with the process of each call. */
type RecordListener = (record: TraceRecord, process: TracedProcess | undefined) => void;

/** Reads a trace once, and returns the facts in it. */
export async function analyze(file: string, listener?: RecordListener): Promise<AnalysisReport> {
  const { facts, complete } = await collectFacts(file, listener);
  return reportOf(facts, { file, complete });
}

export async function collectFacts(
  file: string,
  listener?: RecordListener,
): Promise<{ facts: Facts; complete: boolean }> {
  const facts = new Facts(await UsedSecrets.load());
  const reader = await readTrace(file, (record) => {
    const process = facts.take(record);
    listener?.(record, process);
  });
  const complete =
    reader.ended && reader.cut === undefined && reader.missingParts === 0 && facts.dropped === 0;
  return { facts, complete };
}
