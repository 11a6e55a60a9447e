import type { Encoder } from "./encoders.js";
import type { CallRecord, TraceRecord } from "./records.js";
import { type CallText, callText, resultText } from "./strace.js";

/** How `hermes trace` and `hermes export --to strace` write. Plain data: it crosses to the worker thread. */
export interface StraceOptions extends CallText {
  /** `-t`, `-tt`, `-ttt`, `-r`. */
  readonly time?: "seconds" | "micros" | "epoch" | "relative";
  /** `-T`: how long each call took. */
  readonly elapsed: boolean;
  /** `file`: always, in a column. `terminal`: in brackets, while there are several. */
  readonly pids: "file" | "terminal";
  /** `-e status=`: which outcomes are shown; all when absent. */
  readonly status?: readonly Status[];
  /** `-c`: only the table; `-C`: the table too. */
  readonly summary?: "only" | "too";
  readonly colour: boolean;
}

export const STATUSES = ["successful", "failed", "unfinished"] as const;
export type Status = (typeof STATUSES)[number];

/** strace aligns results here. */
const COLUMN = 40;

export function statusOf({ result, errno }: CallRecord): Status {
  if (errno !== undefined) return "failed";
  return result === undefined ? "unfinished" : "successful";
}

/** Records as the text of strace. */
export class StraceEncoder implements Encoder {
  readonly #options: StraceOptions;
  #text = "";
  readonly #alive = new Set<number>();
  #before: number | undefined;
  readonly #counts = new Map<string, { calls: number; errors: number; seconds: number }>();

  constructor(options: StraceOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#text.length;
  }

  take(): Buffer {
    const bytes = Buffer.from(this.#text);
    this.#text = "";
    return bytes;
  }

  finish(): Buffer {
    if (this.#options.summary !== undefined) this.#text += this.#summary();
    return this.take();
  }

  add(object: object): void {
    const record = object as TraceRecord;
    switch (record.kind) {
      case "syscall":
        this.#alive.add(record.tid);
        this.#call(record);
        break;
      case "fork":
        this.#alive.add(record.tid).add(record.child);
        break;
      case "exit":
        this.#line(record, this.#paint("dim", exitText(record)));
        this.#alive.delete(record.tid);
        break;
      case "dropped":
        this.#line({ time: record.time, tid: 0 }, `+++ ${record.count} calls were not recorded +++`);
        break;
    }
  }

  #call(record: CallRecord): void {
    const { status, summary, elapsed } = this.#options;
    if (status && record.policy === undefined && !status.includes(statusOf(record))) return;
    if (summary !== undefined) this.#count(record);
    const result = resultText(record, this.#options);
    const took = elapsed && record.elapsed !== undefined ? ` <${record.elapsed.toFixed(6)}>` : "";
    this.#line(record, callText(record, this.#options), `= ${this.#outcome(record, result)}${took}`);
  }

  #line(record: { time: number; tid: number }, text: string, result?: string): void {
    if (this.#options.summary === "only") return;
    const head = `${this.#who(record.tid)}${this.#when(record.time)}${text}`;
    this.#text += result === undefined ? `${head}\n` : `${head.padEnd(COLUMN - 1)} ${result}\n`;
  }

  #who(tid: number): string {
    if (this.#options.pids === "file") return `${String(tid).padEnd(5)} `;
    return this.#alive.size > 1 ? this.#paint("dim", `[pid ${String(tid).padStart(5)}] `) : "";
  }

  #when(time: number): string {
    const before = this.#before ?? time;
    this.#before = time;
    switch (this.#options.time) {
      case "seconds":
        return `${clock(time)} `;
      case "micros":
        return `${clock(time)}.${fraction(time)} `;
      case "epoch":
        return `${time.toFixed(6)} `;
      case "relative":
        return `${Math.max(0, time - before)
          .toFixed(6)
          .padStart(13)} `;
      default:
        return "";
    }
  }

  #outcome(record: CallRecord, text: string): string {
    if (record.policy !== undefined)
      return this.#paint(record.action === "deny" || record.action === "kill" ? "red" : "yellow", text);
    return record.errno === undefined ? text : this.#paint("yellow", text);
  }

  #paint(style: keyof typeof STYLES, text: string): string {
    return this.#options.colour ? `\u001b[${STYLES[style]}m${text}\u001b[0m` : text;
  }

  #count({ name, errno, elapsed = 0 }: CallRecord): void {
    const count = this.#counts.get(name) ?? { calls: 0, errors: 0, seconds: 0 };
    this.#counts.set(name, count);
    count.calls++;
    count.seconds += elapsed;
    if (errno !== undefined) count.errors++;
  }

  #summary(): string {
    const rows = [...this.#counts].sort(([, a], [, b]) => b.seconds - a.seconds);
    const all = { calls: 0, errors: 0, seconds: 0 };
    for (const [, { calls, errors, seconds }] of rows) {
      all.calls += calls;
      all.errors += errors;
      all.seconds += seconds;
    }
    const rule = "------ ----------- ----------- --------- --------- ----------------";
    const row = (name: string, { calls, errors, seconds }: typeof all) =>
      [
        (all.seconds > 0 ? (100 * seconds) / all.seconds : 0).toFixed(2).padStart(6),
        seconds.toFixed(6).padStart(11),
        String(Math.round((seconds * 1e6) / Math.max(1, calls))).padStart(11),
        String(calls).padStart(9),
        (errors > 0 ? String(errors) : "").padStart(9),
        name,
      ].join(" ");
    return [
      "% time     seconds  usecs/call     calls    errors syscall",
      rule,
      ...rows.map(([name, count]) => row(name, count)),
      rule,
      row("total", all),
      "",
    ].join("\n");
  }
}

const STYLES = { dim: "2", red: "31", yellow: "33" } as const;

function exitText({ code, signal }: { code?: number; signal?: string }): string {
  return signal === undefined ? `+++ exited with ${code} +++` : `+++ killed by ${signal} +++`;
}

const two = (n: number) => String(n).padStart(2, "0");

function clock(time: number): string {
  const date = new Date(time * 1000);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
}

function fraction(time: number): string {
  return String(Math.floor((time % 1) * 1e6 + 0.5) % 1e6).padStart(6, "0");
}
