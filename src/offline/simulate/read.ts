import { readFileSync } from "node:fs";
import { dirname, extname } from "node:path";
import { parse } from "yaml";
import { Prototypes } from "../../binary/prototypes/index.js";
import { HermesError } from "../../nouns/errors.js";
import type { CallEvent, ReturnEvent } from "../../nouns/event.js";
import { readTrace } from "../../record/trace/reader.js";
import { type PartialCallRecord, RecordedCall } from "./recorded-call.js";
import { RecordedFunction } from "./recorded-function.js";

/** An event to be decided, and its return where one was recorded. */
export type Occurrence =
  | { readonly event: CallEvent; readonly returned?: ReturnEvent }
  | { readonly call: RecordedFunction; readonly returned?: RecordedFunction };

interface ReadEventsOptions {
  /** Of functions, by which recorded calls are understood. */
  readonly prototypes?: Prototypes;
}

/** The events of a trace of any form or of a YAML file that lists them, one after the other. */
export async function readEvents(
  file: string,
  take: (occurrence: Occurrence) => void,
  { prototypes = new Prototypes() }: ReadEventsOptions = {},
): Promise<void> {
  if ([".yaml", ".yml"].includes(extname(file))) {
    for (const { event } of await readWritten(file)) take({ event });
    return;
  }
  const programs = new Map<number, string>();
  await readTrace(file, (record) => {
    if (record.kind === "exec") programs.set(record.pid, record.exe);
    if (record.kind === "function") {
      const of = (asReturn: boolean) =>
        new RecordedFunction(record, programs.get(record.pid) ?? "", prototypes, asReturn);
      take({ call: of(false), ...(record.elapsed !== undefined && { returned: of(true) }) });
      return;
    }
    // A call that this kernel has no name for is none that a policy could have decided on.
    if (record.kind !== "syscall" || /^syscall_\d+$/.test(record.name)) return;
    const event = recorded(record, file);
    take(record.result === undefined ? { event } : { event, returned: new RecordedCall(record, true) });
  });
}

function recorded(record: PartialCallRecord, where: string): RecordedCall {
  try {
    return new RecordedCall(record);
  } catch (cause) {
    throw new HermesError("EVENTS", { file: where, message: (cause as Error).message }, { cause });
  }
}

/** A hand-written event, and what its test expects. */
interface Written {
  readonly event: CallEvent;
  readonly text: string;
  readonly expect?: string;
  readonly rule?: string;
}

/** A list of events, each as in the examples of a YAML policy: `{ read: ~/.ssh/id }`, `{ call: openat, path: /x }`. */
export async function readWritten(file: string): Promise<Written[]> {
  const parsed = parseYaml(readText(file), file);
  if (!Array.isArray(parsed))
    throw new HermesError("EVENTS", { file, message: "it must be a list of events" });
  return Promise.all(parsed.map((entry, i) => written(entry, `${file}, event ${i + 1}`, dirname(file))));
}

export async function parseWritten(text: string): Promise<Written> {
  return written(parseYaml(text, "--event"), `--event ${text}`, process.cwd());
}

async function written(entry: unknown, where: string, folder: string): Promise<Written> {
  const [{ exampleEvent }, { Variables }, { hostContext }] = await Promise.all([
    import("../../policy/yaml/example.js"),
    import("../../policy/yaml/variables.js"),
    import("../../policy/yaml/load-context.js"),
  ]);
  const { expect, rule, ...spec } = (entry ?? {}) as Record<string, unknown>;
  try {
    return {
      event: exampleEvent(spec, new Variables(hostContext(), folder, {})),
      text: Object.entries(spec)
        .map(([key, value]) => `${key} ${[value].flat().join(" ")}`)
        .join(", "),
      ...(expect !== undefined && { expect: String(expect) }),
      ...(rule !== undefined && { rule: String(rule) }),
    };
  } catch (cause) {
    throw new HermesError("EVENTS", { file: where, message: (cause as Error).message }, { cause });
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

function unreadable(file: string, cause: unknown): HermesError {
  const message = `cannot be read: ${(cause as NodeJS.ErrnoException).code ?? cause}`;
  return new HermesError("EVENTS", { file, message }, { cause });
}

function parseYaml(text: string, where: string): unknown {
  try {
    return parse(text);
  } catch (cause) {
    throw new HermesError("EVENTS", { file: where, message: (cause as Error).message }, { cause });
  }
}
