import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import type { ProcessTable } from "../../kernel/process/process-table.js";
import type { HermesError } from "../../nouns/errors.js";
import { BLOCK_SIZE, encoderFor, type Form, formOf } from "./encoders.js";
import type { TraceOptions } from "./options.js";
import { Recorder } from "./recorder.js";
import { type PolicyInForce, TRACE_VERSION } from "./records.js";
import { StraceEncoder } from "./strace-encoder.js";
import { TraceWriter } from "./writer.js";

/** The run that is recorded. */
interface Recorded {
  readonly command: readonly string[];
  /** Where the program starts, when it is not where we are; its user's home. */
  readonly cwd: string | undefined;
  readonly home: string | undefined;
  readonly policies: readonly PolicyInForce[];
  readonly processes: ProcessTable;
  /** Numbers of the calls to be recorded. */
  readonly observed: ReadonlySet<number>;
  readonly stacks?: ReadonlySet<number>;
  readonly onError: (error: HermesError) => void;
}

/** Where a person may look on, every record is shown at once; in a file it would only cost time. */
function blockOf({ file, size = Number.POSITIVE_INFINITY }: TraceOptions, form: Form): number {
  return typeof file === "number" ? 1 : Math.min(BLOCK_SIZE[form], size / 4);
}

/** Begins a trace. */
export function openTrace(options: TraceOptions, run: Recorded): Recorder {
  const { file, size, keep, overflow, bytes } = options;
  const form = options.form ?? (typeof file === "string" ? formOf(file) : "lines");
  const header = {
    kind: "header",
    hermes: "trace",
    version: TRACE_VERSION,
    started: new Date().toISOString(),
    command: run.command,
    policies: run.policies,
    ...startFolder(run.cwd),
    ...(run.home !== undefined && { home: run.home }),
    ...(options.events && { events: options.events }),
    ...(options.functions && { functions: options.functions }),
    run: randomUUID(),
  };
  const writer = new TraceWriter({
    file,
    encoder: () => (options.strace ? new StraceEncoder(options.strace) : encoderFor(form)),
    block: blockOf(options, form),
    ...(size !== undefined && { size }),
    ...(keep !== undefined && { keep }),
    overflow,
    header: (part) => ({ ...header, part }),
    onError: run.onError,
  });
  const { processes, observed, stacks } = run;
  const recorder = new Recorder({
    ...{ writer, processes, bytes, observed },
    ...(stacks && { stacks }),
    looksOn: options.strace !== undefined,
  });
  recorder.setVersion(run.policies);
  return recorder;
}

/** A folder that was removed under us has no name. */
function startFolder(cwd: string | undefined): { cwd?: string } {
  try {
    return { cwd: resolve(cwd ?? "") };
  } catch {
    return {};
  }
}
