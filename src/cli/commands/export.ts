import { closeSync, openSync, writeSync } from "node:fs";
import { HermesError } from "../../nouns/errors.js";
import { counted } from "../../nouns/text.js";
import { ChromeExporter } from "../../offline/export/chrome.js";
import { EcsExporter } from "../../offline/export/ecs.js";
import {
  CALL_SELECTIONS,
  type CallSelection,
  type Exporter,
  portableJson,
} from "../../offline/export/exporter.js";
import { SpanMaker, tracesData } from "../../offline/export/otlp.js";
import { OtlpClient } from "../../offline/export/otlp-client.js";
import { SeccompExporter } from "../../offline/export/seccomp.js";
import { StraceExporter } from "../../offline/export/strace.js";
import { SyslogExporter } from "../../offline/export/syslog.js";
import { TraceReader } from "../../record/trace/reader.js";
import type { TraceRecord } from "../../record/trace/records.js";
import { choice, usageError } from "../options/values.js";
import { print, say } from "../views/output.js";

interface Flags {
  to: string;
  output?: string;
  endpoint?: string;
  header?: string[];
  calls?: string;
}

const EXPORTERS: Readonly<Record<string, (calls: CallSelection) => Exporter>> = {
  chrome: (calls) => new ChromeExporter(calls),
  strace: (calls) => new StraceExporter(calls),
  syslog: (calls) => new SyslogExporter(calls),
  ecs: (calls) => new EcsExporter(calls),
  seccomp: () => new SeccompExporter(),
  otlp: (calls) => new SpanLines(calls),
};

/** Converts a trace to the format of another tool. */
export async function exportCommand(trace: string, flags: Flags): Promise<number> {
  const to = choice("--to", flags.to, Object.keys(EXPORTERS));
  const calls = choice("--calls", flags.calls ?? (to === "syslog" ? "decided" : "all"), CALL_SELECTIONS);
  const reader = new TraceReader(trace);
  const endpoint =
    flags.endpoint ?? (flags.output === undefined ? process.env.OTEL_EXPORTER_OTLP_ENDPOINT : undefined);
  if (to === "otlp" && endpoint !== undefined)
    await send(reader, calls, new OtlpClient(endpoint, headersOf(flags)));
  else if (flags.endpoint !== undefined) throw usageError("--endpoint needs --to otlp");
  else await write(reader, EXPORTERS[to]!(calls), flags.output);
  if (reader.cut !== undefined) say(`hermes: ${reader.cut}\n`);
  return 0;
}

async function send(reader: TraceReader, calls: CallSelection, client: OtlpClient): Promise<void> {
  const maker = new SpanMaker(calls);
  for await (const records of reader.blocks())
    for (const record of records) await client.add(maker.add(record));
  await client.add(maker.end());
  await client.flush();
  const rejected = client.rejected > 0 ? `, the collector rejected ${client.rejected}` : "";
  say(`hermes: ${counted(client.sent, "span")} sent${rejected}\n`);
}

/** The same spans as lines of a file, in OpenTelemetry's file exporter format. */
class SpanLines implements Exporter {
  readonly #maker: SpanMaker;

  constructor(calls: CallSelection) {
    this.#maker = new SpanMaker(calls);
  }

  add(record: TraceRecord): string {
    return this.#lines(this.#maker.add(record));
  }

  end(): string {
    return this.#lines(this.#maker.end());
  }

  #lines(spans: ReturnType<SpanMaker["add"]>): string {
    return spans.length === 0 ? "" : `${portableJson(tracesData(spans))}\n`;
  }
}

const PIECE = 64 * 1024;

async function write(reader: TraceReader, exporter: Exporter, output: string | undefined): Promise<void> {
  const file = output === undefined ? undefined : new OutputFile(output);
  const put = file ? (text: string) => file.write(text) : print;
  let piece = "";
  try {
    for await (const records of reader.blocks()) {
      for (const record of records) piece += exporter.add(record);
      if (piece.length < PIECE) continue;
      put(piece);
      piece = "";
    }
    put(piece + exporter.end());
  } finally {
    file?.close();
  }
}

class OutputFile {
  readonly #name: string;
  readonly #fd: number;

  constructor(name: string) {
    this.#name = name;
    this.#fd = this.#guarded(() => openSync(name, "w", 0o600));
  }

  write(text: string): void {
    const bytes = Buffer.from(text);
    for (let done = 0; done < bytes.length; ) done += this.#guarded(() => writeSync(this.#fd, bytes, done));
  }

  #guarded(act: () => number): number {
    try {
      return act();
    } catch (cause) {
      const errno = (cause as NodeJS.ErrnoException).code ?? String(cause);
      throw new HermesError("OUTPUT", { file: this.#name, errno }, { cause });
    }
  }

  close(): void {
    closeSync(this.#fd);
  }
}

/** `--header "name: value"`, and OTEL_EXPORTER_OTLP_HEADERS (name=value,…). */
function headersOf({ header = [] }: Flags): Record<string, string> {
  const inherited = (process.env.OTEL_EXPORTER_OTLP_HEADERS ?? "").split(",").filter(Boolean);
  const pairs = [...inherited.map((text) => split(text, "=")), ...header.map((text) => split(text, ":"))];
  return Object.fromEntries(pairs);
}

function split(text: string, at: string): [string, string] {
  const index = text.indexOf(at);
  if (index <= 0) throw usageError(`a header is written NAME${at}VALUE, not "${text}"`);
  return [text.slice(0, index).trim(), text.slice(index + 1).trim()];
}
