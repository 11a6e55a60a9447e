import { syscallByName } from "../../abi/index.js";
import type { CallRecord, FunctionRecord, TraceRecord } from "../../record/trace/records.js";
import { stackLines } from "../../record/trace/stack.js";
import type { TracedProcess } from "../analyze/processes.js";
import { ActorExporter, portableJson } from "./exporter.js";

/**
 * The Trace Event Format, which Perfetto and chrome://tracing read: a slice per call on its thread, processes with their
 * names, arrows from forks to what was started. Times are microseconds since the start.
 */
export class ChromeExporter extends ActorExporter {
  #start: number | undefined;
  #first = true;
  #started = "";
  readonly #names = new Map<number, string>();

  protected write(record: TraceRecord, actor: TracedProcess | undefined): string {
    if (record.kind === "header") {
      this.#started = record.started;
      this.#start = Date.parse(record.started) / 1000;
      return "";
    }
    this.#start ??= record.time;
    const pid = actor?.pid ?? 0;
    const text = actor ? this.#name(actor) : "";
    const at = { ts: micros(record.time - this.#start), pid };
    switch (record.kind) {
      case "syscall":
        return text + this.#call(record, at);
      case "function":
        return text + this.#function(record, at);
      case "fork":
        return (
          text +
          this.#events(
            { ph: "s", id: record.child, name: "fork", cat: "process", tid: record.tid, ...at },
            {
              ph: "f",
              bp: "e",
              id: record.child,
              name: "fork",
              cat: "process",
              ...at,
              pid: record.pid ?? record.child,
              tid: record.child,
            },
          )
        );
      case "exec":
      case "exit": {
        const { kind, time: _, tid, ...args } = record;
        return text + this.#events({ ph: "i", s: "p", name: kind, cat: "process", ...at, tid, args });
      }
      default: {
        const { kind, time: _, ...args } = record;
        return text + this.#events({ ph: "i", s: "g", name: kind, cat: "hermes", ...at, tid: 0, args });
      }
    }
  }

  #call(record: CallRecord, at: { ts: number; pid: number }): string {
    const { name, tid, elapsed, args, path, target, result, errno, action, policy, rule, reason, stack } =
      record;
    const refused = action === "deny" || action === "kill";
    return this.#events({
      name,
      cat: [
        ...(syscallByName(name)?.classes ?? ["other"]),
        ...(policy === undefined ? [] : ["decided"]),
      ].join(","),
      ...(elapsed === undefined ? { ph: "i", s: "t" } : { ph: "X", dur: micros(elapsed) }),
      ...at,
      tid,
      ...(refused && { cname: "terrible" }),
      args: {
        ...args,
        path,
        target,
        result,
        errno,
        ...(policy !== undefined && { action, policy, rule, reason }),
        ...(stack && { stack: stackLines(stack) }),
      },
    });
  }

  #function(record: FunctionRecord, at: { ts: number; pid: number }): string {
    const { kind, time: _, pid: __, tid, name, elapsed, args, stack, ...rest } = record;
    return this.#events({
      name,
      cat: record.policy === undefined ? kind : `${kind},decided`,
      ...(elapsed === undefined ? { ph: "i", s: "t" } : { ph: "X", dur: micros(elapsed) }),
      ...at,
      tid,
      args: { ...args, ...rest, ...(stack && { stack: stackLines(stack) }) },
    });
  }

  /** A process is called after the program that it runs, and anew when that changes. */
  #name(actor: TracedProcess): string {
    const name = actor.argv.join(" ") || actor.exe;
    if (name === "" || this.#names.get(actor.pid) === name) return "";
    this.#names.set(actor.pid, name);
    const about = { ph: "M", pid: actor.pid, tid: actor.pid, ts: 0 };
    return this.#events({ ...about, name: "process_name", args: { name: name.slice(0, 200) } });
  }

  #events(...events: object[]): string {
    return events
      .map((event) => {
        const text = `${this.#first ? '{"traceEvents":[\n' : ",\n"}${portableJson(event)}`;
        this.#first = false;
        return text;
      })
      .join("");
  }

  override end(): string {
    const other = JSON.stringify({ tool: "hermes", started: this.#started, epoch: this.#start ?? 0 });
    return `${this.#first ? '{"traceEvents":[' : "\n"}],"displayTimeUnit":"ns","otherData":${other}}\n`;
  }
}

function micros(seconds: number): number {
  return Math.round(seconds * 1e6);
}
