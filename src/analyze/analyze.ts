import { readTrace } from "../trace/reader.js";
import type { TraceRecord } from "../trace/records.js";
import { Facts } from "./facts.js";
import type { Process } from "./processes.js";
import { type Report, reportOf } from "./report.js";
import { Secrets } from "./secrets.js";

/** Whoever wants the records too, with the process of each call. */
export type Listener = (record: TraceRecord, process: Process | undefined) => void;

/** Reads a trace once, and says what it tells. */
export async function analyze(file: string, listener?: Listener): Promise<Report> {
  const { facts, complete } = await factsOf(file, listener);
  return reportOf(facts, { file, complete });
}

export async function factsOf(
  file: string,
  listener?: Listener,
): Promise<{ facts: Facts; complete: boolean }> {
  const facts = new Facts(await Secrets.load());
  const reader = await readTrace(file, (record) => {
    const process = facts.take(record);
    listener?.(record, process);
  });
  const complete =
    reader.ended && reader.cut === undefined && reader.missingParts === 0 && facts.dropped === 0;
  return { facts, complete };
}
