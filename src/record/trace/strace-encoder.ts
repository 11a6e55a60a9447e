import type { RecordedStack } from "../../nouns/inside.js";
import { counted, escapeControl } from "../../nouns/text.js";
import type { Encoder } from "./encoders.js";
import { argumentsText, functionResult } from "./function-text.js";
import type { CallRecord, FunctionRecord, TraceRecord } from "./records.js";
import { stackLines } from "./stack.js";
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

function statusOf({ result, errno }: CallRecord): Status {
  if (errno !== undefined) return "failed";
  return result === undefined ? "unfinished" : "successful";
}

/** A function was called. Its record follows when it returns; only viewers get this. */
export interface EnterRecord {
  readonly kind: "enter";
  readonly record: Omit<FunctionRecord, "kind">;
  /** How many of its arguments are known already; the others are what it puts out. */
  readonly known: number;
}

/** A line that was begun: the call's end, or something else that happens before, will end it. */
interface Begun {
  readonly tid: number;
  readonly name: string;
  readonly known: number;
  /** How long it is so far. */
  readonly width: number;
}

/** Records as the text of strace. */
export class StraceEncoder implements Encoder {
  readonly #options: StraceOptions;
  #text = "";
  readonly #alive = new Set<number>();
  #before: number | undefined;
  readonly #counts = new Map<string, { calls: number; errors: number; seconds: number }>();
  /** The line that is not ended yet, and by thread the calls whose lines were cut off. */
  #begun: Begun | undefined;
  readonly #cut = new Map<number, Begun[]>();

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
    const record = object as TraceRecord | EnterRecord;
    switch (record.kind) {
      case "enter":
        this.#alive.add(record.record.tid);
        this.#enter(record);
        break;
      case "function":
        this.#alive.add(record.tid);
        this.#function(record);
        break;
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
        this.#cut.delete(record.tid);
        break;
      case "dropped":
        this.#line({ time: record.time, tid: 0 }, `+++ ${counted(record.count, "call")} not recorded +++`);
        break;
    }
  }

  #call(record: CallRecord): void {
    const { status, summary, elapsed } = this.#options;
    if (status && record.policy === undefined && !status.includes(statusOf(record))) return;
    if (summary !== undefined) this.#count(record.name, record.elapsed, record.errno !== undefined);
    const result = resultText(record, this.#options);
    const took = elapsed && record.elapsed !== undefined ? ` <${record.elapsed.toFixed(6)}>` : "";
    this.#line(record, callText(record, this.#options), `= ${this.#outcome(record, result)}${took}`);
    this.#stack(record.stack);
  }

  #stack(stack: RecordedStack | undefined): void {
    if (!stack || this.#options.summary === "only") return;
    for (const line of stackLines(stack)) this.#text += `${this.#paint("dim", line)}\n`;
  }

  #line(record: { time: number; tid: number }, text: string, result?: string): void {
    if (this.#options.summary === "only") return;
    this.#cutOff();
    const head = `${this.#who(record.tid)}${this.#when(record.time)}${text}`;
    this.#text += result === undefined ? `${head}\n` : `${head.padEnd(COLUMN - 1)} ${result}\n`;
  }

  // ---------------------------------------------------------------- functions inside the program

  #enter({ record, known }: EnterRecord): void {
    if (this.#options.summary === "only") return;
    this.#cutOff();
    const { tid, name, depth = 0, time } = record;
    const shown = Object.fromEntries(Object.entries(record.args).slice(0, known));
    const text = argumentsText({ ...record, args: shown }, this.#options.strings);
    const head = `${this.#who(tid)}${this.#when(time)}${indent(depth)}${escapeControl(name)}(${text}`;
    this.#text += head;
    this.#begun = { tid, name, known, width: head.length };
  }

  /** Something else happened before the call has returned. */
  #cutOff(): void {
    const begun = this.#begun;
    if (!begun) return;
    this.#text += " <unfinished ...>\n";
    this.#begun = undefined;
    const cut = this.#cut.get(begun.tid);
    if (cut) cut.push(begun);
    else this.#cut.set(begun.tid, [begun]);
  }

  #function(record: FunctionRecord): void {
    const { status, summary, elapsed, strings } = this.#options;
    const failed = record.errno !== undefined || record.failed === true;
    if (summary !== undefined) this.#count(record.name, record.elapsed, failed);
    const begun = this.#takeBegun(record);
    if (summary === "only") return;
    const own = record.elapsed === undefined ? "unfinished" : failed ? "failed" : "successful";
    if (!begun && status && record.policy === undefined && !status.includes(own)) return;
    const head = begun?.head ?? this.#beginning(record);
    const rest = argumentsText(record, strings, begun?.known ?? 0);
    const comma = begun && begun.known > 0 && rest !== "" && !begun.isCut ? ", " : "";
    const took = elapsed && record.elapsed !== undefined ? ` <${record.elapsed.toFixed(6)}>` : "";
    const text = `${head}${comma}${rest})`;
    const result = this.#outcome(record, functionResult(record, strings));
    this.#text += `${text}${" ".repeat(Math.max(1, COLUMN - text.length - (begun?.width ?? 0)))}= ${result}${took}\n`;
    this.#stack(record.stack);
  }

  #beginning({ tid, time, depth = 0, name }: FunctionRecord): string {
    this.#cutOff();
    return `${this.#who(tid)}${this.#when(time)}${indent(depth)}${escapeControl(name)}(`;
  }

  /** The part of its line that is already printed. */
  #takeBegun(
    record: FunctionRecord,
  ): (Begun & { readonly head: string; readonly isCut: boolean }) | undefined {
    const { tid, name, time, depth = 0, elapsed = 0 } = record;
    if (this.#begun?.tid === tid && this.#begun.name === name) {
      const begun = { ...this.#begun, head: "", isCut: false };
      this.#begun = undefined;
      return begun;
    }
    const cut = this.#cut.get(tid);
    if (cut?.at(-1)?.name !== name) return undefined;
    this.#cutOff();
    const head = `${this.#who(tid)}${this.#when(time + elapsed)}${indent(depth)}<... ${escapeControl(name)} resumed>`;
    return { ...cut.pop()!, width: 0, head, isCut: true };
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

  #outcome(record: CallRecord | FunctionRecord, text: string): string {
    if (record.policy !== undefined)
      return this.#paint(record.action === "deny" || record.action === "kill" ? "red" : "yellow", text);
    return record.errno === undefined ? text : this.#paint("yellow", text);
  }

  #paint(style: keyof typeof STYLES, text: string): string {
    return this.#options.colour ? `\u001b[${STYLES[style]}m${text}\u001b[0m` : text;
  }

  #count(name: string, elapsed = 0, failed: boolean): void {
    const count = this.#counts.get(name) ?? { calls: 0, errors: 0, seconds: 0 };
    this.#counts.set(name, count);
    count.calls++;
    count.seconds += elapsed;
    if (failed) count.errors++;
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
      `% time     seconds  usecs/call     calls    errors ${rows.some(([name]) => name.includes("!")) ? "function" : "syscall"}`,
      rule,
      ...rows.map(([name, count]) => row(name, count)),
      rule,
      row("total", all),
      "",
    ].join("\n");
  }
}

/** Calls within calls are moved to the right, up to a point. */
function indent(depth: number): string {
  return "  ".repeat(Math.min(depth, 20));
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
