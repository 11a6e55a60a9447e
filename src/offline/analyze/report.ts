import { BUCKETS, type CallFacts, slowestOf } from "./calls.js";
import { subject } from "./decisions.js";
import type { Facts } from "./facts.js";
import { byFolder, type FileFacts } from "./files.js";
import type { PatternFinding } from "./patterns/pattern.js";
import { processName, type TracedProcess } from "./processes.js";

/** Version of what `hermes analyze --json` prints (docs/how-to/analyze.md). */
const REPORT_VERSION = 1;

interface TraceOrigin {
  readonly file: string;
  /** Whether the trace has its end, and all of its parts. */
  readonly complete: boolean;
}

export type AnalysisReport = ReturnType<typeof reportOf>;

const LISTED_FILES = 1_000;

/** What was found, as plain data. Lists are sorted by what matters, and cut where they would not end. */
export function reportOf(facts: Facts, { file, complete }: TraceOrigin) {
  const { header } = facts;
  const from = Number.isFinite(facts.first) ? facts.first : 0;
  const seconds = facts.events + facts.functions.count === 0 ? 0 : Math.max(0, facts.last - from);
  const calls = [...facts.calls.byName.values()].sort((a, b) => b.count - a.count);
  return {
    hermes: "analysis" as const,
    version: REPORT_VERSION,
    trace: {
      file,
      complete,
      command: header?.command ?? [],
      started: header?.started ?? new Date(from * 1000).toISOString(),
      policies: header?.policies ?? [],
      from,
      seconds,
      events: facts.events,
      functions: facts.functions.count,
      dropped: facts.dropped,
      ...(facts.exitCode !== undefined && { exitCode: facts.exitCode }),
    },
    findings: facts.findings() as readonly PatternFinding[],
    time: timeOf(facts),
    processes: facts.processes.all.map((process) => processOf(process, facts.last)),
    programs: facts.programs.list().map((program) => ({ ...program, by: [...program.by] })),
    files: filesOf(facts),
    network: networkOf(facts),
    secrets: [...facts.secrets.values()].map((use) => ({ ...use, by: [...use.by] })),
    decisions: facts.decisions.list(),
    errors: [...facts.calls.errors.values()].sort((a, b) => b.count - a.count),
    callers: [...facts.calls.callers.values()].sort((a, b) => b.count - a.count),
    calls: calls.map(({ latency: _, ...call }) => call),
    slowest: slowestOf(facts.calls.slowest).map(({ record, seconds }) => ({
      time: record.time,
      pid: record.pid,
      call: record.name,
      subject: subject(record),
      seconds,
    })),
    functions: facts.functions.list(),
    latency: latencyOf(calls),
  };
}

/** Seconds of all threads together: in calls that work, in calls that wait, and outside of the kernel. */
function timeOf({ processes, threadTime }: Facts) {
  const lived = threadTime.seconds;
  let kernel = 0;
  let waiting = 0;
  for (const process of processes.all) {
    kernel += process.working;
    waiting += process.waiting;
  }
  return { lived, kernel, waiting, own: Math.max(0, lived - kernel - waiting) };
}

function processOf(process: TracedProcess, last: number) {
  const { id, pid, parent, exe, argv, execs, code, signal, threads, calls, errors, denied } = process;
  return {
    id,
    pid,
    ...(parent && { parent: parent.id }),
    name: processName(process),
    exe,
    argv,
    started: process.started ?? process.first,
    ended: process.ended ?? Math.max(process.last, Math.min(last, process.last)),
    ...(code !== undefined && { code }),
    ...(signal !== undefined && { signal }),
    running: process.ended === undefined,
    threads,
    calls,
    errors,
    denied,
    kernel: process.working,
    waiting: process.waiting,
    execs,
  };
}

function filesOf({ files }: Facts) {
  const all = [...files.byPath.values()];
  const busy = (file: FileFacts) => file.reads + file.writes * 2 + file.deletes * 3 + file.execs;
  return {
    read: all.filter(({ reads }) => reads > 0).length,
    written: all.filter(({ writes }) => writes > 0).length,
    deleted: all.filter(({ deletes }) => deletes > 0).length,
    missed: all.filter((file) => file.failed > 0 && busy(file) === 0).length,
    bytesRead: all.reduce((sum, file) => sum + file.bytesRead, 0),
    bytesWritten: all.reduce((sum, file) => sum + file.bytesWritten, 0),
    /** Not looked at one by one, since there were too many. */
    omitted: files.omitted,
    folders: byFolder(all),
    list: all
      .sort((a, b) => busy(b) - busy(a) || b.bytesRead + b.bytesWritten - a.bytesRead - a.bytesWritten)
      .slice(0, LISTED_FILES)
      .map((file) => ({ ...file, by: [...file.by] })),
  };
}

function networkOf({ network }: Facts) {
  const peers = [...network.peers.values()].map(({ gaps: _, ...peer }) => ({
    ...peer,
    names: [...peer.names],
    by: [...peer.by],
    commands: [...peer.commands],
  }));
  return {
    peers: peers.sort((a, b) => b.bytesIn + b.bytesOut - a.bytesIn - a.bytesOut || b.contacts - a.contacts),
    listening: [...network.listening.values()].map(({ address, by }) => ({ address, by: [...by] })),
  };
}

/** How many calls took up to so many seconds, waiting left out; for all and for the most frequent ones. */
function latencyOf(calls: readonly CallFacts[]) {
  const timed = calls.filter(({ waits, seconds }) => !waits && seconds > 0);
  const bounds = Array.from({ length: BUCKETS }, (_, i) => 2 ** i / 1e6);
  const all = bounds.map((_, i) => timed.reduce((sum, { latency }) => sum + latency[i]!, 0));
  const byCall = Object.fromEntries(timed.slice(0, 24).map(({ name, latency }) => [name, [...latency]]));
  return { bounds, all, byCall };
}
