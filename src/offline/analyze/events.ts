import { syscallByName } from "../../abi/index.js";
import type { CallRecord } from "../../record/trace/records.js";
import { readsPipe, waits } from "./calls.js";
import { subject } from "./decisions.js";
import type { TracedProcess } from "./processes.js";

/** What kind of thing a call is about: the colours of a report. The first that fits. */
const CATEGORIES: readonly (readonly [string, readonly string[]])[] = [
  ["network", ["network"]],
  ["process", ["process", "signal", "ptrace", "namespace", "credential"]],
  ["read", ["open", "stat", "read"]],
  ["write", ["write", "create", "delete", "rename", "link", "metadata", "mount"]],
  ["memory", ["memory"]],
  ["waiting", ["poll", "time"]],
  ["read", ["file", "desc"]],
];

export interface EventTable {
  /** How many calls the trace has; some are left out when there are too many. */
  readonly total: number;
  readonly count: number;
  readonly calls: readonly (readonly [name: string, category: string])[];
  readonly subjects: readonly string[];
  readonly errnos: readonly string[];
  readonly actions: readonly string[];
  /** Numbers, event by event, one list after the other: see COLUMNS. */
  readonly bytes: Uint8Array;
}

/** The lists in `bytes`, in this order, each aligned to its element's size. */
const EVENT_TABLE_COLUMNS = [
  ["time", Float64Array],
  ["result", Float64Array],
  ["elapsed", Float32Array],
  ["process", Uint32Array],
  ["subject", Uint32Array],
  ["call", Uint16Array],
  ["errno", Uint8Array],
  ["action", Uint8Array],
] as const;

const MAX_SUBJECT = 240;

/** The events of a trace for people to look through: at most so many, all that matter among them. */
export class Events {
  readonly #limit: number;
  readonly #calls = new Index();
  readonly #categories = new Map<string, string>();
  readonly #subjects = new Index([""]);
  readonly #errnos = new Index([""]);
  readonly #actions = new Index(["allow"]);
  #columns: number[][] = EVENT_TABLE_COLUMNS.map(() => []);
  #matters: boolean[] = [];
  #total = 0;
  #ordinary = 0;
  /** Of those that do not matter much, every so-many-th is kept. */
  #step = 1;

  constructor(limit = 500_000) {
    this.#limit = limit;
  }

  take(record: CallRecord, process: TracedProcess): void {
    this.#total++;
    const matters = record.action !== "allow" || record.rule !== undefined || MATTERS.has(record.name);
    if (!matters && this.#ordinary++ % this.#step !== 0) return;
    if (this.#matters.length >= this.#limit) this.#thinOut();
    this.#matters.push(matters);
    const [time, result, elapsed, by, about, call, errno, action] = this.#columns as [
      number[],
      number[],
      number[],
      number[],
      number[],
      number[],
      number[],
      number[],
    ];
    time.push(record.time);
    result.push(record.result ?? Number.NaN);
    elapsed.push(record.elapsed ?? 0);
    by.push(process.id);
    about.push(this.#subjects.of(subject(record).slice(0, MAX_SUBJECT)));
    call.push(
      this.#calls.of(`${record.name} ${readsPipe(record) ? "waiting" : this.#categoryOf(record.name)}`),
    );
    errno.push(this.#errnos.of(record.errno ?? ""));
    action.push(this.#actions.of(record.action));
  }

  #categoryOf(name: string): string {
    const known = this.#categories.get(name) ?? categoryOf(name);
    this.#categories.set(name, known);
    return known;
  }

  table(): EventTable {
    const count = this.#matters.length;
    const arrays = EVENT_TABLE_COLUMNS.map(([, Type], i) => Type.from(this.#columns[i]!));
    return {
      total: this.#total,
      count,
      calls: this.#calls.all.map((entry) => entry.split(" ") as [string, string]),
      subjects: this.#subjects.all,
      errnos: this.#errnos.all,
      actions: this.#actions.all,
      bytes: Buffer.concat(arrays.map(({ buffer, byteLength }) => Buffer.from(buffer, 0, byteLength))),
    };
  }

  /** Half of what does not matter goes; when nothing is left of that, half of all. */
  #thinOut(): void {
    const all = this.#matters.every(Boolean);
    let odd = false;
    const kept = this.#matters.map((matters) => {
      if (matters && !all) return true;
      odd = !odd;
      return odd;
    });
    this.#columns = this.#columns.map((column) => column.filter((_, i) => kept[i]));
    this.#matters = this.#matters.filter((_, i) => kept[i]);
    this.#step *= 2;
  }
}

const MATTERS = new Set([
  "execve",
  "execveat",
  "connect",
  "bind",
  "listen",
  "accept",
  "accept4",
  "unlink",
  "unlinkat",
  "rename",
  "renameat2",
]);

function categoryOf(name: string): string {
  if (waits(name)) return "waiting";
  const classes: readonly string[] = syscallByName(name)?.classes ?? [];
  if (classes.includes("exec") && !classes.includes("memory")) return "process";
  return CATEGORIES.find(([, members]) => members.some((member) => classes.includes(member)))?.[0] ?? "other";
}

/** Texts by number, in the order in which they were met. */
class Index {
  readonly all: string[];
  readonly #numbers: Map<string, number>;

  constructor(first: readonly string[] = []) {
    this.all = [...first];
    this.#numbers = new Map(first.map((text, i) => [text, i]));
  }

  of(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.all.length;
    this.all.push(text);
    this.#numbers.set(text, number);
    return number;
  }
}
