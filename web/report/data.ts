import type { EventTable } from "../../src/offline/analyze/events.js";
import type { AnalysisReport } from "../../src/offline/analyze/report.js";

/** Events as columns: the i-th element of each belongs to the i-th event. */
export interface Columns {
  readonly time: Float64Array;
  readonly result: Float64Array;
  readonly elapsed: Float32Array;
  readonly process: Uint32Array;
  readonly subject: Uint32Array;
  readonly call: Uint16Array;
  readonly errno: Uint8Array;
  readonly action: Uint8Array;
}

export interface Data {
  readonly report: AnalysisReport;
  readonly events: Omit<EventTable, "bytes">;
  readonly columns: Columns;
  readonly processes: ReadonlyMap<number, ReportedProcess>;
}

export type ReportedProcess = AnalysisReport["processes"][number];

/** Unpacks what src/offline/analyze/html.ts packed. */
export async function loadData(): Promise<Data> {
  const packed = document.getElementById("data")!.textContent!;
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const buffer = await new Response(stream).arrayBuffer();
  const length = new DataView(buffer).getUint32(0, true);
  const { report, events } = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  let at = 8 + Math.ceil(length / 8) * 8;
  const take = <T>(Type: {
    new (b: ArrayBuffer, at: number, n: number): T;
    BYTES_PER_ELEMENT: number;
  }): T => {
    const column = new Type(buffer, at, events.count);
    at += events.count * Type.BYTES_PER_ELEMENT;
    return column;
  };
  // In the order of COLUMNS in src/offline/analyze/events.ts: wide ones first, so that each is aligned.
  const columns: Columns = {
    time: take(Float64Array),
    result: take(Float64Array),
    elapsed: take(Float32Array),
    process: take(Uint32Array),
    subject: take(Uint32Array),
    call: take(Uint16Array),
    errno: take(Uint8Array),
    action: take(Uint8Array),
  };
  const processes = new Map((report as AnalysisReport).processes.map((process) => [process.id, process]));
  return { report, events, columns, processes };
}

/** The children of each process, by its id; those without a known parent under undefined. */
export function childrenOf(
  processes: readonly ReportedProcess[],
): Map<number | undefined, ReportedProcess[]> {
  const children = new Map<number | undefined, ReportedProcess[]>();
  for (const process of processes) {
    const known = children.get(process.parent);
    if (known) known.push(process);
    else children.set(process.parent, [process]);
  }
  return children;
}
