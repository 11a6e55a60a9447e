/** Tells one state of a file from another: modification time in ms and size, or a digest. */
export type Stamp = string;

export interface Warning {
  readonly rule: "changed-since-read" | "concurrent-writer" | "written-unread" | "re-read" | "re-read-loop";
  readonly reason: string;
  /** The operation is refused; otherwise it is only a warning. */
  readonly stop: boolean;
}

export interface Limits {
  /** Reads of the same part of an unchanged file in a row: from here on the agent is warned. */
  readonly warnAfter: number;
  /** From here on the read is refused. */
  readonly stopAfter: number;
}

export const RE_READ: Limits = { warnAfter: 3, stopAfter: 4 };

interface Known {
  readonly stamp: Stamp;
  /** The number of the last write when this task saw the file. */
  readonly order: number;
}

interface Task {
  readonly seen: Map<string, Known>;
  /** The last read, and how often it was repeated with nothing else in between. */
  last: string | undefined;
  repeated: number;
}

/** More files than a task works on: the oldest are forgotten. */
const MOST_FILES = 10_000;

/**
 * Records what each task read and wrote. A session owns it; paths are real paths. JavaScript runs one call at a time,
 * so a call is atomic. Writes of other processes show in the files' stamps.
 */
export class FileTracker {
  readonly #tasks = new Map<string, Task>();
  readonly #writers = new Map<string, { readonly task: string; readonly order: number }>();
  readonly #limits: Limits;
  #order = 0;

  constructor(limits: Limits = RE_READ) {
    this.#limits = limits;
  }

  /** Before a read. `part` names the window, so that paging through a file is not a loop. */
  read(task: string, path: string, stamp: Stamp, part = ""): Warning | undefined {
    const state = this.#task(task);
    const key = `${path}\0${part}\0${stamp}`;
    state.repeated = state.last === key ? state.repeated + 1 : 1;
    state.last = key;
    remember(state.seen, path, { stamp, order: this.#order });
    const { warnAfter, stopAfter } = this.#limits;
    const times = `${path} was read ${state.repeated} times in a row and has not changed.`;
    if (state.repeated >= stopAfter)
      return { rule: "re-read-loop", reason: `${times} Use what you already read.`, stop: true };
    if (state.repeated >= warnAfter) return { rule: "re-read", reason: times, stop: false };
    return undefined;
  }

  /** Warnings before a write. `stamp` is the file's state now, undefined when the file does not exist. */
  beforeWrite(task: string, path: string, stamp: Stamp | undefined): readonly Warning[] {
    const state = this.#task(task);
    const seen = state.seen.get(path);
    const writer = this.#writers.get(path);
    const warnings: Warning[] = [];
    const warn = (rule: Warning["rule"], reason: string) => warnings.push({ rule, reason, stop: false });
    if (writer && writer.task !== task && (seen === undefined || writer.order > seen.order))
      warn(
        "concurrent-writer",
        `Task ${writer.task} changed ${path} after this task last read it. Read it again first.`,
      );
    else if (seen && stamp !== undefined && stamp !== seen.stamp)
      warn("changed-since-read", `${path} changed after this task read it. Read it again first.`);
    else if (seen && stamp === undefined)
      warn("changed-since-read", `${path} was deleted after this task read it.`);
    else if (!seen && stamp !== undefined)
      warn("written-unread", `${path} exists, and this task has not read it.`);
    return warnings;
  }

  /** After a write: this task knows the new content. */
  wrote(task: string, path: string, stamp: Stamp): void {
    const state = this.#task(task);
    this.#order++;
    remember(state.seen, path, { stamp, order: this.#order });
    remember(this.#writers, path, { task, order: this.#order });
    state.last = undefined;
    state.repeated = 0;
  }

  /** Every other action of a task ends a row of equal reads. */
  acted(task: string): void {
    const state = this.#tasks.get(task);
    if (state) state.last = undefined;
  }

  forget(task: string): void {
    this.#tasks.delete(task);
  }

  #task(name: string): Task {
    const known = this.#tasks.get(name);
    if (known) return known;
    const made: Task = { seen: new Map(), last: undefined, repeated: 0 };
    this.#tasks.set(name, made);
    return made;
  }
}

function remember<T>(map: Map<string, T>, path: string, value: T): void {
  map.delete(path);
  map.set(path, value);
  if (map.size > MOST_FILES) map.delete(map.keys().next().value!);
}
