import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { PACKAGE_VERSION } from "../../nouns/version.js";
import type { CallRecord, FunctionRecord, HeaderRecord, TraceRecord } from "../../record/trace/records.js";
import { stackLines } from "../../record/trace/stack.js";
import { RecordActors } from "../analyze/actors.js";
import type { TracedProcess } from "../analyze/processes.js";
import { type CallSelection, peerOf, subjectOf } from "./exporter.js";

/** OpenTelemetry's spans, in the JSON form of OTLP (opentelemetry.io/docs/specs/otlp): bytes in hex, 64-bit numbers as text. */

type Value =
  | { readonly stringValue: string }
  | { readonly intValue: string }
  | { readonly arrayValue: { readonly values: readonly Value[] } };

interface Attribute {
  readonly key: string;
  readonly value: Value;
}

export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly status?: { readonly code: number; readonly message?: string };
}

const INTERNAL = 1;
const CLIENT = 3;
const ERROR = 2;

/** A run is a trace: a span for it, one for each process below the one that started it, one for each call. */
export class SpanMaker {
  readonly #calls: CallSelection;
  readonly #actors = new RecordActors();
  readonly #ended = new Set<TracedProcess>();
  #traceId = hash("no run").slice(0, 32);
  #header: HeaderRecord | undefined;
  #first: number | undefined;
  #last = 0;
  #count = 0;
  #exitCode: number | undefined;

  constructor(calls: CallSelection) {
    this.#calls = calls;
  }

  add(record: TraceRecord): OtlpSpan[] {
    const actor = this.#actors.of(record);
    if (record.kind === "header") {
      this.#header = record;
      this.#traceId = hash(record.run ?? record.started).slice(0, 32);
      return [];
    }
    this.#first ??= record.time;
    this.#last = Math.max(this.#last, record.time);
    if (record.kind === "end") this.#exitCode = record.exitCode;
    if (record.kind === "syscall") return this.#call(record, actor!);
    if (record.kind === "function") return this.#function(record, actor!);
    return record.kind === "exit" && actor?.pid === record.tid ? [this.#process(actor)] : [];
  }

  /** The spans of what had not ended, and that of the run. */
  end(): OtlpSpan[] {
    const open = this.#actors.all.filter((process) => !this.#ended.has(process));
    return [...open.map((process) => this.#process(process)), this.#run()];
  }

  #span({ name, time, elapsed = 0 }: CallRecord | FunctionRecord, actor: TracedProcess) {
    return {
      traceId: this.#traceId,
      spanId: this.#spanId(`call ${this.#count++}`),
      parentSpanId: this.#idOf(actor),
      name,
      startTimeUnixNano: nanos(time),
      endTimeUnixNano: nanos(time + elapsed),
    };
  }

  #function(record: FunctionRecord, actor: TracedProcess): OtlpSpan[] {
    if (this.#calls === "decided" && record.policy === undefined) return [];
    const { name, tid, caller } = record;
    return [
      {
        ...this.#span(record, actor),
        kind: INTERNAL,
        attributes: attributes({
          "process.pid": actor.pid,
          "thread.id": tid,
          "code.function.name": name,
          "hermes.caller": caller,
          ...decided(record),
        }),
        ...(record.failed && { status: { code: ERROR } }),
      },
    ];
  }

  #call(record: CallRecord, actor: TracedProcess): OtlpSpan[] {
    if (this.#calls === "decided" && record.policy === undefined) return [];
    const { name, tid, result, path, target, action, policy, reason } = record;
    const peer = peerOf(record);
    const refused = action === "deny" || action === "kill";
    return [
      {
        ...this.#span(record, actor),
        kind: name === "connect" ? CLIENT : INTERNAL,
        attributes: attributes({
          "process.pid": actor.pid,
          "thread.id": tid,
          "hermes.subject": subjectOf(record),
          "file.path": path,
          "hermes.target": target,
          "network.peer.address": peer?.host ?? peer?.text,
          "network.peer.port": peer?.port,
          "hermes.result": result,
          ...decided(record),
        }),
        ...(refused && { status: { code: ERROR, message: reason ?? `${action} by ${policy}` } }),
      },
    ];
  }

  #process(process: TracedProcess): OtlpSpan {
    this.#ended.add(process);
    const { pid, exe, argv, parent, code, signal } = process;
    const failed = signal !== undefined || (code ?? 0) !== 0;
    return {
      traceId: this.#traceId,
      spanId: this.#idOf(process),
      parentSpanId: parent ? this.#idOf(parent) : this.#spanId("run"),
      name: exe.split("/").at(-1) || `process ${pid}`,
      kind: INTERNAL,
      startTimeUnixNano: nanos(process.started ?? process.first),
      endTimeUnixNano: nanos(process.ended ?? this.#last),
      attributes: attributes({
        "process.pid": pid,
        "process.parent_pid": parent?.pid,
        "process.executable.path": exe || undefined,
        "process.command_args": argv,
        "process.exit.code": code,
        "hermes.signal": signal,
      }),
      ...(failed && { status: { code: ERROR, message: signal ?? `exit ${code}` } }),
    };
  }

  #run(): OtlpSpan {
    const command = this.#header?.command ?? [];
    return {
      traceId: this.#traceId,
      spanId: this.#spanId("run"),
      name: `hermes run ${command[0] ?? ""}`.trim(),
      kind: INTERNAL,
      startTimeUnixNano: nanos(this.#first ?? 0),
      endTimeUnixNano: nanos(this.#last),
      attributes: attributes({
        "process.command_args": command,
        "process.exit.code": this.#exitCode,
        "hermes.policies": this.#header?.policies.map(({ name, version }) => `${name} ${version}`),
      }),
    };
  }

  #idOf(process: TracedProcess): string {
    return this.#spanId(`process ${process.id}`);
  }

  #spanId(what: string): string {
    return hash(`${this.#traceId} ${what}`).slice(0, 16);
  }
}

/** The body of a request, or a line of a file. */
export function tracesData(spans: readonly OtlpSpan[]): object {
  const resource = {
    attributes: attributes({ "service.name": "hermes", "host.name": hostname(), "os.type": "linux" }),
  };
  return {
    resourceSpans: [
      { resource, scopeSpans: [{ scope: { name: "hermes", version: PACKAGE_VERSION }, spans }] },
    ],
  };
}

function decided({ errno, action, policy, rule, reason, stack }: CallRecord | FunctionRecord) {
  return {
    "error.type": errno,
    "hermes.action": action,
    "hermes.policy": policy,
    "hermes.rule": rule,
    "hermes.reason": reason,
    "code.stacktrace": stack && stackLines(stack).join("\n"),
  };
}

export function attributes(
  fields: Record<string, string | number | readonly string[] | undefined>,
): Attribute[] {
  return Object.entries(fields).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: anyValue(value) }],
  );
}

function anyValue(value: string | number | readonly string[]): Value {
  if (typeof value === "number") return { intValue: String(value) };
  return typeof value === "string" ? { stringValue: value } : { arrayValue: { values: value.map(anyValue) } };
}

function nanos(seconds: number): string {
  return `${Math.round(seconds * 1e6)}000`;
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
