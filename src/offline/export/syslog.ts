import { hostname } from "node:os";
import type { TraceRecord } from "../../record/trace/records.js";
import type { TracedProcess } from "../analyze/processes.js";
import { ActorExporter, type CallSelection, peerOf, sentence } from "./exporter.js";

const AUTHPRIV = 10;
const SEVERITY = { warning: 4, notice: 5, informational: 6 } as const;
/** RFC 5612: the enterprise number for examples. */
const ENTERPRISE = 32473;

/** RFC 5424: one message per line, with what it says as structured data too. */
export class SyslogExporter extends ActorExporter {
  readonly #host: string;

  constructor(calls: CallSelection, host = hostname()) {
    super(calls);
    this.#host = word(host, 255);
  }

  protected write(record: TraceRecord, actor: TracedProcess | undefined): string {
    const time = record.kind === "header" ? Date.parse(record.started) / 1000 : record.time;
    const priority = AUTHPRIV * 8 + severity(record);
    const pid = actor?.pid ?? "-";
    const head = `<${priority}>1 ${timestamp(time)} ${this.#host} hermes ${pid} ${word(messageId(record), 32)}`;
    const message = sentence(record, actor)
      .replaceAll(/\p{Cc}/gu, " ")
      .toString();
    return `${head} ${data(record, actor)} ${message}\n`;
  }
}

function severity(record: TraceRecord): number {
  if (record.kind === "dropped") return SEVERITY.warning;
  if (record.kind !== "syscall" && record.kind !== "function") return SEVERITY.informational;
  if (record.action === "deny" || record.action === "kill") return SEVERITY.warning;
  return record.policy === undefined ? SEVERITY.informational : SEVERITY.notice;
}

function messageId(record: TraceRecord): string {
  return record.kind === "syscall" || record.kind === "function" ? record.action : record.kind;
}

/** ISO 8601 with microseconds, which is the most that RFC 5424 takes. */
function timestamp(seconds: number): string {
  const whole = Math.floor(seconds);
  const micros = Math.round((seconds - whole) * 1e6);
  const date = new Date((whole + Math.floor(micros / 1e6)) * 1000).toISOString().slice(0, 19);
  return `${date}.${String(micros % 1e6).padStart(6, "0")}Z`;
}

function data(record: TraceRecord, actor: TracedProcess | undefined): string {
  const call = record.kind === "syscall" ? record : undefined;
  const fields: Record<string, string | number | undefined> = {
    kind: record.kind,
    exe: actor?.exe || undefined,
    call: call?.name ?? (record.kind === "function" ? record.name : undefined),
    path: call?.path ?? (record.kind === "exec" ? record.exe : undefined),
    peer: call && peerOf(call)?.text,
    result: call?.result,
    errno: call?.errno,
    action: call?.action,
    policy: call?.policy,
    rule: call?.rule,
    version: call?.version,
  };
  const pairs = Object.entries(fields).filter(([, value]) => value !== undefined);
  return `[hermes@${ENTERPRISE} ${pairs.map(([name, value]) => `${name}="${escaped(String(value))}"`).join(" ")}]`;
}

function escaped(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, " ").replaceAll(/["\\\]]/g, "\\$&");
}

/** Printable ASCII without spaces, or the nil value. */
function word(text: string, length: number): string {
  return text.replaceAll(/[^!-~]/g, "").slice(0, length) || "-";
}
